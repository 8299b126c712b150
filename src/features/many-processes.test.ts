import { request } from "undici";
import { expect, test } from "vitest";
import { freePort } from "../service/free-port.fixture.ts";
import { run } from "../service/run.fixture.ts";
import { describeOnSharedStores } from "./store/new-store.fixture.ts";

/** The feature storage as an operator runs it. */
async function startProcess(url: string) {
  const port = await freePort();
  const env = { FEATURES_STORE_URL: url, FEATURES_PORT: String(port), LOG_LEVEL: "info" };
  const started = run("main.ts", { args: ["features"], env });
  await started.says("Server listening");
  const base = `http://127.0.0.1:${port}/features/customer`;
  return {
    ...started,
    async add(path: string): Promise<number> {
      const { statusCode, body } = await request(`${base}/${path}`, { method: "POST" });
      await body.dump();
      return statusCode;
    },
    async list(id: string) {
      return (await (await request(`${base}/${id}`)).body.json()) as string[];
    },
  };
}

describeOnSharedStores("several processes of the feature storage", (make) => {
  test("nothing that was answered is lost when one is killed, and all tell the same", async () => {
    await using made = await make();
    const [one, other] = await Promise.all([startProcess(made.url), startProcess(made.url)]);
    const answered: string[] = [];
    let count = 0;
    /** Adds until its process is gone. */
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
    // At the most what was on its way when the process was killed is there without an answer.
    expect(list.length).toBeLessThanOrEqual(answered.length + 8);
    const again = await startProcess(made.url);
    expect(await again.list("1")).toEqual(list);
    for (const { child } of [again, other]) child.kill("SIGTERM");
    expect((await again.ended).code).toBe(0);
    expect((await other.ended).code).toBe(0);
  });

  test("what one has answered the other sees at once, however busy it is with reading", async () => {
    await using made = await make();
    const [one, other] = await Promise.all([startProcess(made.url), startProcess(made.url)]);
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
    for (const { child } of [one, other]) child.kill("SIGTERM");
    expect(missed).toEqual([]);
  });

  test("a feature that is added to all at once is new to one of them", async () => {
    await using made = await make();
    const services = await Promise.all([startProcess(made.url), startProcess(made.url)]);
    for (let round = 0; round < 20; round++) {
      const statuses = await Promise.all(
        [...services, ...services].map((service) => service.add(`2/${round}`)),
      );
      expect(statuses.sort()).toEqual([200, 200, 200, 201]);
      const lists = await Promise.all(services.map((service) => service.list("2")));
      expect(lists[0]).toEqual(lists[1]);
      expect(lists[0]).toHaveLength(round + 1);
    }
    for (const { child } of services) child.kill("SIGTERM");
  });
});
