import { mkdtemp, readdir, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate as afterThisTurn } from "node:timers/promises";
import {
  type EvaluationContext,
  type EventDetails,
  OpenFeature,
  ProviderEvents,
  ProviderStatus,
  type ResolutionDetails,
} from "@openfeature/server-sdk";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { eventually } from "../../testing/eventually.ts";
import type { ChangeRecord } from "./change-stream.ts";
import { openService } from "./openfeature.fixture.ts";
import { type FeatureProvider, type FeatureProviderOptions, featureProvider } from "./openfeature.ts";

let warnings: string[];
beforeEach(() => {
  warnings = [];
});
afterEach(async () => {
  await OpenFeature.close();
  await OpenFeature.clearProviders();
});
const warn = (warning: unknown) => void warnings.push(String(warning));
const logger = { error: warn, warn, info: warn, debug: warn };

interface Options extends Partial<FeatureProviderOptions> {
  baseUrl: string;
  /** Default: undici. It is no option of the provider, which passes it on to its calls. */
  fetch?: unknown;
}

/** A provider, not yet initialized. Its client has what it emits. */
function openProvider(options: Options) {
  const provider = featureProvider({ resources: ["customer"], logger, ...options });
  const domain = `domain ${Math.random()}`;
  const client = OpenFeature.getClient(domain);
  const events: [type: string, details: EventDetails | undefined][] = [];
  for (const type of Object.values(ProviderEvents)) {
    client.addHandler(type, (details) => events.push([type, details]));
  }
  return {
    provider,
    client,
    events,
    types: () => events.map(([type]) => type),
    /** The features of all events of changes. */
    changed: () => events.flatMap(([, details]) => details?.flagsChanged ?? []),
    start: () => OpenFeature.setProviderAndWait(domain, provider),
    has: (id: string, feature: string, resource = "customer") =>
      client.getBooleanValue(feature, false, { resource, id }),
    details: (feature: string, context: EvaluationContext) =>
      client.getBooleanDetails(feature, false, context),
  };
}

async function startProvider(...given: Parameters<typeof openProvider>) {
  const opened = openProvider(...given);
  await opened.start();
  return opened;
}

const { Ready, Stale, Error: Failed, ConfigurationChanged } = ProviderEvents;

describe("an evaluation", () => {
  const opened = new AsyncDisposableStack();
  let baseUrl: string;
  let provider: FeatureProvider;
  beforeAll(async () => {
    const service = opened.use(await openService());
    await service.add("42", "dark-mode");
    await service.add("42", "beta search");
    await service.add("c d/💷", "odd", { resource: "a/b" });
    baseUrl = service.baseUrl;
    provider = featureProvider({ baseUrl, resources: ["customer", "a/b", "customer"] });
    opened.defer(() => provider.onClose());
    await provider.initialize();
  });
  afterAll(() => opened.disposeAsync());
  const flags = ["dark-mode", "never", "beta search", "odd", "__proto__"];
  const keys = ["42", "43", "", "4/2", "%ZZ", "%00"].map((id) => `customer/${id}`);
  const targetingKeys = [...keys, "a%2Fb/c%20d%2F%F0%9F%92%B7", "customer", "", 42, null, undefined];
  const ids = ["42", "c d/💷", "💷".repeat(256), "💷".repeat(257), "constructor", "", 42, null, undefined];
  const contexts: EvaluationContext[] = [
    ...targetingKeys.map((targetingKey) => ({ targetingKey })),
    ...["customer", "a/b"].flatMap((resource) => ids.map((id) => ({ resource, id }))),
    { resource: "customer", id: "42", targetingKey: "somebody", plan: { name: "gold" } },
    { resource: "customer", targetingKey: "customer/42" },
    { id: 7, targetingKey: "customer/42" },
  ] as never[];
  const resultOf = ({ value = false, reason = "ERROR", errorCode }: Partial<ResolutionDetails<boolean>>) => ({
    ...{ value, reason, errorCode },
  });
  test.each<[flag: string, contexts: EvaluationContext[]]>([
    ...flags.map((flag): [string, EvaluationContext[]] => [flag, contexts]),
    ["x".repeat(257), contexts.slice(0, 1)],
  ])("of %j is that of the service, for any context", async (flag, contexts) => {
    for (const context of contexts) {
      const details = await provider.resolveBooleanEvaluation(flag, false, context, logger);
      const response = await fetch(`${baseUrl}/ofrep/v1/evaluate/flags/${encodeURIComponent(flag)}`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ context }),
      });
      const answer = (await response.json()) as Partial<ResolutionDetails<boolean>>;
      expect([context, resultOf(details)]).toEqual([context, resultOf(answer)]);
    }
  });

  test.each([[[]], [[""]], [["customer", "a\nb"]], [["customer", 7 as never]]])(
    "is impossible with the resources %j",
    (resources) => {
      const open = () => featureProvider({ baseUrl: "http://127.0.0.1:9", resources });
      expect(open).toThrow(TypeError);
    },
  );
});

