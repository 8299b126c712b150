import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, expectTypeOf, test } from "vitest";
import { childStory, story } from "../../testing/messages.ts";
import { operationsOf } from "../contract/operations.ts";
import { featuresService } from "../features/app.ts";
import { startFeatures } from "../features/tests/features.fixture.ts";
import { ledgerService } from "../ledger/app.ts";
import { feedIsComplete } from "../ledger/tables/feed/feed.fixture.ts";
import { startLedger } from "../ledger/tests/ledger.fixture.ts";
import {
  type FeaturesClient,
  featuresClient,
  InvalidRequestError,
  type LedgerClient,
  ledgerClient,
  NotFoundError,
  ResponseError,
  type ResponseHead,
} from "./client.ts";
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
  const created = (id: string, time: string, details: object) =>
    story("payment", id, [time, "PAYMENT_CREATED", details]);
  beforeAll(async () => {
    service = await startLedger({ eventWrites: true });
    ledger = ledgerClient({ baseUrl: service.base });
    await service.database.query("select setval(pg_get_serial_sequence('event', 'id'), 9007199254740992)");
    await service.store(
      ...["a", "b", "c", "d", "e"].map((id, hour) =>
        created(id, `0${hour}:00`, { amount: 100 + hour, reference: `R ${id}&` }),
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
    const { transactions } = await ledger.listChildTransactions(children);
    expect(transactions).toMatchObject([{ transaction_id: "r" }]);
    const found = await ledger.searchTransactions({ account_id: ["57", "58"], reference: "R a&" });
    expect(found).toMatchObject({ total: 2, results: [{ transaction_id: "r" }, { transaction_id: "a" }] });
    const query = { account_id: ["57", "58"], reference: "R a&" };
    expect(await ledger.queryTransactions({ body: query })).toMatchObject({ total: 2 });
    expect(await ledger.checkHealth()).toMatchObject({ database: { healthy: true } });
    // @ts-expect-error A required parameter is missing.
    await errorOf(ledger.listChildTransactions({ parentTransactionExternalId: "a" }));
    // @ts-expect-error All parameters are missing.
    expect(await errorOf(ledger.getEvent())).toMatchObject({ message: "getEvent requires eventId" });
    // @ts-expect-error A parameter is not declared.
    const undeclared = await errorOf(ledger.searchTransactions({ account_id: ["57"], colour: "red" }));
    expect(undeclared).toMatchObject({ message: "searchTransactions has no parameter colour" });
    // @ts-expect-error A parameter has a wrong type.
    await ledger.searchTransactions({ account_id: 57 });
  });

  test("returns 64-bit integers with all digits", async () => {
    const call = { transactionExternalId: "a", extended: true, gateway_account_id: "57" };
    const { events } = await ledger.listTransactionEvents(call);
    expect(events.map(({ event_id }) => event_id)).toEqual([9007199254740993n, 9007199254740998n]);
    expect(await ledger.getEvent({ eventId: 9007199254740993n })).toMatchObject({
      ...{ event_id: 9007199254740993n, resource_external_id: "a", event_details: { amount: 100 } },
    });
  });

  test("rejects with the status and the problem document of an error response", async () => {
    const call = { transactionExternalId: "unknown/..", account_id: "57" };
    const error = await errorOf(ledger.getTransaction(call));
    expect(error).toBeInstanceOf(ResponseError);
    expect(error).toBeInstanceOf(NotFoundError);
    expect(error).toMatchObject({
      name: "NotFoundError",
      operationId: "getTransaction",
      status: 404,
      message: "getTransaction returned 404: Transaction with id [unknown/..] not found",
      problem: {
        ...{ type: "/problems/not-found", title: "Nothing matches the request", status: 404 },
        ...{ detail: "Transaction with id [unknown/..] not found", error_identifier: "GENERIC" },
      },
    });
  });

  test("iterates over all pages of a search", async () => {
    const search = { account_id: ["57", "58"], display_size: 2 };
    const transactions = await Array.fromAsync(ledger.eachTransaction(search));
    expect(transactions.map(({ transaction_id }) => transaction_id)).toEqual([..."redcba"]);
    const agreements = await Array.fromAsync(ledger.eachAgreement(search));
    expect(agreements.map(({ external_id }) => external_id)).toEqual(["agr2", "agr1", "agr0"]);
    const account_id = Array.from({ length: 1000 }, (_, n) =>
      n === 999 ? "57" : `a-long-name-of-an-account-${n}`,
    );
    expect(await Array.fromAsync(ledger.eachTransaction({ account_id, display_size: 2 }))).toHaveLength(6);
    const empty = ledger.eachTransaction({ ...search, state: "success", status_version: 1 });
    expect(await empty.next()).toEqual({ done: true, value: undefined });
  });

  test("iterates over the feed of events, and follows it", async () => {
    await feedIsComplete(service.database);
    const search = { account_id: ["57", "followed"], resource_types: ["payment" as const] };
    const { onResponse, heads } = recordHeads();
    const events = await Array.fromAsync(ledger.eachEvent({ ...search, limit: 2 }, { onResponse }));
    expect(events.map(({ resource_external_id, event_id }) => [resource_external_id, event_id])).toEqual(
      [..."abcde"].map((id, index) => [id, 9007199254740993n + BigInt(index)]),
    );
    expect(heads).toHaveLength(3);
    const rest = await Array.fromAsync(ledger.eachEvent({ ...search, cursor: events[2]?.cursor }));
    expect(rest).toEqual(events.slice(3));
    const stop = new AbortController();
    const following = ledger.followEvents(search, { signal: stop.signal });
    for (const event of events) expect(await following.next()).toEqual({ done: false, value: event });
    const next = following.next();
    await service.store(created("followed", "01:00", { gateway_account_id: "followed" }));
    const value = { resource_external_id: "followed", event_id: expect.any(BigInt) };
    expect(await next).toMatchObject({ value });
    stop.abort();
    expect(await errorOf(following.next())).toMatchObject({ name: "AbortError" });
  });

  test("adds events", async () => {
    const [event] = created("added", "01:00", { gateway_account_id: "added" });
    const { events } = await ledger.addEvents({ body: [event as never] });
    expect(events).toEqual([{ event_id: expect.any(BigInt), is_new: true }]);
    const again = await ledger.addEvents({ body: event as never });
    expect(again.events).toEqual([{ event_id: events[0]?.event_id, is_new: false }]);
  });

  test("iterates over the groups of a report, with exact sums, and exports it and a search as CSV", async () => {
    const report = { account_id: ["57"], group_by: ["type" as const, "state" as const] };
    const groups = await Array.fromAsync(ledger.eachGroup({ ...report, display_size: 1 }));
    expect(groups).toEqual((await ledger.getTransactionReport(report)).groups);
    expect(groups.length).toBeGreaterThan(1);
    for (const group of groups) expect(typeof group.gross_amount).toBe("bigint");
    const csv = (await Array.fromAsync(ledger.exportGroups(report))).join("");
    expect(csv.split("\n")).toHaveLength(groups.length + 2);
    const search = ledger.exportTransactions({ account_id: ["57"], reference: "R b" });
    expect((await Array.fromAsync(search)).join("")).toMatch(/^Reference,.*\r?\nR b&,.*\n$/);
  });

  test("reads what the ledger knew at the position of a response, on every page, and why it has changed", async () => {
    const details = { gateway_account_id: "known", amount: 100 };
    const started = story(
      "payment",
      "known-2",
      ["02:00", "PAYMENT_CREATED", details],
      ["02:01", "PAYMENT_STARTED"],
    );
    await service.store(created("known-1", "01:00", details), started);
    const { onResponse, heads } = recordHeads();
    const report = { account_id: ["known"], group_by: ["state" as const], display_size: 1 };
    const { position: known_at } = await ledger.getTransactionReport(report, { onResponse });
    expectTypeOf(known_at).toEqualTypeOf<string | undefined>();
    expect(known_at).toEqual(heads[0]?.headers.get("Ledger-Position"));
    const groups = await Array.fromAsync(ledger.eachGroup({ ...report, known_at }));
    await service.store(created("known-3", "03:00", details));
    expect(await Array.fromAsync(ledger.eachGroup({ ...report, known_at }))).toEqual(groups);
    const unlisted = Array.from({ length: 300 }, (_, n) => `unlisted-${n}`);
    for (const account_id of [["known"], ["known", ...unlisted]]) {
      const search = { account_id, display_size: 1 };
      const then = await Array.fromAsync(ledger.eachTransaction({ ...search, known_at }));
      expect(then.map(({ transaction_id }) => transaction_id)).toEqual(["known-2", "known-1"]);
      expect(await Array.fromAsync(ledger.eachTransaction(search))).toHaveLength(3);
    }
    const csv = await Array.fromAsync(ledger.exportTransactions({ account_id: ["known"], known_at }));
    expect(csv.join("").trim().split("\n")).toHaveLength(3);
    const third = { transactionExternalId: "known-3", account_id: "known" };
    expect(await errorOf(ledger.getTransaction({ ...third, known_at }))).toMatchObject({ status: 404 });
    expect(await ledger.getTransaction({ ...third, at_least: known_at })).toMatchObject({ amount: 100 });
    const { changes } = await ledger.listTransactionReportChanges({ ...report, since: known_at });
    expect(changes).toMatchObject([
      {
        transaction_id: "known-3",
        event: { event_type: "PAYMENT_CREATED", event_id: expect.any(BigInt) },
        groups: [{ state: "created", count: 1, gross_amount: 100n }],
      },
    ]);
  });

  test.each(["eachTransaction", "exportTransactions", "eachAgreement", "eachEvent", "eachGroup"] as const)(
    "rejects in %s with an error response",
    async (name) => {
      const iterate: (search: object) => AsyncIterator<unknown> = ledger[name] as never;
      expect(await errorOf(iterate({ cursor: "x" }).next())).toMatchObject({ status: 400 });
    },
  );
});

