import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, expectTypeOf, test } from "vitest";
import { childStory, story } from "../../testing/messages.ts";
import { operationsOf } from "../contract/operations.ts";
import { featuresApp, featuresService } from "../features/app.ts";
import { openFeatureStore } from "../features/store/store.ts";
import { ledgerService } from "../ledger/app.ts";
import { startLedger } from "../ledger/ledger.fixture.ts";
import { openLog } from "../process/log.ts";
import {
  type FeaturesClient,
  featuresClient,
  type LedgerClient,
  ledgerClient,
  ResponseError,
  type ResponseHead,
} from "./client.ts";

const refusal = (call: Promise<unknown>): Promise<ResponseError> =>
  call.then(
    () => expect.unreachable("it succeeded"),
    (error) => error,
  );

describe("a client of the ledger", () => {
  let service: Awaited<ReturnType<typeof startLedger>>;
  let ledger: LedgerClient;
  beforeAll(async () => {
    service = await startLedger();
    ledger = ledgerClient({ baseUrl: service.base });
    await service.database.query("select setval(pg_get_serial_sequence('event', 'id'), 9007199254740992)");
    await service.tell(
      ...["a", "b", "c", "d", "e"].map((id, hour) =>
        story("payment", id, [
          `0${hour}:00`,
          "PAYMENT_CREATED",
          { amount: 100 + hour, reference: `R ${id}&` },
        ]),
      ),
      childStory("refund", "r", "a", ["06:00", "REFUND_CREATED_BY_SERVICE", { amount: 1 }]),
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
    // @ts-expect-error A parameter that is required cannot be left out.
    await refusal(ledger.listChildTransactions({ parentTransactionExternalId: "a" }));
    // @ts-expect-error Nor can all of them.
    expect(await refusal(ledger.getEvent())).toMatchObject({ message: "getEvent requires eventId" });
    // @ts-expect-error What is not declared cannot be given,
    const odd = ledger.searchTransactions({ account_id: ["57"], colour: "red" });
    expect(await refusal(odd)).toMatchObject({ message: "searchTransactions has no parameter colour" });
    // @ts-expect-error nor what has another type.
    await ledger.searchTransactions({ account_id: 57 });
  });

  test("reads 64-bit integers with all their digits", async () => {
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

  test("tells a problem as an error that can be told apart", async () => {
    const error = await refusal(
      ledger.getTransaction({ transactionExternalId: "nobody/..", account_id: "57" }),
    );
    expect(error).toBeInstanceOf(ResponseError);
    expect(error).toMatchObject({
      name: "ResponseError",
      operationId: "getTransaction",
      status: 404,
      message: "getTransaction returned 404: Transaction with id [nobody/..] not found",
      problem: { title: "Not Found", error_identifier: "GENERIC" },
    });
    expect(await refusal(ledger.searchTransactions())).toMatchObject({ status: 400 });
  });

  test("walks through all pages of a search, and asks for a page when it is needed", async () => {
    const seen: string[] = [];
    for await (const { transaction_id } of ledger.eachTransaction({ account_id: ["57"], display_size: 2 })) {
      seen.push(transaction_id);
    }
    expect(seen).toEqual(["r", "e", "d", "c", "b", "a"]);
    const bad = ledger.eachTransaction({ account_id: ["57"], state: "success", status_version: 1 });
    expect(await bad.next()).toEqual({ done: true, value: undefined });
    expect(await refusal(ledger.eachTransaction({}).next())).toMatchObject({ status: 400 });
  });

  test("exports a search as CSV", async () => {
    const pieces = await Array.fromAsync(ledger.exportTransactions({ account_id: ["57"], reference: "R b" }));
    expect(pieces.join("").split("\n")).toHaveLength(3);
    expect(pieces.join("")).toMatch(/^Reference,.*\r?\nR b&,/);
    expect(await refusal(ledger.exportTransactions({}).next())).toMatchObject({ status: 400 });
  });
});

describe("a client of the feature storage", () => {
  let features: FeaturesClient;
  let close: () => Promise<void>;
  beforeAll(async () => {
    const store = await openFeatureStore("memory:");
    const app = await featuresApp({ store, log: openLog("silent") });
    features = featuresClient({ baseUrl: `${await app.listen({ port: 0, host: "127.0.0.1" })}/` });
    close = () => app.close();
  });
  afterAll(() => close());

  test("takes any name", async () => {
    for (const feature of ["..", ".", "a/b", "%2F", "ü 💷", "a?b#c", "__proto__"]) {
      const one = { resource: "..", id: "a/../b", feature };
      expect(await features.hasFeature(one)).toEqual({ result: false });
      expect(await features.addFeature(one)).toEqual({ result: true });
      expect(await features.hasFeature(one)).toEqual({ result: true });
    }
    const names = await features.listFeatures({ resource: "..", id: "a/../b" });
    expect(names).toEqual(["..", ".", "a/b", "%2F", "ü 💷", "a?b#c", "__proto__"]);
  });

  const oddNames = ["..", "a/b", "%2F", "ü 💷", '"', "\\", "__proto__"];
  /** The next reply's head, once there is one. */
  function seeReply() {
    const seen: ResponseHead[] = [];
    return { onResponse: (reply: ResponseHead) => seen.push(reply), seen };
  }

  test("has a function for each operation, typed by the contract", async () => {
    const one = { resource: "typed", id: "1" };
    const removed = await features.removeFeature({ ...one, feature: "never" });
    expectTypeOf(removed).toEqualTypeOf<undefined>();
    expect(removed).toBeUndefined();
    expect(await features.addFeature({ ...one, feature: "a", expires_at: "2999-01-01T00:00:00Z" })).toEqual({
      result: true,
    });
    expect(await features.removeFeatures(one)).toBeUndefined();
    expect(await features.getMetrics()).toMatch(/^# HELP /);
    // @ts-expect-error A body that is required cannot be left out,
    expect(await refusal(features.hasFeatures({}))).toMatchObject({ status: 400 });
    // @ts-expect-error nor can a member of it,
    expect(await refusal(features.hasFeatures({ body: { features: ["a"] } }))).toMatchObject({ status: 400 });
    // @ts-expect-error and what takes no body gets none.
    const odd = features.removeFeatures({ ...one, body: {} });
    expect(await refusal(odd)).toMatchObject({ message: "removeFeatures has no body" });
    const strange = features.listFeatures({ ...one, "if-none-match": "*" } as typeof one);
    expect(await refusal(strange)).toMatchObject({ message: "listFeatures has no parameter if-none-match" });
  });

  test("sends bodies, whatever the names in them", async () => {
    const pairs = oddNames.flatMap((id) => oddNames.map((feature) => ({ resource: "a/../b", id, feature })));
    const changes = pairs.map((pair) => ({ type: "add" as const, ...pair }));
    const { results } = await features.changeFeatures({ body: { changes } });
    expect(results).toEqual(pairs.map(() => ({ changed: true })));
    const resources = oddNames.map((id) => ({ resource: "a/../b", id }));
    const query = { resources, features: [...oddNames, "never"] };
    expect((await features.hasFeatures({ body: query })).results).toEqual(
      resources.map((resource) => ({ ...resource, has: [...oddNames.map(() => true), false] })),
    );
    const context = { resource: "a/../b", id: "..", "if-match": { anything: [1] } };
    const flags = await features.evaluateFlags({ body: { context } });
    expect(flags.flags.map(({ key }) => key)).toEqual(oddNames);
    const targetingKey = ["a/../b", "%2F"].map(encodeURIComponent).join("/");
    const flag = await features.evaluateFlag({ key: "ü 💷", body: { context: { targetingKey } } });
    expect(flag).toEqual({ key: "ü 💷", value: true, reason: "TARGETING_MATCH" });
  });

  test("replaces a list on the condition that it is the one that was seen", async () => {
    const one = { resource: "conditional", id: "a/b" };
    const { onResponse, seen } = seeReply();
    await features.listFeatures(one, { onResponse });
    const etag = seen[0]?.headers.get("ETag") ?? "";
    expect(seen[0]).toMatchObject({ status: 200 });
    expect(etag).toMatch(/^".+"$/);
    const same = await refusal(features.listFeatures({ ...one, "If-None-Match": etag }, { onResponse }));
    expect(same).toMatchObject({ status: 304, message: "listFeatures returned 304" });
    expect(seen[1]?.headers.get("etag")).toBe(etag);

    expect(await features.replaceFeatures({ ...one, "If-Match": etag, body: oddNames })).toEqual(oddNames);
    const late = features.replaceFeatures({ ...one, "If-Match": etag, body: [] }, { onResponse });
    expect(await refusal(late)).toMatchObject({ name: "ResponseError", status: 412 });
    expect(seen.at(-1)).toMatchObject({ status: 412 });
    expect(await refusal(features.replaceFeatures({ ...one, body: [] }))).toMatchObject({ status: 428 });
    expect(await features.listFeatures({ ...one, "If-None-Match": etag })).toEqual(oddNames);
  });

  test("walks through the resources that have a feature", async () => {
    const ids = [...oddNames, ...Array.from({ length: 5 }, (_, index) => `id ${index}`)];
    const changes = ids.map((id) => ({ type: "add" as const, resource: "walked", id, feature: "a/b?" }));
    await features.changeFeatures({ body: { changes } });
    const { onResponse, seen } = seeReply();
    const search = { resource: "walked", feature: "a/b?", limit: 5 };
    const found = await Array.fromAsync(features.eachResource(search, { onResponse }));
    expect(found.toSorted()).toEqual(ids.toSorted());
    expect(seen).toHaveLength(3);
    expect(await Array.fromAsync(features.eachResource({ resource: "walked", feature: "never" }))).toEqual(
      [],
    );
    // @ts-expect-error Where a page begins is not the caller's business here,
    features.eachResource({ ...search, cursor: "NDI" });
    // @ts-expect-error and of all resources none is asked for.
    features.eachResource({ resource: "walked" });
  });

  test("walks through the changes there are, from where it is told", async () => {
    const one = { resource: "changing", id: "1" };
    const { next_cursor: cursor } = await features.listChanges({ cursor: "newest" });
    for (const feature of oddNames) await features.addFeature({ ...one, feature });
    await features.removeFeatures(one);
    const told = await Array.fromAsync(features.eachChange({ cursor, limit: 3 }));
    expect(told.map(({ type, feature }) => [type, feature])).toEqual([
      ...oddNames.map((feature) => ["added", feature]),
      ...oddNames.map((feature) => ["removed", feature]),
    ]);
    const rest = await Array.fromAsync(features.eachChange({ cursor: told[11]?.cursor }));
    expect(rest).toEqual(told.slice(12));
    expect(await Array.fromAsync(features.eachChange({ cursor: told.at(-1)?.cursor }))).toEqual([]);
    expect((await Array.fromAsync(features.eachChange())).slice(-told.length)).toEqual(told);
    expect(await refusal(features.eachChange({ cursor: "other-1" }).next())).toMatchObject({ status: 410 });
  });

  test("tells an error that is a line of text", async () => {
    const error = await refusal(features.listFeatures({ resource: "a", id: "b".repeat(300) }));
    expect(error).toMatchObject({ status: 400, problem: undefined });
    expect(error.message).toMatch(/^listFeatures returned 400: path parameter id .* 256 characters$/);
  });
});

describe("whatever the service", () => {
  const asked: IncomingMessage[] = [];
  let answer: (response: ServerResponse) => void;
  const server = createServer((request, response) => {
    asked.push(request);
    answer(response);
  });
  const reply =
    (body: string, status = 200) =>
    (response: ServerResponse) => {
      response.writeHead(status).end(body);
    };
  const never = () => undefined;
  let origin: string;
  let baseUrl: string;
  beforeAll(async () => {
    await once(server.listen(0, "127.0.0.1"), "listening");
    origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    baseUrl = `${origin}/behind/a/proxy//`;
  });
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });
  const one = { resource: "customer", id: "42" };

  test("a token goes with every call, and is asked for each time when it is a function", async () => {
    answer = reply("[]");
    let count = 0;
    const client = featuresClient({ baseUrl, token: async () => `t${++count}` });
    await client.listFeatures(one);
    await client.listFeatures(one);
    await featuresClient({ baseUrl, token: "fixed" }).listFeatures(one);
    await featuresClient({ baseUrl, token: "" }).listFeatures(one);
    await featuresClient({ baseUrl: new URL(baseUrl) }).listFeatures(one);
    expect(asked.slice(-5).map(({ headers }) => headers.authorization)).toEqual([
      "Bearer t1",
      "Bearer t2",
      "Bearer fixed",
      undefined,
      undefined,
    ]);
    expect(asked.at(-1)).toMatchObject({
      url: "/behind/a/proxy/features/customer/42",
      headers: { accept: "application/json" },
    });
  });

  test.each([featuresService, ledgerService])(
    "no two things that a call takes have one name: $contract.info.title",
    ({ contract }) => {
      for (const { operationId, parameters } of operationsOf(contract)) {
        const names = [...parameters.map(({ name }) => name), "body"];
        expect([operationId, names]).toEqual([operationId, [...new Set(names)]]);
      }
    },
  );

  test("a body is sent as JSON, and nothing where there is none", async () => {
    answer = reply("", 204);
    const client = featuresClient({ baseUrl: origin });
    await client.removeFeature({ ...one, feature: "a" });
    expect(asked.at(-1)?.method).toBe("DELETE");
    expect(asked.at(-1)?.headers).not.toHaveProperty("content-type");
    answer = reply('["ü"]');
    await client.replaceFeatures({ ...one, "If-Match": "*", body: ["ü"] });
    expect(asked.at(-1)).toMatchObject({
      method: "PUT",
      url: "/features/customer/42",
      headers: { "content-type": "application/json", "content-length": "6", "if-match": "*" },
    });
    await client.listFeatures({ ...one, "If-None-Match": undefined });
    expect(asked.at(-1)?.headers).not.toHaveProperty("if-none-match");
  });

  test("every value of a reply's header is told", async () => {
    answer = (response) => response.writeHead(200, { "X-Colour": ["red", "blue"] }).end("[]");
    const seen: ResponseHead[] = [];
    await featuresClient({ baseUrl }).listFeatures(one, { onResponse: (head) => seen.push(head) });
    expect(seen.map(({ headers }) => headers.get("x-colour"))).toEqual(["red, blue"]);
  });

  test("parameters are sent as they are given, and no others", async () => {
    answer = reply('{"total":0,"count":0,"page":1,"results":[],"_links":{}}');
    const client = ledgerClient({ baseUrl: origin });
    await client.searchTransactions({
      account_id: ["57", "5&8"],
      limit_total: false,
      page: 2,
      email: undefined,
    });
    expect(asked.at(-1)?.url).toBe("/v1/transaction/?account_id=57%2C5%268&limit_total=false&page=2");
    await client.searchTransactions();
    expect(asked.at(-1)?.url).toBe("/v1/transaction/");
  });

  test.each<[string, (client: FeaturesClient, ledger: LedgerClient) => Promise<unknown>]>([
    ["hasFeature requires feature", (client) => client.hasFeature({ ...one, feature: "" })],
    ["listFeatures requires id", (client) => client.listFeatures({ resource: "a" } as never)],
    [
      "account_id must not contain a comma",
      (_, ledger) => ledger.searchTransactions({ account_id: ["a,b"] }),
    ],
  ])("what would be another request is none: %s", async (message, call) => {
    const before = asked.length;
    const error = await refusal(call(featuresClient({ baseUrl }), ledgerClient({ baseUrl })));
    expect(error).toBeInstanceOf(TypeError);
    expect(error.message).toContain(message);
    expect(asked.length).toBe(before);
  });

  test.each(["ftp://127.0.0.1", "http://user:secret@127.0.0.1", "http://127.0.0.1?x=1", "127.0.0.1:80"])(
    "an address that cannot be one is told at once: %s",
    (wrong) => {
      expect(() => featuresClient({ baseUrl: wrong })).toThrow(TypeError);
    },
  );

  test("a call ends after its time, the token's included, and when its signal aborts", async () => {
    answer = never;
    const begun = performance.now();
    const client = featuresClient({ baseUrl, timeoutMs: 60 });
    expect(await refusal(client.listFeatures(one))).toMatchObject({ name: "TimeoutError" });
    const patient = featuresClient({ baseUrl });
    const { signal } = new AbortController();
    expect(await refusal(patient.listFeatures(one, { timeoutMs: 50, signal }))).toMatchObject({
      name: "TimeoutError",
    });
    const tokenless = featuresClient({ baseUrl, timeoutMs: 50, token: () => new Promise(never) });
    expect(await refusal(tokenless.listFeatures(one))).toMatchObject({ name: "TimeoutError" });
    const stop = new AbortController();
    const call = refusal(patient.listFeatures(one, { signal: stop.signal }));
    stop.abort(new Error("enough"));
    expect(await call).toMatchObject({ message: "enough" });
    const ledger = ledgerClient({ baseUrl });
    for (const walk of [ledger.eachTransaction, ledger.exportTransactions]) {
      expect(await refusal(walk({ account_id: ["57"] }, { signal: stop.signal }).next())).toMatchObject({
        message: "enough",
      });
    }
    expect(performance.now() - begun).toBeLessThan(30_000);
  });

  test("a reply may take its time", async () => {
    answer = (response) => setTimeout(reply("[]"), 600, response);
    expect(await featuresClient({ baseUrl }).listFeatures(one)).toEqual([]);
  });

  test("a text is read as text, wherever its bytes are cut", async () => {
    answer = async (response) => {
      for (const byte of Buffer.from("Reference\nü💷\n")) {
        response.write(Buffer.of(byte));
        await new Promise((resolve) => setTimeout(resolve, 2));
      }
      response.end();
    };
    const pieces = await Array.fromAsync(
      ledgerClient({ baseUrl }).exportTransactions({ account_id: ["57"] }),
    );
    expect(pieces.every((piece) => typeof piece === "string")).toBe(true);
    expect(pieces.join("")).toBe("Reference\nü💷\n");
  });

  test.each([
    ["no JSON", 200, "<html>welcome</html>"],
    ["a redirection", 302, "[]"],
    ["a success that is not declared", 206, "[]"],
    ["an error that is no problem document", 400, '{"status":400,"detail":"odd"}'],
  ])("a reply that the contract does not know is an error: %s", async (_, status, text) => {
    answer = reply(text, status);
    expect(await refusal(featuresClient({ baseUrl }).listFeatures(one))).toMatchObject({
      name: "ResponseError",
      status,
      text,
      problem: undefined,
      message: `listFeatures returned ${status}: ${text}`,
      ...(status === 200 && { cause: expect.any(SyntaxError) }),
    });
  });

  test("an error's message does not repeat a whole page", async () => {
    answer = reply("x".repeat(100_000), 500);
    const error = await refusal(featuresClient({ baseUrl }).listFeatures(one));
    expect([error.message.length < 600, error.text.length]).toEqual([true, 100_000]);
  });

  test.each([
    ['{"transaction_id":"a","events":[{"event_id":17,"data":{"event_id":17}}]}', [17n, 17]],
    [
      '{"transaction_id":"a","events":[{"event_id":-9007199254740993,"data":{"event_id":9007199254740993}}]}',
      [-9007199254740993n, 9007199254740993n],
    ],
  ])(
    "an integer is a bigint where the contract says so, or a double does not hold it: %s",
    async (text, [id, inside]) => {
      answer = reply(text);
      const call = { transactionExternalId: "a", gateway_account_id: "57" };
      const { events } = await ledgerClient({ baseUrl }).listTransactionEvents(call);
      expect([events[0]?.event_id, events[0]?.data.event_id]).toEqual([id, inside]);
    },
  );
});
