import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text as readText } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, expectTypeOf, test, vi } from "vitest";
import type { defaults } from "../../generated/features.defaults.ts";
import { operations as featuresOperations } from "../../generated/features.operations.ts";
import type { operations as Operations } from "../../generated/features.ts";
import { childStory, story } from "../../testing/messages.ts";
import { operationsOf } from "../contract/operations.ts";
import { featuresApp, featuresService } from "../features/app.ts";
import { openFeatureStore } from "../features/store/store.ts";
import { ledgerService } from "../ledger/app.ts";
import { startLedger } from "../ledger/ledger.fixture.ts";
import { feedIsComplete } from "../ledger/tables/feed.fixture.ts";
import { openLog } from "../process/log.ts";
import { openCalls } from "./calls.ts";
import {
  type CallOptions,
  type ClientOptions,
  type FeaturesClient,
  featuresClient,
  type LedgerClient,
  ledgerClient,
  ResponseError,
  type ResponseHead,
} from "./client.ts";
import type { ClientOperation } from "./operation.ts";
import { readBody } from "./response.ts";

const errorOf = (call: Promise<unknown>): Promise<ResponseError> =>
  call.then(
    () => expect.unreachable("it succeeded"),
    (error) => error,
  );

/** A listener for responses, with the heads that it has received. */
function recordHeads() {
  const heads: ResponseHead[] = [];
  return { onResponse: (head: ResponseHead) => heads.push(head), heads };
}

describe("the client of the ledger", () => {
  let service: Awaited<ReturnType<typeof startLedger>>;
  let ledger: LedgerClient;
  beforeAll(async () => {
    service = await startLedger({ eventWrites: true });
    ledger = ledgerClient({ baseUrl: service.base });
    await service.database.query("select setval(pg_get_serial_sequence('event', 'id'), 9007199254740992)");
    await service.store(
      ...["a", "b", "c", "d", "e"].map((id, hour) =>
        story("payment", id, [
          `0${hour}:00`,
          "PAYMENT_CREATED",
          { amount: 100 + hour, reference: `R ${id}&` },
        ]),
      ),
      childStory("refund", "r", "a", ["06:00", "REFUND_CREATED_BY_SERVICE", { amount: 1 }]),
      ...[0, 1, 2].map((n) => story("agreement", `agr${n}`, [`0${n}:00`, "AGREEMENT_CREATED"])),
    );
  });
  afterAll(() => service[Symbol.asyncDispose]());

  test("has a function for each operation, typed by the contract", async () => {
    const payment = await ledger.getTransaction({ transactionExternalId: "a", account_id: "57" });
    expect(payment).toMatchObject({ transaction_id: "a", amount: 100 });
    if (payment.transaction_type === "REFUND")
      expectTypeOf(payment.refunded_by).toEqualTypeOf<string | undefined>();
    const children = { parentTransactionExternalId: "a", gateway_account_id: "57" };
    expect((await ledger.listChildTransactions(children)).transactions).toMatchObject([
      { transaction_id: "r" },
    ]);
    const found = await ledger.searchTransactions({ account_id: ["57", "58"], reference: "R a&" });
    expect(found).toMatchObject({ total: 2, results: [{ transaction_id: "r" }, { transaction_id: "a" }] });
    expect(await ledger.checkHealth()).toMatchObject({ database: { healthy: true } });
    // @ts-expect-error A required parameter is missing.
    await errorOf(ledger.listChildTransactions({ parentTransactionExternalId: "a" }));
    // @ts-expect-error All parameters are missing.
    expect(await errorOf(ledger.getEvent())).toMatchObject({ message: "getEvent requires eventId" });
    // @ts-expect-error A parameter is not declared.
    const undeclared = ledger.searchTransactions({ account_id: ["57"], colour: "red" });
    expect(await errorOf(undeclared)).toMatchObject({
      message: "searchTransactions has no parameter colour",
    });
    // @ts-expect-error A parameter has a wrong type.
    await ledger.searchTransactions({ account_id: 57 });
  });

  test("returns 64-bit integers with all digits", async () => {
    const { events } = await ledger.listTransactionEvents({
      transactionExternalId: "a",
      gateway_account_id: "57",
    });
    const ids = events.map(({ event_id }) => event_id);
    expect(ids).toEqual([9007199254740993n, 9007199254740998n]);
    const event = await ledger.getEvent({ eventId: ids[0] as bigint });
    expect(event).toMatchObject({ event_id: 9007199254740993n, resource_external_id: "a" });
    expect(event.event_details).toMatchObject({ amount: 100 });
  });

  test("rejects with the status and the problem document of an error response", async () => {
    const error = await errorOf(
      ledger.getTransaction({ transactionExternalId: "unknown/..", account_id: "57" }),
    );
    expect(error).toBeInstanceOf(ResponseError);
    expect(error).toMatchObject({
      name: "ResponseError",
      operationId: "getTransaction",
      status: 404,
      message: "getTransaction returned 404: Transaction with id [unknown/..] not found",
      problem: { title: "Not Found", error_identifier: "GENERIC" },
    });
    expect(await errorOf(ledger.searchTransactions())).toMatchObject({ status: 400 });
  });

  test("iterates over all pages of a search, each requested on demand", async () => {
    const ids: string[] = [];
    for await (const { transaction_id } of ledger.eachTransaction({ account_id: ["57"], display_size: 2 })) {
      ids.push(transaction_id);
    }
    expect(ids).toEqual(["r", "e", "d", "c", "b", "a"]);
    const empty = ledger.eachTransaction({ account_id: ["57"], state: "success", status_version: 1 });
    expect(await empty.next()).toEqual({ done: true, value: undefined });
    expect(await errorOf(ledger.eachTransaction({}).next())).toMatchObject({ status: 400 });
  });

  test("iterates over all pages of a search for agreements", async () => {
    const ids = await Array.fromAsync(
      ledger.eachAgreement({ account_id: ["57", "58"], display_size: 2 }),
      ({ external_id }) => external_id,
    );
    expect(ids).toEqual(["agr2", "agr1", "agr0"]);
    expect(await errorOf(ledger.eachAgreement({}).next())).toMatchObject({ status: 400 });
  });

  test("iterates over the feed of events, and follows it", async () => {
    await feedIsComplete(service.database);
    const search = { account_id: ["57", "followed"], resource_types: ["payment" as const] };
    const { onResponse, heads } = recordHeads();
    const events = await Array.fromAsync(ledger.eachEvent({ ...search, limit: 2 }, { onResponse }));
    expect(events.map(({ resource_external_id }) => resource_external_id)).toEqual(["a", "b", "c", "d", "e"]);
    expect(events.map(({ event_id }) => event_id)).toEqual(
      [0n, 1n, 2n, 3n, 4n].map((n) => 9007199254740993n + n),
    );
    expect(heads).toHaveLength(3);
    const rest = await Array.fromAsync(ledger.eachEvent({ ...search, cursor: events[2]?.cursor }));
    expect(rest).toEqual(events.slice(3));
    const stop = new AbortController();
    const followed: typeof events = [];
    const following = (async () => {
      for await (const event of ledger.followEvents(search, { signal: stop.signal })) followed.push(event);
    })();
    await expect.poll(() => followed.length).toBe(5);
    await service.store(
      story("payment", "followed", ["01:00", "PAYMENT_CREATED", { gateway_account_id: "followed" }]),
    );
    await expect.poll(() => followed.length).toBe(6);
    expect(followed.slice(0, 5)).toEqual(events);
    expect(followed[5]?.event_id).toBeGreaterThan(9007199254740998n);
    stop.abort();
    expect(await errorOf(following)).toMatchObject({ name: "AbortError" });
    expect(await errorOf(ledger.eachEvent({ cursor: "x" }).next())).toMatchObject({ status: 400 });
  });

  test("adds events", async () => {
    const [event] = story("payment", "added", ["01:00", "PAYMENT_CREATED", { gateway_account_id: "added" }]);
    const { events } = await ledger.addEvents({ body: [event as never] });
    expect(events).toEqual([{ event_id: expect.any(BigInt), is_new: true }]);
    const again = await ledger.addEvents({ body: event as never });
    expect(again.events).toEqual([{ event_id: events[0]?.event_id, is_new: false }]);
  });

  test("exports a search as CSV", async () => {
    const pieces = await Array.fromAsync(ledger.exportTransactions({ account_id: ["57"], reference: "R b" }));
    expect(pieces.join("").split("\n")).toHaveLength(3);
    expect(pieces.join("")).toMatch(/^Reference,.*\r?\nR b&,/);
    expect(await errorOf(ledger.exportTransactions({}).next())).toMatchObject({ status: 400 });
  });

  test("iterates over the groups of a report, and exports them, with exact sums", async () => {
    const report = { account_id: ["57"], group_by: ["type" as const, "state" as const] };
    const groups = await Array.fromAsync(ledger.eachGroup({ ...report, display_size: 1 }));
    expect(groups).toEqual((await ledger.getTransactionReport(report)).groups);
    expect(groups.length).toBeGreaterThan(1);
    for (const group of groups) expect(typeof group.gross_amount).toBe("bigint");
    const csv = (await Array.fromAsync(ledger.exportGroups(report))).join("");
    expect(csv.split("\n")).toHaveLength(groups.length + 2);
    expect(await errorOf(ledger.eachGroup({}).next())).toMatchObject({ status: 400 });
  });
});