describe("the client of the feature storage", () => {
  let service: Awaited<ReturnType<typeof startFeatures>>;
  let features: FeaturesClient;
  beforeAll(async () => {
    service = await startFeatures();
    features = featuresClient({ baseUrl: `${service.base}/` });
  });
  afterAll(() => service[Symbol.asyncDispose]());

  const specialNames = ["..", ".", "a/b", "%2F", "ü 💷", "a?b#c", '"\\', "__proto__"];

  test("has a function for each operation, typed by the contract", async () => {
    const target = { resource: "typed", id: "1" };
    const removed = await features.removeFeature({ ...target, feature: "never" });
    expectTypeOf(removed).toEqualTypeOf<undefined>();
    expect(removed).toBeUndefined();
    const expiring = { ...target, feature: "..", expires_at: "2999-01-01T00:00:00Z" };
    expect(await features.addFeature(expiring)).toEqual({ result: true });
    expect(await features.hasFeature({ ...target, feature: ".." })).toEqual({ result: true });
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
    expect((await errorOf(wrongCase)).message).toBe("listFeatures has no parameter if-none-match");
  });

  test("sends bodies with any names", async () => {
    const resource = "a/../b";
    const resources = specialNames.map((id) => ({ resource, id }));
    const pairs = resources.flatMap((one) => specialNames.map((feature) => ({ ...one, feature })));
    const changes = pairs.map((pair) => ({ type: "add" as const, ...pair }));
    const { results } = await features.changeFeatures({ body: { changes } });
    expect(results).toEqual(pairs.map(() => ({ changed: true })));
    const query = { resources, features: [...specialNames, "never"] };
    expect(await features.queryFeatures({ body: query })).toEqual(
      await features.hasFeatures({ body: query }),
    );
    expect((await features.hasFeatures({ body: query })).results).toEqual(
      resources.map((resource) => ({ ...resource, has: [...specialNames.map(() => true), false] })),
    );
    const context = { resource, id: "..", "if-match": { anything: [1] } };
    const { flags } = await features.evaluateFlags({ body: { context } });
    expect(flags.map(({ key }) => key)).toEqual(specialNames);
    const targetingKey = [resource, "%2F"].map(encodeURIComponent).join("/");
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
    const unchanged = features.listFeatures({ ...target, "If-None-Match": etag }, { onResponse });
    const message = "listFeatures returned 304";
    expect(await errorOf(unchanged)).toMatchObject({ status: 304, message });
    expect(heads[1]?.headers.get("etag")).toBe(etag);
    const replace = (body: string[]) =>
      features.replaceFeatures({ ...target, "If-Match": etag, body }, { onResponse });
    expect(await replace(specialNames)).toEqual(specialNames);
    const outdated = await errorOf(replace([]));
    expect(outdated).toMatchObject({ name: "PreconditionFailedError", status: 412 });
    expect(heads.at(-1)).toMatchObject({ status: 412 });
    // @ts-expect-error The contract requires the header.
    const unconditional = features.replaceFeatures({ ...target, body: [] });
    expect(await errorOf(unconditional)).toMatchObject({ status: 428 });
    expect(await features.listFeatures({ ...target, "If-None-Match": etag })).toEqual(specialNames);
  });

  test("rejects with the fault of a request and its remedy", async () => {
    const search = { resource: "kept", feature: "a", limit: 5000 };
    const error = await errorOf(features.listResources(search));
    expect(error).toBeInstanceOf(InvalidRequestError);
    const remedy = [{ op: "replace", path: "/limit", value: "1000" }];
    expect(error.problem?.errors).toMatchObject([{ parameter: "limit", rule: { maximum: 1000 }, remedy }]);
  });

  test("iterates over the pages of a kind: its resources and its entries", async () => {
    const entries = [
      ...specialNames.map((id) => ({ resource: "kept", id, feature: "a/b?" })),
      { resource: "kept", id: "1", feature: "expiring", expires_at: "2037-03-05T09:14:22.018Z" },
    ];
    const changes = entries.map((entry) => ({ type: "add" as const, ...entry }));
    await features.changeFeatures({ body: { changes } });
    const { onResponse, heads } = recordHeads();
    const search = { resource: "kept", feature: "a/b?", limit: 3 };
    const ids = await Array.fromAsync(features.eachResource(search, { onResponse }));
    expect(ids.toSorted()).toEqual(specialNames.toSorted());
    expect(heads).toHaveLength(3);
    const found = await Array.fromAsync(features.eachEntry({ resource: "kept", limit: 3 }, { onResponse }));
    expect(found).toHaveLength(entries.length);
    expect(found).toEqual(expect.arrayContaining(entries));
    expect(heads.length).toBeGreaterThanOrEqual(3 + entries.length / 3);
    expect(await Array.fromAsync(features.eachResource({ ...search, feature: "never" }))).toEqual([]);
    expect(await Array.fromAsync(features.eachEntry({ resource: "never" }))).toEqual([]);
    // @ts-expect-error The iterator sets the cursor.
    features.eachResource({ ...search, cursor: "NDI" });
    // @ts-expect-error A search requires a feature.
    features.eachResource({ resource: "kept" });
    // @ts-expect-error The iterator sets the cursor.
    features.eachEntry({ resource: "kept", cursor: "NDI" });
  });

  test("iterates over change records, of all resources or of one, from the start or after a cursor", async () => {
    // Its path is /resources/../changes/changes.
    const target = { resource: "..", id: "changes" };
    const { next_cursor: cursor } = await features.listChanges({ cursor: "newest" });
    for (const feature of specialNames) await features.addFeature({ ...target, feature });
    const list = specialNames.map((feature) => ({ feature }));
    expect(await features.getResource(target)).toEqual({ ...target, features: list });
    await features.addFeature({ ...target, id: "2", feature: "a" });
    await features.removeFeatures(target);
    const { onResponse, heads } = recordHeads();
    const all = await Array.fromAsync(features.eachChange({ cursor, limit: 3 }, { onResponse }));
    expect(all.map(({ type, id, feature }) => [type, id, feature])).toEqual([
      ...specialNames.map((feature) => ["added", target.id, feature]),
      ["added", "2", "a"],
      ...specialNames.map((feature) => ["removed", target.id, feature]),
    ]);
    expect(heads).toHaveLength(Math.ceil(all.length / 3) + 1);
    const after = (at: number) => Array.fromAsync(features.eachChange({ cursor: all.at(at)?.cursor }));
    expect(await after(11)).toEqual(all.slice(12));
    expect(await after(-1)).toEqual([]);
    expect((await Array.fromAsync(features.eachChange())).slice(-all.length)).toEqual(all);

    const ofOne = all.filter(({ id }) => id === target.id);
    const search = { ...target, limit: 3 };
    const requests = recordHeads();
    expect(await Array.fromAsync(features.eachResourceChange(search, requests))).toEqual(ofOne);
    expect(requests.heads).toHaveLength(Math.ceil(ofOne.length / 3));
    const rest = features.eachResourceChange({ ...search, cursor: ofOne[3]?.cursor });
    expect(await Array.fromAsync(rest)).toEqual(ofOne.slice(4));
    for (const gone of [
      features.eachChange({ cursor: "other-1" }),
      features.followChanges({ cursor: "other-1" }),
      features.eachResourceChange({ ...search, cursor: "newest" }),
    ]) {
      expect(await errorOf(gone.next())).toMatchObject({ status: 410 });
    }
  });

  test("follows the flags of a resource, until its signal aborts", async () => {
    const target = { resource: "flagged", id: "1" };
    const stop = new AbortController();
    const stream = features.followFlags(target, { signal: stop.signal });
    const event = { done: false, value: { type: "refetchEvaluation" } };
    expect(await stream.next()).toEqual(event);
    const next = stream.next();
    await features.addFeature({ ...target, feature: "a" });
    expect(await next).toEqual(event);
    stop.abort(new Error("enough"));
    expect(await errorOf(stream.next())).toMatchObject({ message: "enough" });
  });

  test("follows changes from the oldest record or after a cursor, as they arrive", async () => {
    const target = { resource: "followed", id: "1" };
    for (const feature of ["first", "second"]) await features.addFeature({ ...target, feature });
    const all = await Array.fromAsync(features.eachChange());
    const seen: typeof all = [];
    for await (const record of features.followChanges()) if (seen.push(record) === all.length) break;
    expect(seen).toEqual(all);
    const stop = new AbortController();
    const changes = features.followChanges({ cursor: all.at(-2)?.cursor }, { signal: stop.signal });
    expect(await changes.next()).toEqual({ done: false, value: all.at(-1) });
    for (const feature of ["a\u2028b", "ü 💷", '"']) {
      const next = changes.next();
      await features.addFeature({ ...target, feature });
      expect(await next).toMatchObject({ value: { ...target, feature, cursor: expect.any(String) } });
    }
    const next = errorOf(changes.next());
    stop.abort(new Error("cancelled"));
    expect(await next).toMatchObject({ message: "cancelled" });
  });
});

test.each([featuresService, ledgerService])(
  "no operation has a parameter twice, or one that is named as its body: $contract.info.title",
  ({ contract }) => {
    for (const { operationId, parameters } of operationsOf(contract)) {
      const names = [...parameters.map(({ name }) => name), "body"];
      expect([operationId, names]).toEqual([operationId, [...new Set(names)]]);
    }
  },
);

test("every integer of a response has all its digits, and every other value is that of JSON.parse", () => {
  const integer = fc.bigInt({ min: -(2n ** 70n), max: 2n ** 70n });
  const special = fc.constantFrom('"', "\\", "\\u0022", ",", "]");
  const text = fc.oneof(
    fc.string(),
    fc.array(fc.oneof(integer.map(String), special)).map((pieces) => pieces.join("")),
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
    { numRuns: 300 },
  );
});
