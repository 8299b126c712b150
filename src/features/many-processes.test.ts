import { setTimeout as sleep } from "node:timers/promises";
import { request as undiciRequest } from "undici";
import { describe, expect, test } from "vitest";
import type { components } from "../../generated/features.ts";
import { eventually } from "../../testing/eventually.ts";
import { freePort } from "../../testing/free-port.ts";
import { run } from "../../testing/run.ts";
import { pagesAt } from "./features.fixture.ts";
import { describeOnSharedStores, newLmdb } from "./store/new-store.fixture.ts";

/** Starts the feature storage in a process, as an operator does. */
async function startProcess(url: string) {
  const port = await freePort();
  const env = { FEATURES_STORE_URL: url, FEATURES_PORT: String(port), LOG_LEVEL: "info" };
  const started = run("src/main.ts", { args: ["features"], env });
  await started.waitForOutput("Server listening");
  const service = `http://127.0.0.1:${port}`;
  const base = `${service}/features/customer`;
  return {
    ...started,
    async request(path: string, options?: Parameters<typeof undiciRequest>[1]) {
      const { statusCode: status, body } = await undiciRequest(service + path, options);
      return { status, text: await body.text() };
    },
    async add(path: string): Promise<number> {
      const { statusCode, body } = await undiciRequest(`${base}/${path}`, { method: "POST" });
      await body.dump();
      return statusCode;
    },
    async list(id: string) {
      return (await (await undiciRequest(`${base}/${id}`)).body.json()) as string[];
    },
  };
}

describeOnSharedStores("several processes of the feature storage", (make) => {
  test("lose no answered change when one is killed, and all answer the same", async () => {
    await using made = await make();
    const [one, other] = await Promise.all([startProcess(made.url), startProcess(made.url)]);
    const answered: string[] = [];
    let count = 0;
    /** Adds features until its process ends. */
    async function addAll(service: typeof one, until: () => boolean) {
      while (!until()) {
        const feature = String(count++);
        const status = await service.add(`1/${feature}`).catch(() => undefined);
        if (status === undefined) return;
        expect(status).toBe(201);
        answered.push(feature);
      }
    }
    let stopped = false;
    const adding = [
      ...Array.from({ length: 8 }, () => addAll(one, () => stopped)),
      ...Array.from({ length: 8 }, () => addAll(other, () => stopped)),
    ];
    await expect.poll(() => answered.length).toBeGreaterThan(100);
    one.child.kill("SIGKILL");
    const before = answered.length;
    await expect.poll(() => answered.length).toBeGreaterThan(before + 100);
    stopped = true;
    await Promise.all(adding);

    const list = await other.list("1");
    expect(new Set(list).size).toBe(list.length);
    expect(list).toEqual(expect.arrayContaining(answered));
    // Only the requests in flight at the kill can have succeeded without a response.
    expect(list.length).toBeLessThanOrEqual(answered.length + 8);
    const again = await startProcess(made.url);
    expect(await again.list("1")).toEqual(list);
    for (const { child } of [again, other]) child.kill("SIGTERM");
    expect((await again.exit).code).toBe(0);
    expect((await other.exit).code).toBe(0);
  });

  test("a change that one has answered is visible to the other at once, and is new in one answer", async () => {
    await using made = await make();
    const [one, other] = await Promise.all([startProcess(made.url), startProcess(made.url)]);
    // The other is busy reading.
    let stopped = false;
    const reading = Array.from({ length: 4 }, async () => {
      while (!stopped) await other.list("3");
    });
    const missed: string[] = [];
    for (let count = 0; count < 300; count++) {
      const feature = String(count);
      await one.add(`3/${feature}`);
      if (!(await other.list("3")).includes(feature)) missed.push(feature);
    }
    stopped = true;
    await Promise.all(reading);
    expect(missed).toEqual([]);
    for (let round = 0; round < 20; round++) {
      const adding = [one, other, one, other].map((service) => service.add(`2/${round}`));
      expect((await Promise.all(adding)).sort()).toEqual([200, 200, 200, 201]);
    }
    const list = await one.list("2");
    expect(list).toHaveLength(20);
    expect(await other.list("2")).toEqual(list);
    for (const { child } of [one, other]) child.kill("SIGTERM");
  });
});

type Service = Awaited<ReturnType<typeof startProcess>>;

/** Adds three features to a resource in one request. Resolves with the status. */
async function addThree({ request }: Service, id: string, number: number): Promise<number> {
  const changes = ["a", "b", "c"].map((letter) => ({
    type: "add",
    resource: "customer",
    id,
    feature: `${letter}${number}`,
  }));
  const headers = { "content-type": "application/json" };
  return (await request("/changes", { method: "POST", headers, body: JSON.stringify({ changes }) })).status;
}