describe("the client of the feature storage", () => {
  let features: FeaturesClient;
  let baseUrl: string;
  let close: () => Promise<void>;
  beforeAll(async () => {
    const store = await openFeatureStore("memory:");
    const app = await featuresApp({ store, log: openLog("silent") });
    baseUrl = `${await app.listen({ port: 0, host: "127.0.0.1" })}/`;
    features = featuresClient({ baseUrl });
    close = () => app.close();
  });
  afterAll(() => close());

  test("accepts any name", async () => {
    for (const feature of ["..", ".", "a/b", "%2F", "ü 💷", "a?b#c", "__proto__"]) {
      const call = { resource: "..", id: "a/../b", feature };
      expect(await features.hasFeature(call)).toEqual({ result: false });
      expect(await features.addFeature(call)).toEqual({ result: true });
      expect(await features.hasFeature(call)).toEqual({ result: true });
    }
    const names = await features.listFeatures({ resource: "..", id: "a/../b" });
    expect(names).toEqual(["..", ".", "a/b", "%2F", "ü 💷", "a?b#c", "__proto__"]);
    const resource = await features.getResource({ resource: "..", id: "a/../b" });
    expect(resource).toEqual({
      ...{ resource: "..", id: "a/../b" },
      features: names.map((feature) => ({ feature })),
    });
    const records = await Array.fromAsync(features.eachResourceChange({ resource: "..", id: "a/../b" }));
    expect(records.map(({ feature }) => feature)).toEqual(names);
  });

  const specialNames = ["..", "a/b", "%2F", "ü 💷", '"', "\\", "__proto__"];

  test("has a function for each operation, typed by the contract", async () => {
    const target = { resource: "typed", id: "1" };
    const removed = await features.removeFeature({ ...target, feature: "never" });
    expectTypeOf(removed).toEqualTypeOf<undefined>();
    expect(removed).toBeUndefined();
    expect(
      await features.addFeature({ ...target, feature: "a", expires_at: "2999-01-01T00:00:00Z" }),
    ).toEqual({
      result: true,
    });
    expect(await features.removeFeatures(target)).toBeUndefined();
    expect(await features.getMetrics()).toMatch(/^# HELP /);
    // @ts-expect-error A required body is missing.
    expect(await errorOf(features.hasFeatures({}))).toMatchObject({ status: 400 });
    // @ts-expect-error A required member of the body is missing.
    expect(await errorOf(features.hasFeatures({ body: { features: ["a"] } }))).toMatchObject({ status: 400 });
    // @ts-expect-error The operation has no body.
    const withBody = features.removeFeatures({ ...target, body: {} });
    expect(await errorOf(withBody)).toMatchObject({ message: "removeFeatures has no body" });
    const wrongCase = features.listFeatures({ ...target, "if-none-match": "*" } as typeof target);
    expect(await errorOf(wrongCase)).toMatchObject({
      message: "listFeatures has no parameter if-none-match",
    });
  });

  test("sends bodies with any names", async () => {
    const pairs = specialNames.flatMap((id) =>
      specialNames.map((feature) => ({ resource: "a/../b", id, feature })),
    );
    const changes = pairs.map((pair) => ({ type: "add" as const, ...pair }));
    const { results } = await features.changeFeatures({ body: { changes } });
    expect(results).toEqual(pairs.map(() => ({ changed: true })));
    const resources = specialNames.map((id) => ({ resource: "a/../b", id }));
    const query = { resources, features: [...specialNames, "never"] };
    expect((await features.hasFeatures({ body: query })).results).toEqual(
      resources.map((resource) => ({ ...resource, has: [...specialNames.map(() => true), false] })),
    );
    const context = { resource: "a/../b", id: "..", "if-match": { anything: [1] } };
    const flags = await features.evaluateFlags({ body: { context } });
    expect(flags.flags.map(({ key }) => key)).toEqual(specialNames);
    const targetingKey = ["a/../b", "%2F"].map(encodeURIComponent).join("/");
    const flag = await features.evaluateFlag({ key: "ü 💷", body: { context: { targetingKey } } });
    expect(flag).toEqual({ key: "ü 💷", value: true, reason: "TARGETING_MATCH", variant: "on" });
  });

  test("replaces a list if its ETag has not changed", async () => {
    const target = { resource: "conditional", id: "a/b" };
    const { onResponse, heads } = recordHeads();
    await features.listFeatures(target, { onResponse });
    const etag = heads[0]?.headers.get("ETag") ?? "";
    expect(heads[0]).toMatchObject({ status: 200 });
    expect(etag).toMatch(/^".+"$/);
    const unchanged = await errorOf(
      features.listFeatures({ ...target, "If-None-Match": etag }, { onResponse }),
    );
    expect(unchanged).toMatchObject({ status: 304, message: "listFeatures returned 304" });
    expect(heads[1]?.headers.get("etag")).toBe(etag);

    expect(await features.replaceFeatures({ ...target, "If-Match": etag, body: specialNames })).toEqual(
      specialNames,
    );
    const outdated = features.replaceFeatures({ ...target, "If-Match": etag, body: [] }, { onResponse });
    expect(await errorOf(outdated)).toMatchObject({ name: "ResponseError", status: 412 });
    expect(heads.at(-1)).toMatchObject({ status: 412 });
    expect(await errorOf(features.replaceFeatures({ ...target, body: [] }))).toMatchObject({ status: 428 });
    expect(await features.listFeatures({ ...target, "If-None-Match": etag })).toEqual(specialNames);
  });

  test("iterates over the resources that have a feature", async () => {
    const ids = [...specialNames, ...Array.from({ length: 5 }, (_, index) => `id ${index}`)];
    const changes = ids.map((id) => ({ type: "add" as const, resource: "listed", id, feature: "a/b?" }));
    await features.changeFeatures({ body: { changes } });
    const { onResponse, heads } = recordHeads();
    const search = { resource: "listed", feature: "a/b?", limit: 5 };
    const found = await Array.fromAsync(features.eachResource(search, { onResponse }));
    expect(found.toSorted()).toEqual(ids.toSorted());
    expect(heads).toHaveLength(3);
    expect(await Array.fromAsync(features.eachResource({ resource: "listed", feature: "never" }))).toEqual(
      [],
    );
    // @ts-expect-error The iterator sets the cursor.
    features.eachResource({ ...search, cursor: "NDI" });
    // @ts-expect-error A search requires a feature.
    features.eachResource({ resource: "listed" });
  });

  test("iterates over the entries of a kind", async () => {
    const expires_at = "2037-03-05T09:14:22.018Z";
    const added = specialNames.map((name) => ({ resource: "kept", id: name, feature: "a/b?" }));
    const kept = [...added, { resource: "kept", id: "1", feature: "expiring", expires_at }];
    const changes = kept.map((entry) => ({ type: "add" as const, ...entry }));
    await features.changeFeatures({ body: { changes } });
    const { onResponse, heads } = recordHeads();
    const found = await Array.fromAsync(features.eachEntry({ resource: "kept", limit: 5 }, { onResponse }));
    const inOrder = (entries: object[]) => entries.map((entry) => JSON.stringify(entry)).toSorted();
    expect(inOrder(found)).toEqual(inOrder(kept));
    expect(heads.length).toBeGreaterThanOrEqual(kept.length / 5);
    expect(await Array.fromAsync(features.eachEntry({ resource: "never" }))).toEqual([]);
    // @ts-expect-error The iterator sets the cursor.
    features.eachEntry({ resource: "kept", cursor: "NDI" });
  });

  test("iterates over change records from the start or after a cursor", async () => {
    const target = { resource: "changing", id: "1" };
    const { next_cursor: cursor } = await features.listChanges({ cursor: "newest" });
    for (const feature of specialNames) await features.addFeature({ ...target, feature });
    await features.removeFeatures(target);
    const records = await Array.fromAsync(features.eachChange({ cursor, limit: 3 }));
    expect(records.map(({ type, feature }) => [type, feature])).toEqual([
      ...specialNames.map((feature) => ["added", feature]),
      ...specialNames.map((feature) => ["removed", feature]),
    ]);
    const rest = await Array.fromAsync(features.eachChange({ cursor: records[11]?.cursor }));
    expect(rest).toEqual(records.slice(12));
    expect(await Array.fromAsync(features.eachChange({ cursor: records.at(-1)?.cursor }))).toEqual([]);
    expect((await Array.fromAsync(features.eachChange())).slice(-records.length)).toEqual(records);
    expect(await errorOf(features.eachChange({ cursor: "other-1" }).next())).toMatchObject({ status: 410 });
  });

  test("iterates over the change records of a resource", async () => {
    const target = { resource: "changing", id: "one" };
    const { next_cursor: cursor } = await features.listChanges({ cursor: "newest" });
    for (const feature of specialNames) {
      await features.addFeature({ ...target, feature });
      await features.addFeature({ ...target, id: "other", feature });
    }
    const { onResponse, heads } = recordHeads();
    const search = { ...target, limit: 3 };
    const records = await Array.fromAsync(features.eachResourceChange(search, { onResponse }));
    expect(records.map(({ id, feature }) => [id, feature])).toEqual(
      specialNames.map((feature) => ["one", feature]),
    );
    expect(heads).toHaveLength(Math.ceil(specialNames.length / 3));
    const rest = await Array.fromAsync(
      features.eachResourceChange({ ...search, cursor: records[3]?.cursor }),
    );
    expect(rest).toEqual(records.slice(4));
    expect(await Array.fromAsync(features.eachResourceChange({ ...search, cursor }))).toEqual(records);
    const unknown = features.eachResourceChange({ ...search, cursor: "newest" });
    expect(await errorOf(unknown.next())).toMatchObject({ status: 410 });
  });

  describe.each<[string, Pick<ClientOptions, "fetch">]>([
    ["undici", {}],
    ["fetch", { fetch }],
  ])("follows changes by %s", (transport, by) => {
    const client = () => featuresClient({ ...by, baseUrl, timeoutMs: 300 });

    test("of the flags of a resource, until its signal aborts", async () => {
      const target = { resource: "flagged", id: transport };
      const stop = new AbortController();
      const stream = client().followFlags(target, { signal: stop.signal });
      const event = { done: false, value: { type: "refetchEvaluation" } };
      expect(await stream.next()).toEqual(event);
      const next = stream.next();
      await features.addFeature({ ...target, feature: "a" });
      expect(await next).toEqual(event);
      stop.abort(new Error("enough"));
      expect(await errorOf(stream.next())).toMatchObject({ message: "enough" });
    });

    test("as they arrive, longer than the timeout of the client, until its signal aborts", async () => {
      const target = { resource: "followed", id: `${transport} as they arrive` };
      const stop = new AbortController();
      const search = { cursor: "newest" };
      const names = ["a\u2028b", "ü 💷", '"', "d"];
      const seen: string[] = [];
      const opened = Promise.withResolvers<void>();
      const follow = (async () => {
        const options = { signal: stop.signal, onResponse: () => opened.resolve() };
        for await (const { id, feature, cursor } of client().followChanges(search, options)) {
          expect(cursor).toEqual(expect.any(String));
          if (id === target.id) seen.push(feature);
        }
      })();
      await opened.promise;
      for (const [index, feature] of names.entries()) {
        await features.addFeature({ ...target, feature });
        await expect.poll(() => seen).toEqual(names.slice(0, index + 1));
        await sleep(150);
      }
      stop.abort(new Error("cancelled"));
      expect(await errorOf(follow)).toMatchObject({ message: "cancelled" });
    });

    test("from the oldest record or after a cursor, and leaves the stream with its reader", async () => {
      const target = { resource: "followed", id: `${transport} from the oldest` };
      await features.addFeature({ ...target, feature: "first" });
      await features.addFeature({ ...target, feature: "second" });
      const all = await Array.fromAsync(features.eachChange());
      const seen: typeof all = [];
      for await (const record of client().followChanges()) if (seen.push(record) === all.length) break;
      expect(seen).toEqual(all);
      const after = client().followChanges({ cursor: all.at(-2)?.cursor });
      expect(await after.next()).toEqual({ done: false, value: all.at(-1) });
      expect(await after.return()).toEqual({ done: true, value: undefined });
      expect(await errorOf(client().followChanges({ cursor: "other-1" }).next())).toMatchObject({
        status: 410,
      });
    });

    test("and yields nothing after the signal has aborted", async () => {
      const target = { resource: "followed", id: `${transport} aborted` };
      const changes = specialNames.map((feature) => ({ type: "add" as const, ...target, feature }));
      await features.changeFeatures({ body: { changes } });
      const stop = new AbortController();
      const stream = client().followChanges({}, { signal: stop.signal });
      await stream.next();
      stop.abort(new Error("cancelled"));
      expect(await errorOf(stream.next())).toMatchObject({ message: "cancelled" });
      expect(await stream.next()).toEqual({ done: true, value: undefined });
    });
  });

  test("rejects with the message of an error response in plain text", async () => {
    const error = await errorOf(features.listFeatures({ resource: "a", id: "b".repeat(300) }));
    expect(error).toMatchObject({ status: 400, problem: undefined });
    expect(error.message).toMatch(/^listFeatures returned 400: path parameter id .* 256 characters$/);
  });
});

describe.each<[string, Pick<ClientOptions, "fetch">]>([
  ["undici", {}],
  ["fetch", { fetch }],
])("both clients by %s", (_transport, by) => {
  const received: IncomingMessage[] = [];
  const bodies: string[] = [];
  let respond: (response: ServerResponse) => void;
  const server = createServer(async (request, response) => {
    received.push(request);
    bodies.push(await readText(request));
    respond(response);
  });
  const responseWith =
    (body: string, status = 200) =>
    (response: ServerResponse) => {
      response.writeHead(status).end(body);
    };
  const never = () => undefined;
  const breakConnection = (response: ServerResponse) => response.destroy();
  /** Sends a part of a body of this length. */
  const breakBody = (part: string, length: number) => (response: ServerResponse) => {
    response.writeHead(200, { "content-length": length }).write(part);
    setTimeout(() => response.destroy(), 100);
  };
  /** The responses to the next requests. The last one is repeated. */
  const respondInTurn = (...responses: ((response: ServerResponse) => void)[]) => {
    respond = (response) => (responses.length > 1 ? responses.shift() : responses[0])?.(response);
  };
  let origin: string;
  let baseUrl: string;
  beforeAll(async () => {
    await once(server.listen(0, "127.0.0.1"), "listening");
    origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    baseUrl = `${origin}/path/of/a/proxy//`;
  });
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });
  const target = { resource: "customer", id: "42" };

  test("send a token with every call; a token function is called for each", async () => {
    respond = responseWith("[]");
    let count = 0;
    const client = featuresClient({ ...by, baseUrl, token: async () => `t${++count}` });
    await client.listFeatures(target);
    await client.listFeatures(target);
    await featuresClient({ ...by, baseUrl, token: "fixed" }).listFeatures(target);
    await featuresClient({ ...by, baseUrl, token: "" }).listFeatures(target);
    await featuresClient({ ...by, baseUrl: new URL(baseUrl) }).listFeatures(target);
    expect(received.slice(-5).map(({ headers }) => headers.authorization)).toEqual([
      "Bearer t1",
      "Bearer t2",
      "Bearer fixed",
      undefined,
      undefined,
    ]);
    expect(received.at(-1)).toMatchObject({
      url: "/path/of/a/proxy/features/customer/42",
      headers: { accept: "application/json" },
    });
  });

  test.each([featuresService, ledgerService])(
    "have operations whose parameters and body have distinct names: $contract.info.title",
    ({ contract }) => {
      for (const { operationId, parameters } of operationsOf(contract)) {
        const names = [...parameters.map(({ name }) => name), "body"];
        expect([operationId, names]).toEqual([operationId, [...new Set(names)]]);
      }
    },
  );

  test("send a body as JSON, and no content type without a body", async () => {
    respond = responseWith("", 204);
    const client = featuresClient({ ...by, baseUrl: origin });
    await client.removeFeature({ ...target, feature: "a" });
    expect(received.at(-1)?.method).toBe("DELETE");
    expect(received.at(-1)?.headers).not.toHaveProperty("content-type");
    respond = responseWith('["ü"]');
    await client.replaceFeatures({ ...target, "If-Match": "*", body: ["ü"] });
    expect(received.at(-1)).toMatchObject({
      method: "PUT",
      url: "/features/customer/42",
      headers: { "content-type": "application/json", "content-length": "6", "if-match": "*" },
    });
    await client.listFeatures({ ...target, "If-None-Match": undefined });
    expect(received.at(-1)?.headers).not.toHaveProperty("if-none-match");
  });

  test("pass every value of a response header to onResponse", async () => {
    respond = (response) => response.writeHead(200, { "X-Colour": ["red", "blue"] }).end("[]");
    const heads: ResponseHead[] = [];
    await featuresClient({ ...by, baseUrl }).listFeatures(target, { onResponse: (head) => heads.push(head) });
    expect(heads.map(({ headers }) => headers.get("x-colour"))).toEqual(["red, blue"]);
  });

  test("send the given parameters and no others", async () => {
    respond = responseWith('{"total":0,"count":0,"page":1,"results":[],"_links":{}}');
    const client = ledgerClient({ ...by, baseUrl: origin });
    await client.searchTransactions({
      account_id: ["57", "5&8"],
      limit_total: false,
      page: 2,
      email: undefined,
    });
    expect(received.at(-1)?.url).toBe("/v1/transaction/?account_id=57%2C5%268&limit_total=false&page=2");
    await client.searchTransactions();
    expect(received.at(-1)?.url).toBe("/v1/transaction/");
  });

  test.each<[string, (client: FeaturesClient, ledger: LedgerClient) => Promise<unknown>]>([
    ["hasFeature requires feature", (client) => client.hasFeature({ ...target, feature: "" })],
    ["listFeatures requires id", (client) => client.listFeatures({ resource: "a" } as never)],
    [
      "account_id must not contain a comma",
      (_, ledger) => ledger.searchTransactions({ account_id: ["a,b"] }),
    ],
  ])("reject invalid arguments without a request: %s", async (message, call) => {
    const before = received.length;
    const error = await errorOf(call(featuresClient({ ...by, baseUrl }), ledgerClient({ ...by, baseUrl })));
    expect(error).toBeInstanceOf(TypeError);
    expect(error.message).toContain(message);
    expect(received.length).toBe(before);
  });

  test.each(["ftp://127.0.0.1", "http://user:secret@127.0.0.1", "http://127.0.0.1?x=1", "127.0.0.1:80"])(
    "throw for an invalid base URL: %s",
    (invalid) => {
      expect(() => featuresClient({ ...by, baseUrl: invalid })).toThrow(TypeError);
    },
  );

  test("end a call after its timeout, which includes the token function, and when its signal aborts", async () => {
    respond = never;
    const start = performance.now();
    const client = featuresClient({ ...by, baseUrl, timeoutMs: 60 });
    expect(await errorOf(client.listFeatures(target))).toMatchObject({ name: "TimeoutError" });
    const withDefaults = featuresClient({ ...by, baseUrl });
    const { signal } = new AbortController();
    expect(await errorOf(withDefaults.listFeatures(target, { timeoutMs: 50, signal }))).toMatchObject({
      name: "TimeoutError",
    });
    const withoutToken = featuresClient({ ...by, baseUrl, timeoutMs: 50, token: () => new Promise(never) });
    expect(await errorOf(withoutToken.listFeatures(target))).toMatchObject({ name: "TimeoutError" });
    const stop = new AbortController();
    const call = errorOf(withDefaults.listFeatures(target, { signal: stop.signal }));
    stop.abort(new Error("cancelled"));
    expect(await call).toMatchObject({ message: "cancelled" });
    const ledger = ledgerClient({ ...by, baseUrl });
    for (const iterate of [ledger.eachTransaction, ledger.exportTransactions]) {
      expect(await errorOf(iterate({ account_id: ["57"] }, { signal: stop.signal }).next())).toMatchObject({
        message: "cancelled",
      });
    }
    expect(performance.now() - start).toBeLessThan(30_000);
  });

  test("wait for a slow response", async () => {
    respond = (response) => setTimeout(responseWith("[]"), 600, response);
    expect(await featuresClient({ ...by, baseUrl }).listFeatures(target)).toEqual([]);
  });

  test("decode text, wherever its bytes are split", async () => {
    respond = async (response) => {
      for (const byte of Buffer.from("Reference\nü💷\n")) {
        response.write(Buffer.of(byte));
        await new Promise((resolve) => setTimeout(resolve, 2));
      }
      response.end();
    };
    const pieces = await Array.fromAsync(
      ledgerClient({ ...by, baseUrl }).exportTransactions({ account_id: ["57"] }),
    );
    expect(pieces.every((piece) => typeof piece === "string")).toBe(true);
    expect(pieces.join("")).toBe("Reference\nü💷\n");
  });

  test.each([
    ["not JSON", 200, "<html></html>"],
    ["a redirect", 302, "[]"],
    ["an undeclared success status", 206, "[]"],
    ["an error without a problem document", 400, '{"status":400,"detail":"why"}'],
  ])("reject for an undeclared response: %s", async (_, status, text) => {
    respond = responseWith(text, status);
    expect(await errorOf(featuresClient({ ...by, baseUrl }).listFeatures(target))).toMatchObject({
      name: "ResponseError",
      status,
      text,
      problem: undefined,
      message: `listFeatures returned ${status}: ${text}`,
      ...(status === 200 && { cause: expect.any(SyntaxError) }),
    });
  });

  test("quote at most 500 characters of a response in an error message", async () => {
    respond = responseWith("x".repeat(100_000), 500);
    const error = await errorOf(featuresClient({ ...by, baseUrl }).listFeatures(target));
    expect([error.message.length < 600, error.text.length]).toEqual([true, 100_000]);
  });

  test.each([
    ['{"transaction_id":"a","events":[{"event_id":17,"data":{"event_id":17}}]}', [17n, 17]],
    [
      '{"transaction_id":"a","events":[{"event_id":-9007199254740993,"data":{"event_id":9007199254740993}}]}',
      [-9007199254740993n, 9007199254740993n],
    ],
  ])(
    "return an integer as a bigint if the contract requires it or a double cannot represent it: %s",
    async (text, [id, inside]) => {
      respond = responseWith(text);
      const call = { transactionExternalId: "a", gateway_account_id: "57" };
      const { events } = await ledgerClient({ ...by, baseUrl }).listTransactionEvents(call);
      expect([events[0]?.event_id, events[0]?.data.event_id]).toEqual([id, inside]);
    },
  );

  test("repeat a call after a transient error, and say how many attempts failed", async () => {
    const client = featuresClient({ ...by, baseUrl });
    for (const status of [429, 502, 503, 504]) {
      respondInTurn(responseWith("", status), breakConnection, responseWith('["a"]'));
      expect(await client.listFeatures(target)).toEqual(["a"]);
      respondInTurn(responseWith("", status), responseWith("busy", status));
      expect(await errorOf(client.listFeatures(target, { timeoutMs: 20_000 }))).toMatchObject({
        name: "ResponseError",
        message: `listFeatures returned ${status} after 3 attempts: busy`,
        status,
        attempts: 3,
      });
    }
    respondInTurn(breakConnection);
    expect(await errorOf(client.listFeatures(target))).toMatchObject({
      name: "ConnectionError",
      message: expect.stringMatching(/^listFeatures got no complete response after 3 attempts: ./),
      attempts: 3,
      cause: expect.any(Error),
    });
    respondInTurn(breakBody("[", 1000), responseWith('["whole"]'));
    expect(await client.listFeatures(target)).toEqual(["whole"]);
  });

  test("repeat every call that has no further effect, with its body and headers", async () => {
    respondInTurn(responseWith("", 503), responseWith('{"results":[]}'));
    const before = received.length;
    const body = { changes: [{ type: "add" as const, ...target, feature: "ü" }] };
    await featuresClient({ ...by, baseUrl }).changeFeatures({ body }, { headers: { "x-request-id": "17" } });
    const sent = received.slice(before).map(({ method, url, headers }) => [method, url, headers]);
    expect(sent).toHaveLength(2);
    expect(sent[1]).toEqual(sent[0]);
    expect(bodies.slice(-2)).toEqual([JSON.stringify(body), JSON.stringify(body)]);
  });

  test.each<[string, { retries?: number }, number, Partial<ClientOperation>]>([
    ["a permanent error", {}, 500, {}],
    ["retries: 0", { retries: 0 }, 503, {}],
    ["an operation that is not idempotent", {}, 503, { isIdempotent: false }],
  ])("do not repeat a call: %s", async (_, options, status, change) => {
    respondInTurn(responseWith("", status));
    const before = received.length;
    const operations = featuresOperations.map((operation) => ({ ...operation, ...change }));
    const { calls } = openCalls<Operations, typeof defaults>(operations, { ...by, ...options, baseUrl });
    expect(await errorOf(calls.addFeature({ ...target, feature: "a" }))).toMatchObject({
      message: `addFeature returned ${status}`,
      attempts: 1,
    });
    expect(received.length - before).toBe(1);
  });

  test("wait before a retry as long as Retry-After says, at least 50 ms, and within the timeout", async () => {
    const client = featuresClient({ ...by, baseUrl });
    const delayAfter = async (retryAfter: string, options?: CallOptions) => {
      const busy = (response: ServerResponse) => response.writeHead(503, { "retry-after": retryAfter }).end();
      respondInTurn(busy, responseWith("[]"));
      const start = performance.now();
      await client.listFeatures(target, options);
      return performance.now() - start;
    };
    expect(await delayAfter("1")).toBeGreaterThan(1000);
    const soon = Math.ceil(Date.now() / 1000) * 1000 + 1000;
    await delayAfter(new Date(soon).toUTCString());
    expect(Date.now()).toBeGreaterThanOrEqual(soon);
    for (const odd of ["soon", "-1", "Thu, 01 Jan 1970 00:00:00 GMT"])
      expect(await delayAfter(odd)).toBeGreaterThan(45);
    for (const [seconds, timeoutMs] of [
      ["61", 100_000],
      ["9".repeat(400), 100_000],
      ["30", 10_000],
    ] as const) {
      const start = performance.now();
      const error = await errorOf(delayAfter(seconds, { timeoutMs }));
      expect([error.status, error.attempts, error.headers.get("retry-after")]).toEqual([503, 1, seconds]);
      expect(performance.now() - start).toBeLessThan(5000);
    }
  });

  test("have a timeout for all attempts together", async () => {
    respondInTurn(responseWith("", 503), never);
    const error = await errorOf(featuresClient({ ...by, baseUrl, timeoutMs: 1000 }).listFeatures(target));
    expect([error.name, error.message]).toEqual([
      "TimeoutError",
      "listFeatures timed out after 1000 ms (attempts: 2)",
    ]);
    respondInTurn(responseWith("", 503));
    const stop = new AbortController();
    const busy = featuresClient({ ...by, baseUrl, retries: 1000 });
    setTimeout(() => stop.abort(new Error("cancelled")), 300);
    expect(await errorOf(busy.listFeatures(target, { signal: stop.signal }))).toMatchObject({
      message: "cancelled",
    });
  });

  test("renew a token that is rejected, once in a call", async () => {
    const requests: boolean[] = [];
    const token = async ({ refresh }: { refresh: boolean }) => {
      requests.push(refresh);
      return refresh ? "new" : "old";
    };
    const ofToken = () => received.at(-1)?.headers.authorization;
    respondInTurn(responseWith("", 401), responseWith("[]"));
    expect(await featuresClient({ ...by, baseUrl, token, retries: 0 }).listFeatures(target)).toEqual([]);
    expect([ofToken(), requests.splice(0)]).toEqual(["Bearer new", [false, true]]);

    respondInTurn(responseWith("", 401));
    const rejected = errorOf(featuresClient({ ...by, baseUrl, token }).listFeatures(target));
    expect(await rejected).toMatchObject({ status: 401, attempts: 2 });
    expect(requests.splice(0)).toEqual([false, true]);

    for (const same of ["fixed", () => "fixed"]) {
      respondInTurn(responseWith("", 401));
      const error = await errorOf(featuresClient({ ...by, baseUrl, token: same }).listFeatures(target));
      expect([error.status, error.attempts]).toEqual([401, 1]);
    }
    const failing = featuresClient({ ...by, baseUrl, token: () => Promise.reject(new Error("no token")) });
    expect(await errorOf(failing.listFeatures(target))).toMatchObject({ message: "no token" });
  });

  test("send headers with every call; those of a call and of the contract come first", async () => {
    respond = responseWith("[]");
    const headers = { "X-Request-Id": "1", Accept: "text/html", Traceparent: "a" };
    const client = featuresClient({ ...by, baseUrl, headers, token: "t" });
    await client.listFeatures(target);
    expect(received.at(-1)?.headers).toMatchObject({
      "x-request-id": "1",
      traceparent: "a",
      accept: "application/json",
      authorization: "Bearer t",
    });
    await client.listFeatures(target, { headers: { "x-request-id": "2", authorization: "Basic" } });
    expect(received.at(-1)?.headers).toMatchObject({
      "x-request-id": "2",
      traceparent: "a",
      authorization: "Bearer t",
    });
  });

  test("do not repeat a stream that has begun", async () => {
    const exported = () => Array.fromAsync(ledgerClient({ ...by, baseUrl }).exportTransactions({}));
    respondInTurn(responseWith("", 503), responseWith("a\nb\n"));
    expect((await exported()).join("")).toBe("a\nb\n");
    respondInTurn(breakBody("a\n", 1000), responseWith("a\nb\n"));
    expect(await errorOf(exported())).toMatchObject({ name: "ConnectionError", attempts: 1 });
  });

  const record = { cursor: "1-1", type: "added", feature: "ü💷" };
  const event = `id: 1-1\ndata: ${JSON.stringify(record)}\n\n`;
  /** Sends the bytes of a stream one by one, and then calls `end`. */
  const streamOf =
    (text: string, end: (response: ServerResponse) => void) => async (response: ServerResponse) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      for (const byte of Buffer.from(text)) {
        response.write(Buffer.of(byte));
        await sleep(1);
      }
      end(response);
    };
  const follow = (options?: CallOptions) =>
    featuresClient({ ...by, baseUrl }).followChanges({ cursor: "1-0" }, options);

  test.each<[string, (response: ServerResponse) => void, RegExp]>([
    ["breaks", breakConnection, /^listChanges got no complete response: ./],
    [
      "ends",
      (response) => response.end(),
      /^listChanges got no complete response: the service has ended the stream$/,
    ],
  ])("reject when a stream of changes %s, after the records that have arrived", async (_, end, message) => {
    respond = streamOf(`:\r\n\r\n${event}${event.replaceAll("\n", "\r\n")}data: {"cut`, end);
    const stream = follow();
    expect(await stream.next()).toEqual({ done: false, value: record });
    expect(await stream.next()).toEqual({ done: false, value: record });
    expect(received.at(-1)).toMatchObject({
      url: "/path/of/a/proxy/changes?cursor=1-0",
      headers: { accept: "text/event-stream" },
    });
    expect(await errorOf(stream.next())).toMatchObject({
      name: "ConnectionError",
      operationId: "listChanges",
      attempts: 1,
      message: expect.stringMatching(message),
    });
    expect(await stream.next()).toEqual({ done: true, value: undefined });
  });

  test("repeat the request of a stream of changes until it has begun", async () => {
    respondInTurn(responseWith("", 503), breakConnection, streamOf(event, never));
    const stream = follow();
    expect(await stream.next()).toEqual({ done: false, value: record });
    await stream.return();
  });

  test("reject when nothing of a stream of changes has arrived for a minute while its reader waits", async () => {
    const { setTimeout } = globalThis;
    const shortened = vi
      .spyOn(globalThis, "setTimeout")
      .mockImplementation(((work: () => void, milliseconds: number, ...args: []) =>
        setTimeout(work, milliseconds === 60_000 ? 300 : milliseconds, ...args)) as never);
    const silence = { name: "ConnectionError", message: /nothing has arrived for 60000 ms$/ };
    try {
      let closed: Promise<unknown> | undefined;
      respond = async (response) => {
        closed = once(response, "close");
        await streamOf(event, never)(response);
        for (let comments = 0; comments < 6; comments++) {
          await sleep(100);
          response.write(":\n\n");
        }
        response.write(event);
      };
      const stream = follow();
      expect(await stream.next()).toEqual({ done: false, value: record });
      // The time of the reader does not count.
      await sleep(500);
      expect(await stream.next()).toEqual({ done: false, value: record });
      const error = await errorOf(stream.next());
      expect([error.name, error.message]).toEqual([silence.name, expect.stringMatching(silence.message)]);
      await closed;

      respond = never;
      const silent = await errorOf(follow().next());
      expect([silent.name, silent.message]).toEqual([silence.name, expect.stringMatching(silence.message)]);
    } finally {
      shortened.mockRestore();
    }
  });

  test("have a timeout for a stream of changes only if the call has one", async () => {
    respond = streamOf(":\n\n", never);
    expect(await errorOf(follow({ timeoutMs: 200 }).next())).toMatchObject({ name: "TimeoutError" });
    const stop = new AbortController();
    setTimeout(() => stop.abort(new Error("cancelled")), 500);
    const unlimited = featuresClient({ ...by, baseUrl, timeoutMs: 100 });
    const stream = unlimited.followChanges({}, { signal: stop.signal, timeoutMs: undefined as never });
    expect(await errorOf(stream.next())).toMatchObject({ message: "cancelled" });
  });

  test("have no timeout if it is infinite", async () => {
    respond = (response) => setTimeout(responseWith("[]"), 100, response);
    const client = featuresClient({ ...by, baseUrl, timeoutMs: Number.POSITIVE_INFINITY });
    expect(await client.listFeatures(target)).toEqual([]);
  });

  test("end the request if onResponse throws", async () => {
    let closed: Promise<unknown> | undefined;
    respond = (response) => {
      closed = once(response, "close");
      response.write("[");
    };
    const onResponse = () => {
      throw new Error("mine");
    };
    const call = featuresClient({ ...by, baseUrl }).listFeatures(target, { onResponse });
    expect(await errorOf(call)).toMatchObject({ message: "mine" });
    await closed;
  });

  test("end the request of a stream that its reader leaves", async () => {
    let closed: Promise<unknown> | undefined;
    respond = (response) => {
      closed = once(response, "close");
      response.write("a\n");
    };
    for await (const text of ledgerClient({ ...by, baseUrl }).exportTransactions({})) {
      expect(text).toBe("a\n");
      break;
    }
    await closed;
  });
});

