import { expect, test } from "vitest";
import { passTime, stopClock } from "../store/new-store.fixture.ts";
import { serviceForTests } from "./features.fixture.ts";

const { request, read } = serviceForTests();

/** The body of the response to a request with a body. */
const post = async (path: string, body: unknown) => JSON.parse((await request("POST", path, { body })).text);

test("an expired feature is in no answer from its instant on, although nothing has recorded its expiry", async () => {
  stopClock(Date.parse("2024-03-05T10:00:00Z"));
  const expires_at = "2024-03-05T10:00:00.010Z";
  const add = (id: string, feature: string, expires?: string) => ({
    ...{ type: "add", resource: "kind", id, feature },
    ...(expires !== undefined && { expires_at: expires }),
  });
  const changes = [
    add("1", "lasting"),
    add("1", "passing", expires_at),
    add("2", "passing"),
    add("3", "passing", expires_at),
    add("3", "gone", expires_at),
  ];
  await request("POST", "/changes", { body: { changes } });

  async function answers() {
    const resources = ["1", "2", "3"].map((id) => ({ resource: "kind", id }));
    const { results } = await post("/query", { resources, features: ["passing", "lasting"] });
    const { flags } = await post("/ofrep/v1/evaluate/flags", { context: { targetingKey: "kind/1" } });
    const { value } = await post("/ofrep/v1/evaluate/flags/passing", { context: { targetingKey: "kind/1" } });
    const { features } = await read("/resources/kind/1");
    const { entries } = await read("/features?resource=kind");
    return {
      list: await read("/features/kind/1"),
      has: await read("/features/kind/1/passing"),
      resource: features.map(({ feature }: { feature: string }) => feature),
      resources: await read("/features/kind?feature=passing&count=true"),
      goneEverywhere: await read("/features/kind?feature=gone&count=true"),
      entries: entries.map(({ id, feature }: { id: string; feature: string }) => `${id}/${feature}`),
      query: results.map(({ has }: { has: boolean[] }) => has),
      flag: value,
      on: flags.filter((flag: { value: boolean }) => flag.value).map(({ key }: { key: string }) => key),
    };
  }

  passTime(9);
  expect(await answers()).toEqual({
    list: ["lasting", "passing"],
    has: { result: true },
    resource: ["lasting", "passing"],
    resources: { ids: ["1", "2", "3"], count: 3 },
    goneEverywhere: { ids: ["3"], count: 1 },
    entries: ["3/gone", "1/lasting", "1/passing", "2/passing", "3/passing"],
    query: [
      [true, true],
      [true, false],
      [true, false],
    ],
    flag: true,
    on: ["lasting", "passing"],
  });
  const { headers } = await request("GET", "/features/kind/1");
  passTime(1);
  expect(await answers()).toEqual({
    list: ["lasting"],
    has: { result: false },
    resource: ["lasting"],
    resources: { ids: ["2"], count: 1 },
    goneEverywhere: { ids: [], count: 0 },
    entries: ["1/lasting", "2/passing"],
    query: [
      [false, true],
      [true, false],
      [false, false],
    ],
    flag: false,
    on: ["lasting"],
  });

  // A change finds it absent, too.
  const ifMatch = { "if-match": String(headers.etag) };
  const replaced = await request("PUT", "/features/kind/1", { headers: ifMatch, body: ["lasting"] });
  expect(replaced.status).toBe(412);
  expect(
    (await request("GET", "/features/kind/1", { headers: { "if-none-match": String(headers.etag) } })).status,
  ).toBe(200);
  const removal = { type: "remove", resource: "kind", id: "3", feature: "passing" };
  expect(await post("/changes", { changes: [removal] })).toEqual({ results: [{ changed: false }] });
  expect((await request("POST", "/features/kind/1/passing")).status).toBe(201);
});
