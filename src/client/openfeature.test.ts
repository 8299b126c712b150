import { mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate as afterThisTurn, setTimeout as sleep } from "node:timers/promises";
import {
  type EvaluationContext,
  type EventDetails,
  OpenFeature,
  ProviderEvents,
  ProviderStatus,
} from "@openfeature/server-sdk";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { eventually } from "../../testing/eventually.ts";
import { openIssuer } from "../../testing/issuer.ts";
import { openSilentServer } from "../../testing/silent-server.ts";
import type { ChangeRecord } from "./change-stream.ts";
import { applyChanges, type Copy } from "./openfeature/copy.ts";
import { readCopy, writeCopy } from "./openfeature/copy-file.ts";
import { emptyEntries } from "./openfeature/entries.ts";
import { openService } from "./openfeature.fixture.ts";
import { type FeatureProvider, type FeatureProviderOptions, featureProvider } from "./openfeature.ts";

let folder: string;
let warnings: string[];
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "copy-"));
  warnings = [];
});
afterEach(async () => {
  await OpenFeature.close();
  await OpenFeature.clearProviders();
  await rm(folder, { recursive: true });
});
const warn = (warning: unknown) => void warnings.push(String(warning));
const logger = { error: warn, warn, info: warn, debug: warn };

/** A provider, not yet initialized. Its client has what it emits. */
function openProvider(options: Partial<FeatureProviderOptions> & { baseUrl: string }) {
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
  let service: Awaited<ReturnType<typeof openService>>;
  let provider: FeatureProvider;
  beforeAll(async () => {
    service = await openService();
    await service.add("42", "dark-mode");
    await service.add("42", "beta search");
    await service.add("c d/💷", "odd", { resource: "a/b" });
    const resources = ["customer", "a/b", "customer"];
    provider = featureProvider({ baseUrl: service.baseUrl, resources });
    await provider.initialize();
  });
  afterAll(async () => {
    await provider.onClose();
    await service[Symbol.asyncDispose]();
  });
  const shown = (value: unknown) => JSON.stringify(value).slice(0, 70);
  const evaluations: [flag: string, context: EvaluationContext][] = [
    ["dark-mode", { targetingKey: "customer/42" }],
    ["dark-mode", { targetingKey: "customer/43" }],
    ["never", { targetingKey: "customer/42" }],
    ["beta search", { resource: "customer", id: "42" }],
    ["dark-mode", { resource: "customer", id: "42", targetingKey: "somebody", plan: { name: "gold" } }],
    ["dark-mode", { resource: "customer", targetingKey: "customer/42" }],
    ["dark-mode", { id: 7, targetingKey: "customer/42" }],
    ["odd", { targetingKey: "a%2Fb/c%20d%2F%F0%9F%92%B7" }],
    ["odd", { resource: "a/b", id: "c d/💷" }],
    ["odd", { resource: "a/b", id: "💷".repeat(256) }],
    ["__proto__", { resource: "customer", id: "constructor" }],
    ["dark-mode", {}],
    ["dark-mode", { resource: "customer" }],
    ["dark-mode", { targetingKey: "" }],
    ["dark-mode", { targetingKey: "customer" }],
    ["dark-mode", { targetingKey: "customer/" }],
    ["dark-mode", { targetingKey: "customer/4/2" }],
    ["dark-mode", { targetingKey: "customer/%ZZ" }],
    ["dark-mode", { targetingKey: "customer/%00" }],
    ["dark-mode", { targetingKey: 42 as never }],
    ["dark-mode", { targetingKey: null as never }],
    ["dark-mode", { resource: "customer", id: 42 }],
    ["dark-mode", { resource: "customer", id: null }],
    ["dark-mode", { resource: "customer", id: "" }],
    ["dark-mode", { resource: "customer", id: "x".repeat(257) }],
    ["dark-mode", { resource: "customer", id: "💷".repeat(257) }],
    ["x".repeat(257), { targetingKey: "customer/42" }],
  ];
  test.each(
    evaluations.map(([flag, context]) => ({ flag, context, of: `${shown(flag)} for ${shown(context)}` })),
  )("of $of is that of the service", async ({ flag, context }) => {
    const details = await provider.resolveBooleanEvaluation(flag, false, context, logger);
    const response = await fetch(`${service.baseUrl}/ofrep/v1/evaluate/flags/${encodeURIComponent(flag)}`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ context }),
    });
    const { value = false, reason = "ERROR", errorCode } = (await response.json()) as Record<string, unknown>;
    expect(details).toMatchObject({ value, reason, ...(errorCode !== undefined && { errorCode }) });
    expect("errorCode" in details).toBe(errorCode !== undefined);
  });

  test("of a kind that the provider was not given is an error that names the kinds", async () => {
    await using service = await openService();
    const { details } = await startProvider({ baseUrl: service.baseUrl, resources: ["shop", "customer"] });
    expect(await details("dark-mode", { targetingKey: "account/42" })).toMatchObject({
      value: false,
      reason: "ERROR",
      errorCode: "INVALID_CONTEXT",
      errorMessage: expect.stringMatching(/account.*customer, shop/),
    });
  });

  test("of another type than boolean is an error, and so is one before the copy", async () => {
    await using service = await openService();
    const { provider, client, start } = openProvider({ baseUrl: service.baseUrl });
    const context = { targetingKey: "customer/42" };
    expect(await provider.resolveBooleanEvaluation("dark-mode", true, context, logger)).toMatchObject({
      value: true,
      errorCode: "PROVIDER_NOT_READY",
    });
    expect(provider.ageMs).toBe(Number.POSITIVE_INFINITY);
    await start();
    expect(provider.ageMs).toBeGreaterThanOrEqual(0);
    expect(provider.ageMs).toBeLessThan(100_000);
    const errorCode = "TYPE_MISMATCH";
    expect(await client.getStringDetails("a", "b", context)).toMatchObject({ value: "b", errorCode });
    expect(await client.getNumberDetails("a", 1, context)).toMatchObject({ value: 1, errorCode });
    expect(await client.getObjectDetails("a", { b: 1 }, context)).toMatchObject({
      value: { b: 1 },
      errorCode,
    });
  });

  test("of a feature that expires is false from that instant, and an event follows", async () => {
    await using service = await openService();
    const expiresAt = Date.now() + 1_500;
    await service.add("1", "copied", { expiresAt });
    const { has, changed } = await startProvider({ baseUrl: service.baseUrl });
    await service.add("1", "followed", { expiresAt });
    await eventually(async () => expect(await has("1", "followed")).toBe(true));
    expect(await has("1", "copied")).toBe(true);
    await sleep(expiresAt - Date.now() + 1);
    expect([await has("1", "copied"), await has("1", "followed")]).toEqual([false, false]);
    await eventually(() => expect(changed().toSorted()).toEqual(["copied", "followed", "followed"]));
    await service.add("1", "copied");
    await eventually(async () => expect(await has("1", "copied")).toBe(true));
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
    const many = Array.from({ length: 2_500 }, (_, index) => nameOf(index));
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
    const ids = Array.from({ length: 3_000 }, (_, id) => String(id));
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

  test("has one event for many changes, with a list of at most 1,000 features", async () => {
    await using service = await openService();
    const { events, has } = await startProvider({ baseUrl: service.baseUrl });
    const change = (count: number, prefix: string) =>
      service.store.change(
        "customer",
        prefix,
        Array.from({ length: count }, (_, index) => ({ type: "add", feature: `${prefix} ${index}` })),
      );
    await change(1_000, "a");
    await eventually(async () => expect(await has("a", "a 999")).toBe(true));
    const lists = () =>
      events.flatMap(([type, details]) => (type === ConfigurationChanged ? [details?.flagsChanged] : []));
    await eventually(() => expect(new Set(lists().flat()).size).toBe(1_000));
    expect(lists().length).toBeLessThan(50);
    const before = lists().length;
    await change(1_000, "b");
    await change(1_000, "c");
    await eventually(async () => expect(await has("c", "c 999")).toBe(true));
    await eventually(() => expect(lists().slice(before)).toContain(undefined));
  });

  test("is copied again if the service no longer has the changes since it", async () => {
    await using service = await openService("memory:?changes=10");
    for (let id = 0; id < 2_000; id++) await service.add(String(id), id % 2 ? "odd" : "even");
    const expiresAt = Date.now() + 1e9;
    await service.add("1", "other", { expiresAt });
    const { events, has, provider } = await startProvider({ baseUrl: service.baseUrl });
    await service.stop();
    for (let id = 0; id < 100; id += 2) await service.remove(String(id), "even");
    await service.add("1", "other", { expiresAt: expiresAt + 1 });
    await service.add("1", "new");
    service.calls.length = 0;
    let evaluations = 0;
    let isDone = false;
    const evaluateAll = async () => {
      while (!isDone) {
        const context = { targetingKey: "customer/1" };
        expect(await provider.resolveBooleanEvaluation("odd", false, context, logger)).toMatchObject({
          value: true,
        });
        evaluations += 1;
        await afterThisTurn();
      }
    };
    const evaluating = evaluateAll();
    await service.start();
    await eventually(async () => expect(await has("0", "even")).toBe(false));
    isDone = true;
    await evaluating;
    expect(evaluations).toBeGreaterThan(0);
    expect([await has("100", "even"), await has("1", "odd"), await has("1", "new")]).toEqual([
      true,
      true,
      true,
    ]);
    expect(service.calls.length).toBeGreaterThan(0);
    const flagsChanged = () => events.flatMap(([, details]) => details?.flagsChanged ?? []);
    await eventually(() => expect(flagsChanged().toSorted()).toEqual(["even", "new", "other"]));
    await service.add("0", "even");
    await eventually(async () => expect(await has("0", "even")).toBe(true));
  });
});