test("fetch cannot send the name .., so the client rejects it", async () => {
  const client = featuresClient({ baseUrl: "http://127.0.0.1:1", fetch });
  for (const names of [{ id: ".." }, { resource: "." }]) {
    const error = await errorOf(client.listFeatures({ resource: "customer", id: "42", ...names }));
    expect(error).toBeInstanceOf(TypeError);
    expect(error.message).toBe('listFeatures: fetch cannot send a name that is "." or ".."');
  }
});

test("by fetch, every other name arrives", async () => {
  const paths: string[] = [];
  const client = featuresClient({
    baseUrl: "http://127.0.0.1:1/base",
    fetch: async (url) => {
      paths.push(new URL(String(url)).pathname);
      return new Response("[]");
    },
  });
  const names = ["...", "%2e%2e", "a/..", "~!*()'", " .", "\u0000", '|^`{}"<>', "ü💷", "?#&=+;:@,$[]\\"];
  for (const id of names) await client.listFeatures({ resource: id, id });
  const segments = names.map(encodeURIComponent);
  expect(paths).toEqual(segments.map((name) => `/base/features/${name}/${name}`));
});

test("every integer of a response has all its digits, and every other value is that of JSON.parse", () => {
  const integer = fc.bigInt({ min: -(2n ** 70n), max: 2n ** 70n });
  const piece = fc.oneof(
    integer.map(String),
    fc.double().map(String),
    fc.constantFrom('"', "\\", "\\u0022", ",", "]"),
  );
  const text = fc.oneof(
    fc.string(),
    fc.array(piece).map((pieces) => pieces.join("")),
  );
  const leaf = fc.oneof(
    integer.map(String),
    fc.double({ noDefaultInfinity: true, noNaN: true }).map((value) => JSON.stringify(value)),
    text.map((value) => JSON.stringify(value)),
    fc.constantFrom("null", "true", "1e30", "-0", "1.0000000000000000000", "0.12345678901234567890E+1"),
  );
  const json = fc.letrec<{ node: string }>((tie) => ({
    node: fc.oneof(
      { maxDepth: 3 },
      leaf,
      fc.array(tie("node")).map((items) => `[${items.join(" ,")}]`),
      // Names are unique: of a repeated one JSON.parse passes no source to its reviver.
      fc
        .uniqueArray(fc.tuple(text, tie("node")), { selector: ([name]) => name })
        .map((members) => `{${members.map(([name, value]) => `${JSON.stringify(name)}: ${value}`).join()}}`),
    ),
  })).node;
  const exactly = (_key: string, value: unknown, { source = "" }: { source?: string } = {}) =>
    typeof value === "number" && !Number.isSafeInteger(value) && /^-?\d+$/.test(source)
      ? BigInt(source)
      : value;
  fc.assert(
    fc.property(json, (document) => {
      const expected = JSON.parse(document, exactly as (key: string, value: unknown) => unknown);
      expect(readBody({ type: "json", bigints: [] }, document)).toEqual(expected);
    }),
    { numRuns: 2000 },
  );
});
