import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { request as undiciRequest } from "undici";
import { describe, expect, test } from "vitest";
import type { components } from "../../../generated/features.ts";
import { eventually } from "../../../testing/eventually.ts";
import { run } from "../../../testing/run.ts";
import { startService } from "../../../testing/services.ts";
import { newLmdb } from "../store/new-store.fixture.ts";
import { pagesAt } from "./features.fixture.ts";

/** Starts the feature storage in a process, as an operator does. */
async function startProcess(url: string) {
  const server = await startService("features", { env: { FEATURES_STORE_URL: url } });
  return {
    ...server,
    async request(path: string, options?: Parameters<typeof undiciRequest>[1]) {
      const { statusCode: status, body } = await undiciRequest(server.url + path, options);
      return { status, text: await body.text() };
    },
    async list(id: string): Promise<string[]> {
      return JSON.parse((await this.request(`/features/customer/${id}`)).text);
    },
  };
}
type Service = Awaited<ReturnType<typeof startProcess>>;

/** Adds three features to a resource in one request. Resolves with the status. */
async function addThree(service: Service, id: string, number: number): Promise<number> {
  const changes = ["a", "b", "c"].map((letter) => ({
    type: "add",
    resource: "customer",
    id,
    feature: `${letter}${number}`,
  }));
  const headers = { "content-type": "application/json" };
  return (await service.request("/changes", { method: "POST", headers, body: JSON.stringify({ changes }) }))
    .status;
}

/** The types of all changes of a resource. */
async function typesOfChanges(service: Service, id: string): Promise<string[]> {
  const pages = await pagesAt(
    async (path) =>
      JSON.parse((await service.request(path)).text) as components["schemas"]["ResourceChangePage"],
    `/resources/customer/${id}/changes?limit=1000`,
  );
  return pages.flatMap(({ changes }) => changes.map(({ type }) => type));
}

/** Suspends `one` in the middle of one of its writes. Resolves with the error that `other` then answers. */
async function suspendInWrite(one: Service, other: Service): Promise<string> {
  return await eventually(async () => {
    one.pause();
    const { status, text } = await other.request("/features/customer/probe/a", { method: "POST" });
    if (status === 500) return text;
    one.resume();
    await sleep(Math.random() * 20);
    throw new Error("it was not writing");
  });
}

test("two processes on one LMDB store show at once what the other one has changed, in place of what they showed", async () => {
  await using made = await newLmdb();
  await using one = await startProcess(made.url);
  await using other = await startProcess(made.url);
  const path = "/features/customer/1/a";
  const shown = async (service: Service) => ({
    has: JSON.parse((await service.request(path)).text).result,
    list: await service.list("1"),
    ids: JSON.parse((await service.request("/features/customer?feature=a&count=true")).text),
  });
  const present = { has: true, list: ["a"], ids: { ids: ["1"], count: 1 } };
  const absent = { has: false, list: [], ids: { ids: [], count: 0 } };
  for (let round = 0; round < 20; round += 1) {
    const [changing, reading] = round % 2 === 0 ? [one, other] : [other, one];
    expect((await changing.request(path, { method: "POST" })).status).toBe(201);
    expect(await shown(reading)).toEqual(present);
    expect((await reading.request(path, { method: "DELETE" })).status).toBe(204);
    expect(await shown(changing)).toEqual(absent);
  }
});

describe("beside a process that hangs in a write to an LMDB store", () => {
  test.each(["a resumption", "a kill"])(
    "writes time out, reads continue, and writes continue after %s; answered changes are kept",
    async (end) => {
      await using made = await newLmdb();
      await using one = await startProcess(made.url);
      await using other = await startProcess(made.url);
      await using stopped = await startProcess(made.url);
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
      const ended = once(stopped.child(), "exit");
      stopped.child().kill("SIGTERM");
      const env = { FEATURES_STORE_URL: made.url, FEATURES_PORT: "0" };
      const lateStart = run("src/main.ts", { args: ["features"], env });
      expect((await lateStart.exit).errors).toMatch(
        /^the store failed: \S.* was not opened within 10000 ms; another process hangs in a write to it .*\n$/,
      );
      await ended;

      isOver = true;
      if (end === "a kill") await one.kill();
      else one.resume();
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
      await other.restart();
      expect(await listAll(other)).toEqual(added);
    },
  );
});