describe("a copy", () => {
  test("has all pages of its kinds and nothing else", async () => {
    await using service = await openService();
    const nameOf = (index: number) => `${index} ${"💷x".repeat(index % 80)}`;
    const many = Array.from({ length: 1_100 }, (_, index) => nameOf(index));
    for (const [index, id] of many.entries()) await service.add(id, nameOf(index % 7));
    for (const id of many.slice(0, 1_000)) await service.add(id, "exactly a page", { resource: "shop" });
    for (const id of many.slice(0, 3)) await service.add(id, "other", { resource: "other" });
    const resources = ["shop", "customer", "empty"];
    const { has, details } = await startProvider({ baseUrl: service.baseUrl, resources });
    for (const [index, id] of many.entries()) {
      expect(await has(id, nameOf(index % 7))).toBe(true);
      expect(await has(id, nameOf((index + 1) % 7))).toBe(false);
      expect(await has(id, "exactly a page", "shop")).toBe(index < 1_000);
    }
    expect(await has(nameOf(0), "exactly a page", "empty")).toBe(false);
    expect(await details("other", { resource: "other", id: nameOf(0) })).toMatchObject({ reason: "ERROR" });
    expect(new Set(service.calls)).toEqual(new Set(resources));
  });

  test("has the changes that were made while it was read, and follows later ones", async () => {
    await using service = await openService();
    const ids = Array.from({ length: 2_100 }, (_, id) => String(id));
    for (const id of ids) await service.add(id, "dark-mode");
    const { has, start, changed } = openProvider({ baseUrl: service.baseUrl });
    service.beforePage = async (page) => {
      if (page === 2) for (const id of ids) await service.remove(id, "dark-mode");
      if (page === 2) for (const id of ids.slice(0, 2_000)) await service.add(id, "dark-mode");
      if (page === 3) for (const id of ids.slice(0, 1_000)) await service.remove(id, "dark-mode");
    };
    await start();
    expect(service.calls.length).toBeGreaterThan(2);
    const all = await Promise.all(ids.map((id) => has(id, "dark-mode")));
    expect(all).toEqual(ids.map((_, id) => id >= 1_000 && id < 2_000));
    expect(changed()).toEqual([]);
    await service.add("0", "dark-mode");
    await service.remove("1000", "dark-mode");
    await service.add("2", "dark-mode", { resource: "other" });
    await eventually(async () => {
      expect([await has("0", "dark-mode"), await has("1000", "dark-mode")]).toEqual([true, false]);
      expect(new Set(changed())).toEqual(new Set(["dark-mode"]));
    });
    expect(await has("2", "dark-mode")).toBe(false);
  });

  test("is copied again if the service no longer has the changes since it", async () => {
    await using service = await openService("memory:?changes=10");
    for (let id = 0; id < 1_100; id++) await service.add(String(id), id % 2 ? "odd" : "even");
    const expiresAt = Date.now() + 1e9;
    await service.add("1", "other", { expiresAt });
    const { changed, has } = await startProvider({ baseUrl: service.baseUrl });
    await service.stop();
    for (let id = 0; id < 100; id += 2) await service.remove(String(id), "even");
    await service.add("1", "other", { expiresAt: expiresAt + 1 });
    await service.add("1", "new");
    service.calls.length = 0;
    const evaluations = [await has("1", "odd")];
    await service.start();
    for (; await has("0", "even"); await afterThisTurn()) evaluations.push(await has("1", "odd"));
    expect(new Set(evaluations)).toEqual(new Set([true]));
    expect([await has("100", "even"), await has("1", "new")]).toEqual([true, true]);
    expect(service.calls.length).toBeGreaterThan(0);
    await eventually(() => expect(changed().toSorted()).toEqual(["even", "new", "other"]));
    await service.add("0", "even");
    await eventually(async () => expect(await has("0", "even")).toBe(true));
  });
});