describe("a service that is down", () => {
  test("makes the provider stale, which evaluates, and ready when it is back", async () => {
    await using service = await openService();
    await service.add("1", "dark-mode");
    const { provider, client, details, types, has, changed } = await startProvider({
      baseUrl: service.baseUrl,
      staleAfterMs: 1_000,
    });
    await service.stop();
    await service.add("1", "beta");
    await eventually(() => expect(types()).toContain(Stale));
    expect(client.providerStatus).toBe(ProviderStatus.STALE);
    expect(provider.ageMs).toBeGreaterThanOrEqual(1_000);
    expect(await details("dark-mode", { targetingKey: "customer/1" })).toMatchObject({
      value: true,
      reason: "TARGETING_MATCH",
      flagMetadata: { ageMs: expect.any(Number) },
    });
    expect(await has("1", "beta")).toBe(false);
    const age = provider.ageMs;
    await sleep(100);
    expect(provider.ageMs).toBeGreaterThanOrEqual(age + 90);
    service.calls.length = 0;
    const before = types().length;
    await service.start();
    await eventually(() => expect(types().slice(before)).toContain(Ready));
    expect(await has("1", "beta")).toBe(true);
    await eventually(() => expect(changed()).toEqual(["beta"]));
    // It has caught up from its cursor.
    expect(service.calls).toEqual([]);
  });

  test("is noticed by the age, which changes of other kinds keep low", async () => {
    await using service = await openService();
    const { provider, types } = await startProvider({ baseUrl: service.baseUrl, staleAfterMs: 3_000 });
    for (let index = 0; index < 20; index++) {
      await service.add(String(index), "dark-mode", { resource: "other" });
      await sleep(250);
    }
    expect(types()).toEqual([Ready]);
    expect(provider.ageMs).toBeLessThan(3_000);
    await service.stop();
    await eventually(() => expect(types()).toEqual([Ready, Stale]));
  });

  test("at the start is an error, and the provider becomes ready by itself", async () => {
    await using service = await openService();
    await service.add("1", "dark-mode");
    await service.stop();
    const { client, types, start, has } = openProvider({ baseUrl: service.baseUrl });
    await expect(start()).rejects.toThrow(/no copy of the features: listChanges got no complete response/);
    await eventually(() => expect(types()).toEqual([Failed]));
    expect(client.providerStatus).toBe(ProviderStatus.ERROR);
    await service.start();
    await eventually(() => expect(types()).toEqual([Failed, Ready]));
    expect(client.providerStatus).toBe(ProviderStatus.READY);
    expect(await has("1", "dark-mode")).toBe(true);
  });

  test("and hangs, is an error after the timeout, and closing ends everything at once", async () => {
    await using silent = await openSilentServer();
    const baseUrl = `http://127.0.0.1:${silent.port}`;
    const { start } = openProvider({ baseUrl, timeoutMs: 200, staleAfterMs: Number.POSITIVE_INFINITY });
    await expect(start()).rejects.toThrow(/timed out after 200 ms/);
    const { provider, start: startNext, types } = openProvider({ baseUrl });
    const started = startNext();
    started.catch(() => {});
    await eventually(() => expect(silent.connections()).toBeGreaterThan(0));
    const closedAt = performance.now();
    await provider.onClose();
    await expect(started).rejects.toThrow(/closed/);
    expect(performance.now() - closedAt).toBeLessThan(5_000);
    await OpenFeature.clearProviders();
    await eventually(() => expect(silent.connections()).toBe(0));
    expect(types()).not.toContain(Ready);
  });
});