/** The types of all changes of a resource. */
async function typesOfChanges({ request }: Service, id: string): Promise<string[]> {
  const pages = await pagesAt(
    async (path) => JSON.parse((await request(path)).text) as components["schemas"]["ResourceChangePage"],
    `/resources/customer/${id}/changes?limit=1000`,
  );
  return pages.flatMap(({ changes }) => changes.map(({ type }) => type));
}

/** Suspends `one` in the middle of one of its writes. Resolves with the error that `other` then answers. */
async function suspendInWrite(one: Service, other: Service): Promise<string> {
  return await eventually(async () => {
    one.child.kill("SIGSTOP");
    const { status, text } = await other.request("/features/customer/probe/a", { method: "POST" });
    if (status === 500) return text;
    one.child.kill("SIGCONT");
    await sleep(Math.random() * 20);
    throw new Error("it was not writing");
  });
}

describe("beside a process that hangs in a write to an LMDB store", () => {
  test.each(["SIGCONT", "SIGKILL"] as const)(
    "writes time out, reads continue, and writes continue after %s; answered changes are kept",
    async (signal) => {
      await using made = await newLmdb();
      const [one, other, stopped] = await Promise.all(
        [1, 2, 3].map(() => startProcess(made.url) as Promise<Service>),
      );
      if (!one || !other || !stopped) throw new Error("not started");
      // Repeated if the request arrives later than the instant.
      await eventually(async () => {
        const soon = new Date(Date.now() + 1000).toISOString();
        const path = `/features/customer/expiring/a?expires_at=${soon}`;
        expect((await other.request(path, { method: "POST" })).status).toBe(201);
      });
      const answered: number[] = [];
      let count = 0;
      /** No resource gets more features than it may have, however long the process writes. */
      const idOf = (number: number) => `many-${Math.floor(number / 300)}`;
      const listAll = async (service: Service) => {
        const ids = new Set(Array.from({ length: count }, (_, number) => idOf(number)));
        return (await Promise.all([...ids].map((id) => service.list(id)))).flat();
      };
      let isOver = false;
      const adding = Array.from({ length: 8 }, async () => {
        while (!isOver) {
          const number = count++;
          const status = await addThree(one, idOf(number), number).catch(() => undefined);
          if (status === 200) answered.push(number);
          if (status === undefined) return;
        }
      });
      expect(await suspendInWrite(one, other)).toBe(
        "the store did not respond within 2000 ms; another process may hang in a write\n",
      );

      for (let number = 0; number < 20; number++) expect(await addThree(other, "2", number)).toBe(500);
      expect((await listAll(other)).length).toBeGreaterThanOrEqual(3 * answered.length);
      await eventually(async () => expect(await other.list("expiring")).toEqual([]));
      for (const path of ["/changes", "/features/customer?feature=a1"]) {
        expect([path, (await other.request(path)).status]).toEqual([path, 200]);
      }
      expect(await stopped.request("/features/customer/probe/a", { method: "POST" })).toMatchObject({
        status: 500,
      });
      stopped.child.kill("SIGTERM");
      const env = { FEATURES_STORE_URL: made.url, FEATURES_PORT: "0" };
      const lateStart = run("src/main.ts", { args: ["features"], env });
      expect((await lateStart.exit).errors).toMatch(
        /^the store failed: \S.* was not opened within 10000 ms; another process hangs in a write to it .*\n$/,
      );
      await stopped.exit;

      isOver = true;
      one.child.kill(signal);
      await eventually(async () => expect(await addThree(other, "3", 0)).toBe(200));
      await Promise.all(adding);
      const [added, timedOut, later] = [await listAll(other), await other.list("2"), await other.list("3")];
      for (const list of [added, later]) {
        const numbers = list.map((feature) => feature.slice(1));
        expect(list).toEqual(
          [...new Set(numbers)].flatMap((number) => [`a${number}`, `b${number}`, `c${number}`]),
        );
      }
      expect(added).toEqual(expect.arrayContaining(answered.map((number) => `c${number}`)));
      // A change that timed out before it began is not made later.
      expect(timedOut).toEqual([]);
      // Its instant may have come before the process was suspended.
      expect(await typesOfChanges(other, "expiring")).toEqual(["added", "expired"]);
      const again = await startProcess(made.url);
      expect(await listAll(again)).toEqual(added);
      for (const { child } of [again, other, one]) child.kill("SIGTERM");
      expect((await again.exit).code).toBe(0);
      expect((await other.exit).code).toBe(0);
    },
  );
});