/** A service that is reached by `fetch` in this process. Its features and its clock are those of the test. */
function openFakeService() {
  let state: "up" | "down" | "silent" = "up";
  let stream: ReadableStreamDefaultController | undefined;
  const records: ChangeRecord[] = [];
  const aborted = (signal: AbortSignal) =>
    new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
  const service = {
    baseUrl: "http://host/",
    /** The paths of all requests. */
    calls: [] as string[],
    /** The token that requests need. Default: none. */
    token: undefined as string | undefined,
    /** The number of changes that have been deleted. */
    deleted: 0,
    async fetch(url: string, { headers, signal }: { headers: Headers; signal: AbortSignal }) {
      const { pathname, searchParams } = new URL(url);
      service.calls.push(pathname);
      if (state === "down") throw new TypeError("fetch failed");
      if (state === "silent") return await aborted(signal);
      const after = Number(searchParams.get("cursor") ?? 0);
      const isRejected = service.token && headers.get("authorization") !== `Bearer ${service.token}`;
      const status = isRejected ? 401 : pathname === "/changes" && after < service.deleted ? 410 : 200;
      if (status === 200 && headers.get("accept")?.startsWith("text/event-stream")) {
        const body = new ReadableStream({
          start(controller) {
            stream = controller;
            aborted(signal).catch((reason) => controller.error(reason));
          },
        });
        return { status, headers: new Headers(), body };
      }
      const resource = searchParams.get("resource");
      const page =
        pathname === "/features"
          ? { entries: records.filter((record) => record.resource === resource) }
          : { changes: records.slice(after), next_cursor: String(records.length) };
      return { status, headers: new Headers(), text: async () => JSON.stringify(page) };
    },
    /** Records a change, and sends it to whoever follows. */
    change(id: string, feature: string, more: Partial<ChangeRecord> = {}) {
      const cursor = String(records.length + 1);
      const what = { resource: "customer", id, feature, ...more };
      const record: ChangeRecord = { cursor, at: "", type: "added", ...what };
      records.push(record);
      service.send(`data: ${JSON.stringify(record)}\n\n`);
    },
    send: (text: string) => state === "up" && stream?.enqueue(Buffer.from(text)),
    async be(next: typeof state) {
      state = next;
      if (next === "down") stream?.error(new Error("other side closed"));
      await pass(0);
    },
  };
  return service;
}

/** Lets the time of the test pass, and all work that does not wait for it. */
const pass = (milliseconds: number) => vi.advanceTimersByTimeAsync(milliseconds);