test("a token is renewed when it is rejected", async () => {
  await using issuer = await openIssuer();
  await using service = await openService("memory:", { security: issuer.security });
  await service.add("1", "dark-mode");
  const nowS = Math.floor(Date.now() / 1000);
  const expired = await issuer.sign({ scope: "features:read", exp: nowS - 60 });
  const valid = await issuer.sign({ scope: "features:read" });
  const refreshes: boolean[] = [];
  const { has, start } = openProvider({
    baseUrl: service.baseUrl,
    token: ({ refresh }) => {
      refreshes.push(refresh);
      return refresh ? valid : expired;
    },
  });
  await start();
  expect(await has("1", "dark-mode")).toBe(true);
  expect(refreshes.slice(0, 2)).toEqual([false, true]);
  await service.add("2", "dark-mode");
  await eventually(async () => expect(await has("2", "dark-mode")).toBe(true));
  const { start: startWithout } = openProvider({ baseUrl: service.baseUrl, token: expired });
  await expect(startWithout()).rejects.toThrow(/listChanges returned 401/);
});

describe("a file", () => {
  const inFolder = () => join(folder, "features-copy.json");

  /** A service that is down, and the file of a provider that was closed before. */
  async function openWithFile() {
    const service = await openService();
    const expiresAt = Date.now() + 1e9;
    for (let id = 0; id < 150; id++) await service.add(`\u2028 ${id}`, "dark-mode");
    await service.add("1", "expiring", { expiresAt });
    await service.add("1", "__proto__", { resource: "shop" });
    const options = { baseUrl: service.baseUrl, file: inFolder(), resources: ["shop", "customer"] };
    const first = await startProvider(options);
    await first.provider.onClose();
    await service.stop();
    service.calls.length = 0;
    return { service, options };
  }

  test("serves a provider while the service is down, which catches up later", async () => {
    const { service, options } = await openWithFile();
    await using _service = service;
    await service.remove("1", "expiring");
    await service.add("2", "dark-mode");
    const { has, types, client, provider } = await startProvider({ ...options, staleAfterMs: 500 });
    expect(await has("\u2028 149", "dark-mode")).toBe(true);
    expect(await has("1", "expiring")).toBe(true);
    expect(await has("1", "__proto__", "shop")).toBe(true);
    expect(await has("2", "dark-mode")).toBe(false);
    expect(provider.ageMs).toBeGreaterThan(0);
    await eventually(() => expect(types()).toEqual([Ready, Stale]));
    expect(client.providerStatus).toBe(ProviderStatus.STALE);
    await service.start();
    await eventually(() => expect(types().slice(2)).toContain(Ready));
    expect([await has("1", "expiring"), await has("2", "dark-mode")]).toEqual([false, true]);
    // It has caught up from the cursor in the file.
    expect(service.calls).toEqual([]);
    expect(warnings).toEqual([]);
  });

  test("is current when the provider becomes ready, if the service is up", async () => {
    const { service, options } = await openWithFile();
    await using _service = service;
    await service.add("2", "dark-mode");
    await service.start();
    const { has, types } = await startProvider(options);
    expect(await has("2", "dark-mode")).toBe(true);
    // Longer than changes wait for their event.
    await sleep(300);
    expect([service.calls, types()]).toEqual([[], [Ready]]);
  });

  test("is copied anew before the provider becomes ready, if the service no longer has the changes since it", async () => {
    await using service = await openService("memory:?changes=10");
    await service.add("1", "dark-mode");
    const options = { baseUrl: service.baseUrl, file: inFolder() };
    const first = await startProvider(options);
    await first.provider.onClose();
    for (let id = 2; id < 50; id++) await service.add(String(id), "dark-mode");
    const { has, types } = await startProvider(options);
    expect(await has("2", "dark-mode")).toBe(true);
    await eventually(() => expect(types()).toEqual([Ready]));
  });

  test("is written after the copy, then at most every 10 seconds, and at the end", async () => {
    await using service = await openService();
    await service.add("1", "dark-mode");
    const { provider, has } = await startProvider({ baseUrl: service.baseUrl, file: inFolder() });
    await eventually(async () => expect(await readdir(folder)).toEqual(["features-copy.json"]));
    const { mode, ino } = await stat(inFolder());
    expect(mode & 0o777).toBe(0o600);
    await service.add("2", "dark-mode");
    await eventually(async () => expect(await has("2", "dark-mode")).toBe(true));
    await sleep(500);
    expect((await stat(inFolder())).ino).toBe(ino);
    await provider.onClose();
    expect((await stat(inFolder())).ino).not.toBe(ino);
    await service.stop();
    const next = await startProvider({ baseUrl: service.baseUrl, file: inFolder() });
    expect([await next.has("1", "dark-mode"), await next.has("2", "dark-mode")]).toEqual([true, true]);
  });

  test.each<[damage: string, (content: string) => string]>([
    ["is empty", () => ""],
    ["is no copy", () => "hello\nworld"],
    ["is another JSON document", () => "null\n"],
    ["has another version", (content) => content.replace('"version":1', '"version":2')],
    ["is a copy of another service", (content) => content.replace(/:\d+\//, ":1/")],
    ["is a copy of other kinds", (content) => content.replace('["customer","shop"]', '["customer"]')],
    ["lacks its last line", (content) => content.trimEnd().replace(/\n[^\n]*$/, "\n")],
    ["lacks a part of its last line", (content) => content.slice(0, -20)],
    ["ends in the middle", (content) => content.slice(0, content.length / 2)],
    ["has a changed letter", (content) => content.replace("\u2028 77", "\u2028 78")],
    ["has a changed cursor", (content) => content.replace(/"cursor":"\w/, '"cursor":"_')],
    ["has a line that is null", (content) => content.replace("\n", "\nnull\n")],
    ["has a line after its end", (content) => `${content}{}\n`],
  ])("that %s is not used, with a warning, and written anew", async (_damage, change) => {
    const { service, options } = await openWithFile();
    await using _service = service;
    const content = await readFile(options.file, "utf8");
    expect(change(content)).not.toBe(content);
    await writeFile(options.file, change(content));
    await expect(openProvider(options).start()).rejects.toThrow(/no copy of the features/);
    expect(warnings).toEqual([expect.stringContaining(`in ${options.file} is not used: `)]);
    await OpenFeature.clearProviders();
    await service.start();
    const { has, provider } = await startProvider(options);
    expect(await has("\u2028 77", "dark-mode")).toBe(true);
    expect(service.calls.length).toBeGreaterThan(0);
    await provider.onClose();
    await service.stop();
    expect(await (await startProvider(options)).has("\u2028 78", "dark-mode")).toBe(true);
  });

  test("that cannot be read or written costs warnings only", async () => {
    await using service = await openService();
    await service.add("1", "dark-mode");
    const { has, provider } = await startProvider({ baseUrl: service.baseUrl, file: folder });
    expect(await has("1", "dark-mode")).toBe(true);
    await provider.onClose();
    expect(warnings[0]).toMatch(/is not used: EISDIR/);
    expect(warnings[1]).toMatch(/was not written to/);
    expect(await readdir(folder)).toEqual([]);
  });

  test("has the state of one moment, although the copy changes while it is written", async () => {
    const kinds = ["customer"];
    const origin = { baseUrl: "http://127.0.0.1:8080/", kinds };
    const copy: Copy = { entries: emptyEntries(kinds), cursor: "0", currentAt: performance.now() };
    const records: ChangeRecord[] = [];
    const makeChange = () => {
      const cursor = records.length + 1;
      const id = String((cursor * 7_919) % 30_011);
      const type = cursor % 3 === 0 && cursor > 30_011 ? "removed" : "added";
      const feature = `feature ${cursor % 4}`;
      records.push({ cursor: String(cursor), at: "", type, resource: "customer", id, feature });
      applyChanges(copy, records.slice(-1), () => {});
    };
    while (records.length < 60_000) makeChange();
    let isWriting = true;
    const writing = writeCopy(inFolder(), origin, copy).finally(() => {
      isWriting = false;
    });
    while (isWriting) {
      for (let index = 0; index < 20; index++) makeChange();
      await afterThisTurn();
    }
    await writing;
    const read = (await readCopy(inFolder(), origin)) as Copy;
    const cursor = Number(read.cursor);
    expect(cursor).toBeGreaterThan(60_000);
    expect(cursor).toBeLessThan(records.length);
    const expected: Copy = { entries: emptyEntries(kinds), cursor: "0", currentAt: 0 };
    applyChanges(expected, records.slice(0, cursor), () => {});
    expect(read.entries).toEqual(expected.entries);
    expect(copy.recorded).toBeUndefined();
  });
});