describe("by the clock of the test,", () => {
  const now = Date.parse("2032-03-05T09:14:22Z");
  const context = { targetingKey: "customer/1" };
  beforeEach(() => vi.useFakeTimers({ now, toFake: ["setTimeout", "clearTimeout", "Date", "performance"] }));
  afterEach(() => void vi.useRealTimers());

  /** Starts a provider, until it follows the service. */
  async function follow(options: Options) {
    const opened = await startProvider(options);
    await pass(0);
    return opened;
  }

  test("an evaluation before the copy, of another type and of another kind is an error", async () => {
    const { provider, client, start, details } = openProvider({
      ...openFakeService(),
      resources: ["shop", "customer"],
    });
    const early = await provider.resolveBooleanEvaluation("dark-mode", true, context, logger);
    expect(early).toMatchObject({ value: true, errorCode: "PROVIDER_NOT_READY" });
    expect(provider.ageMs).toBe(Number.POSITIVE_INFINITY);
    await start();
    const errorCode = "TYPE_MISMATCH";
    for (const [value, mismatched] of [
      ["b", await client.getStringDetails("a", "b", context)],
      [1, await client.getNumberDetails("a", 1, context)],
      [{ b: 1 }, await client.getObjectDetails("a", { b: 1 }, context)],
    ]) {
      expect(mismatched).toMatchObject({ value, errorCode });
    }
    expect(await details("dark-mode", { targetingKey: "account/42" })).toMatchObject({
      value: false,
      reason: "ERROR",
      errorCode: "INVALID_CONTEXT",
      errorMessage: expect.stringMatching(/account.*customer, shop/),
    });
  });

  test("a feature that expires is false from that instant, and the event follows its record", async () => {
    const service = openFakeService();
    const expires_at = new Date(now + 1_000).toISOString();
    service.change("1", "copied", { expires_at });
    const { has, changed } = await follow(service);
    service.change("1", "followed", { expires_at });
    await pass(999);
    expect([await has("1", "copied"), await has("1", "followed")]).toEqual([true, true]);
    expect(changed().splice(0)).toEqual(["followed"]);
    await pass(1);
    expect([await has("1", "copied"), await has("1", "followed")]).toEqual([false, false]);
    service.change("1", "copied", { type: "removed" });
    service.change("1", "followed", { type: "removed" });
    await pass(100);
    expect(changed()).toEqual(["followed", "copied", "followed"]);
    service.change("1", "copied");
    await pass(0);
    expect(await has("1", "copied")).toBe(true);
  });

  test("changes within 100 ms have one event, with a list of at most 1,000 features", async () => {
    const service = openFakeService();
    const { events } = await follow(service);
    const eventsAfter = async (count: number) => {
      events.length = 0;
      for (let number = 0; number < count; number++) service.change("1", `of ${count}: ${number}`);
      await pass(99);
      expect(events).toEqual([]);
      await pass(1);
      return events.map(([type, details]) => [type, (details?.flagsChanged as string[])?.length]);
    };
    expect(await eventsAfter(1_000)).toEqual([[ConfigurationChanged, 1_000]]);
    expect(await eventsAfter(1_001)).toEqual([[ConfigurationChanged, undefined]]);
  });

  test("the age is that of the last sign of life: a comment, or a change of any kind", async () => {
    const service = openFakeService();
    const { provider, types } = await follow({ ...service, staleAfterMs: 20_000 });
    for (const sign of [
      () => service.send(":\n\n"),
      () => service.change("1", "dark-mode", { resource: "other" }),
      () => service.send(":\n\n"),
    ]) {
      await pass(15_000);
      expect(provider.ageMs).toBe(15_000);
      sign();
      await pass(0);
      expect(provider.ageMs).toBe(0);
    }
    await pass(19_999);
    expect(types()).toEqual([Ready]);
    await pass(1);
    expect(types()).toEqual([Ready, Stale]);
  });

  test("a service that is down makes the provider stale, which evaluates, and ready when it is back", async () => {
    const service = openFakeService();
    service.change("1", "dark-mode");
    const { provider, client, details, types, has, changed } = await follow(service);
    await service.be("down");
    service.change("1", "beta");
    await pass(60_000);
    expect(types()).toEqual([Ready, Stale]);
    expect([client.providerStatus, provider.ageMs]).toEqual([ProviderStatus.STALE, 60_000]);
    expect(await details("dark-mode", context)).toMatchObject({
      value: true,
      reason: "TARGETING_MATCH",
      flagMetadata: { ageMs: 60_000 },
    });
    expect(await has("1", "beta")).toBe(false);
    service.calls.length = 0;
    await service.be("up");
    await pass(10_000);
    expect(types()).toEqual([Ready, Stale, Ready, ConfigurationChanged]);
    expect([await has("1", "beta"), changed()]).toEqual([true, ["beta"]]);
    // It has caught up from its cursor, and then followed.
    expect(new Set(service.calls)).toEqual(new Set(["/changes"]));
    expect(await details("dark-mode", context)).toMatchObject({ flagMetadata: {} });
  });

  test("a service that is down at the start is an error, and the provider becomes ready by itself", async () => {
    const service = openFakeService();
    await service.be("down");
    const { client, types, start, has } = openProvider(service);
    service.change("1", "dark-mode");
    const failed = expect(start()).rejects.toThrow(
      "no copy of the features: listChanges got no complete response after 3 attempts: fetch failed",
    );
    await pass(1_000);
    await failed;
    expect([client.providerStatus, types()]).toEqual([ProviderStatus.ERROR, [Failed]]);
    await service.be("up");
    await pass(10_000);
    expect([client.providerStatus, types()]).toEqual([ProviderStatus.READY, [Failed, Ready]]);
    expect(await has("1", "dark-mode")).toBe(true);
  });

  test("a service that hangs is an error after the timeout, and closing ends everything at once", async () => {
    const service = openFakeService();
    await service.be("silent");
    const { start } = openProvider({ ...service, timeoutMs: 200, staleAfterMs: Number.POSITIVE_INFINITY });
    const failed = expect(start()).rejects.toThrow(/timed out after 200 ms/);
    await pass(200);
    await failed;
    const { provider, start: startNext, types } = openProvider(service);
    const closed = expect(startNext()).rejects.toThrow(/closed/);
    await pass(0);
    await provider.onClose();
    await closed;
    await OpenFeature.clearProviders();
    expect([types(), vi.getTimerCount()]).toEqual([[Failed], 0]);
  });

  test("a token is renewed when it is rejected", async () => {
    const service = Object.assign(openFakeService(), { token: "new" });
    service.change("1", "dark-mode");
    const refreshes: boolean[] = [];
    const token = ({ refresh }: { refresh: boolean }) => {
      refreshes.push(refresh);
      return refresh ? "new" : "expired";
    };
    const { has } = await follow({ ...service, token });
    expect(refreshes.slice(0, 2)).toEqual([false, true]);
    service.change("2", "dark-mode");
    await pass(0);
    expect([await has("1", "dark-mode"), await has("2", "dark-mode")]).toEqual([true, true]);
    const { start } = openProvider({ ...service, token: "expired" });
    await expect(start()).rejects.toThrow(/listChanges returned 401/);
  });

  describe("a file", () => {
    let folder: string;
    beforeEach(async () => {
      folder = await mkdtemp(join(tmpdir(), "copy-"));
    });

    /** A service that is down, and the options of a provider that was closed before. */
    async function openWithFile() {
      const service = openFakeService();
      service.change("1", "expiring", { expires_at: "2037-03-05T09:14:22.018Z" });
      service.change("1", "__proto__", { resource: "shop" });
      const file = join(folder, "features-copy.json");
      const options = { ...service, file, resources: ["shop", "customer"] };
      const first = await follow(options);
      await first.provider.onClose();
      await service.be("down");
      service.calls.length = 0;
      return { service, options };
    }
    /** Starts a provider that reads a file, while the time passes. */
    async function startLater(options: Options) {
      const opened = openProvider(options);
      const outcome = opened.start().then(
        () => "started",
        (error: Error) => error.message,
      );
      await eventually(async () => expect(await Promise.race([outcome, afterThisTurn()])).toBeDefined());
      return { ...opened, outcome: await outcome };
    }

    test("serves a provider while the service is down, which catches up later", async () => {
      const { service, options } = await openWithFile();
      service.change("1", "expiring", { type: "removed" });
      service.change("2", "dark-mode");
      const { has, types } = await startLater({ ...options, staleAfterMs: 50_000 });
      expect([await has("1", "expiring"), await has("2", "dark-mode")]).toEqual([true, false]);
      expect(await has("1", "__proto__", "shop")).toBe(true);
      await pass(50_000);
      expect(types()).toEqual([Ready, Stale]);
      await service.be("up");
      await pass(10_000);
      expect(types().slice(0, 3)).toEqual([Ready, Stale, Ready]);
      expect([await has("1", "expiring"), await has("2", "dark-mode")]).toEqual([false, true]);
      // It has caught up from the cursor in the file.
      expect(new Set(service.calls)).toEqual(new Set(["/changes"]));
      expect(warnings).toEqual([]);
    });

    test("is used after a second if the service hangs", async () => {
      const { service, options } = await openWithFile();
      await service.be("silent");
      const { start, has, client } = openProvider(options);
      const started = start();
      while (service.calls.length === 0) await afterThisTurn();
      await pass(999);
      expect(client.providerStatus).toBe(ProviderStatus.NOT_READY);
      await pass(1);
      await started;
      expect(await has("1", "expiring")).toBe(true);
    });

    test.each([
      ["is brought up to date", 0, ["/changes"]],
      ["is replaced if it no longer has the changes since it", 3, ["/changes", "/features"]],
    ])("%s by a service that is up, before the provider becomes ready", async (_name, deleted, paths) => {
      const { service, options } = await openWithFile();
      service.change("2", "dark-mode");
      service.change("3", "dark-mode");
      service.deleted = deleted;
      await service.be("up");
      const { has, types } = await startLater(options);
      expect([await has("2", "dark-mode"), await has("3", "dark-mode")]).toEqual([true, true]);
      // As long as changes wait for their event.
      await pass(100);
      expect([new Set(service.calls), types()]).toEqual([new Set(paths), [Ready]]);
    });

    test("that is damaged is not used, with a warning, and written anew", async () => {
      const { service, options } = await openWithFile();
      await writeFile(options.file, "");
      expect((await startLater(options)).outcome).toMatch(/^no copy of the features/);
      expect(warnings).toEqual([expect.stringContaining(`in ${options.file} is not used: `)]);
      await OpenFeature.clearProviders();
      await service.be("up");
      const { has, provider } = await startLater(options);
      expect(await has("1", "expiring")).toBe(true);
      expect(service.calls).toContain("/features");
      await provider.onClose();
      await service.be("down");
      expect(await (await startLater(options)).has("1", "expiring")).toBe(true);
    });

    test("that cannot be read or written costs warnings only", async () => {
      const service = openFakeService();
      service.change("1", "dark-mode");
      const { has, provider } = await startLater({ ...service, file: folder });
      expect(await has("1", "dark-mode")).toBe(true);
      await provider.onClose();
      expect(warnings[0]).toMatch(/is not used: EISDIR/);
      expect(warnings[1]).toMatch(/was not written to/);
      expect(await readdir(folder)).toEqual([]);
    });
  });
});
