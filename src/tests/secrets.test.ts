import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { request } from "undici";
import { describe, expect, test } from "vitest";
import { describeIfAvailable } from "../../testing/describe-if-available.ts";
import { eventually } from "../../testing/eventually.ts";
import { freePort } from "../../testing/free-port.ts";
import { openIssuer } from "../../testing/issuer.ts";
import { newFolder, run } from "../../testing/run.ts";
import { isRedisInstalled, startRedis } from "../../testing/servers/redis.ts";
import { openDatabase } from "../database/databases.ts";
import { describeOnEngines } from "../database/new-database.fixture.ts";
import { statusOf } from "../http/service.fixture.ts";
import { clientUrl } from "../ledger/queue/address.ts";
import { openQueue } from "../ledger/queue/queues.ts";
import { migrate } from "../ledger/tables/migrate.ts";
import { fatalMessages, inMemory, runServices, urlIn } from "../main.fixture.ts";
import { forms, showsSecret } from "./url-settings.fixture.ts";

const verbose = { ...inMemory, LOG_LEVEL: "trace" };

/** Personal data of a payer. Each value contains `planted`, or is a number that occurs nowhere else. */
const person = {
  reference: "planted-reference",
  description: "planted description",
  email: "planted@card-holder.test",
  cardholder_name: "Planted Name",
  address_line1: "1 Planted Street",
  address_postcode: "PLANTED1",
  first_digits_card_number: "424299",
  last_digits_card_number: "8642",
  gateway_transaction_id: "planted-gateway",
  external_metadata: { "planted key": "planted value" },
  planted_member: { planted: ["planted"] },
};
const planted = /.{0,60}(?:planted|\b424299\b|\b8642\b).{0,60}/i;

const eventOf = (id: string, change: object = {}, details: object = {}) => ({
  event_type: "PAYMENT_CREATED",
  resource_type: "payment",
  resource_external_id: `planted-${id}`,
  timestamp: "2024-03-05T09:14:22Z",
  planted_member: "planted",
  event_details: { gateway_account_id: "57", ...person, ...details },
  ...change,
});

/** Changes to the tables that make some writes and reads fail with errors that quote data. */
const alterations = `
  create function reject_event() returns trigger language plpgsql as $$ begin
    if new.event_type = 'RAISED' then raise exception 'cannot keep %', new.event_details; end if;
    if new.event_type = 'RAISED_AS_RETRY' then
      raise exception 'cannot keep %', new.event_details using errcode = 'serialization_failure';
    end if;
    if new.event_type = 'CAST' then perform (new.event_details ->> 'email')::integer; end if;
    return new;
  end $$;
  create trigger reject before insert on event for each row execute function reject_event();
  alter table event add constraint unwanted check (event_type <> 'CHECKED');
  create function reject_dead_letter() returns trigger language plpgsql as $$ begin
    if convert_from(new.body, 'utf8') like '%unstorable%' then perform convert_from(new.body, 'utf8')::jsonb; end if;
    return new;
  end $$;
  create trigger reject before insert on dead_letter for each row execute function reject_dead_letter();
  alter table transaction rename to original;
  create view transaction as select * from original
  where case when external_id = 'planted-unreadable' then reference::integer > 0 else true end;
`;

async function prepare(url: string): Promise<void> {
  await using database = await openDatabase(url);
  await migrate(database);
  await database.run(alterations);
}

/** Tokens that are rejected. */
const tokensOf = async ({ sign, invalidTokens }: Awaited<ReturnType<typeof openIssuer>>, scope: string) => [
  ...Object.values(await invalidTokens({ scope, sub: "planted" })),
  await sign({ scope: "planted" }),
  "planted.planted.planted",
];

/** Expects that the output contains no planted data and no part of a token. */
function expectNoSecrets(output: string, tokens: string[] = []): void {
  expect(output.match(planted)?.[0]).toBeUndefined();
  const parts = tokens.flatMap((token) => token.split(/[. ]/)).filter(({ length }) => length > 8);
  expect(parts.filter((part) => output.includes(part))).toEqual([]);
}

/** The settings by which a service trusts an issuer, as its environment. */
const environmentOf = ({ settings }: Awaited<ReturnType<typeof openIssuer>>) =>
  Object.fromEntries(Object.entries(settings).map(([name, value]) => [name, String(value)]));

describeOnEngines("the log of a ledger at level trace", (make) => {
  test("has no contents of messages, queries and tokens, but the cause of each error", async () => {
    await using made = await make();
    await prepare(made.url);
    await using issuer = await openIssuer();
    const url = new URL(made.url);
    if (url.host !== "") url.password = "planted-password";
    const port = await freePort();
    const queueUrl = `sqs+embedded:${newFolder()}?port=${await freePort()}`;
    const ledger = runServices(
      {
        ...{ ...verbose, ...environmentOf(issuer), DATABASE_URL: url.href, QUEUE_URL: queueUrl },
        ...{ LEDGER_PORT: String(port), QUEUE_RECEIVER_RETRY_DELAY_MS: "600000" },
      },
      ["ledger"],
    );
    await ledger.isListening();
    const linesWith = (part: string) =>
      ledger
        .output()
        .split("\n")
        .filter((line) => line.includes(part));

    await using queue = await openQueue(clientUrl(queueUrl));
    const messages = [
      eventOf("valid"),
      eventOf("checked", { event_type: "CHECKED" }),
      eventOf("cast", { event_type: "CAST" }),
      eventOf("wrong", { event_type: 8642, timestamp: "planted", live: "planted", service_id: ["planted"] }),
      eventOf("wrong details", {}, { amount: "planted", source: "planted", moto: { planted: 1 } }),
      eventOf("long metadata", {}, { external_metadata: { ["planted".repeat(50)]: "planted" } }),
      eventOf("metadata is a text", {}, { external_metadata: "planted", live: "planted" }),
      eventOf("long id", { resource_external_id: "planted".repeat(50) }),
      eventOf("not Unicode", {}, { "planted\0": "planted\ud800" }),
      eventOf("unknown type", { resource_type: "planted" }),
      { planted: person },
      [person],
      "planted",
    ].map((message) => JSON.stringify(message));
    await queue.send([...messages, "planted, and not JSON"]);
    await eventually(() => expect(linesWith("message became a dead letter")).toHaveLength(13));
    for (const [index, message] of [
      JSON.stringify(eventOf("raised", { event_type: "RAISED" })),
      '{"unstorable": planted}',
      JSON.stringify(eventOf("retried", { event_type: "RAISED_AS_RETRY" })),
    ].entries()) {
      await queue.send([message]);
      await eventually(() => expect(linesWith("will be retried")).toHaveLength(index + 1));
    }
    await queue.send([JSON.stringify(eventOf("unreadable"))]);

    const base = `http://127.0.0.1:${port}`;
    const valid = await issuer.sign({ scope: "ledger:read:all", sub: "planted" });
    const get = (path: string, token = valid, headers = {}) =>
      statusOf(base + path, { ...headers, authorization: `Bearer ${token}` });
    const unreadable = "/v1/transaction/planted-unreadable?account_id=57";
    await eventually(async () => expect(await get(unreadable)).toBe(500));
    const { reference, email, cardholder_name, first_digits_card_number, last_digits_card_number } = person;
    const searched = { reference, email, cardholder_name, first_digits_card_number, last_digits_card_number };
    const search = new URLSearchParams({ account_id: "57", ...searched, metadata_value: "planted value" });
    expect(await get(`/v1/transaction/?${search}`)).toBe(500);
    expect(await get(`/v1/transaction/?${search}`, valid, { accept: "text/csv" })).toBe(500);
    for (const invalid of [
      `/v1/transaction/?${search}&page=planted&planted=planted&from_date=planted`,
      "/v1/transaction/planted%zz?account_id=57",
      `/v1/transaction/?account_id=57&access_token=${valid}`,
    ]) {
      expect(await get(invalid)).toBe(400);
    }
    expect(await get("/planted?email=planted")).toBe(404);
    const tokens = await tokensOf(issuer, "ledger:read:all");
    for (const token of tokens) expect([401, 403]).toContain(await get(unreadable, token));
    await issuer.close();

    const output = await ledger.stop();
    expectNoSecrets(output, [valid, ...tokens]);
    for (const code of ["22P02", "23514"]) {
      expect(output).toContain(`"reason":"the database rejects it (SQLSTATE ${code})"`);
    }
    for (const code of ["P0001", "22P02", "40001"]) {
      expect(output).toContain(`"code":"${code}","message":"withheld, because it can quote data (${code})"`);
    }
    const logged = output
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    const routes = logged.filter(({ msg }) => msg === "unexpected error").map(({ route }) => route);
    expect(new Set(routes)).toEqual(new Set(["/v1/transaction/:transactionExternalId", "/v1/transaction/"]));
  });
});

describeIfAvailable("Redis", isRedisInstalled())("the log of a feature storage at level trace", () => {
  test("has no tokens, bodies or Redis password", async () => {
    await using redis = await startRedis();
    await using issuer = await openIssuer();
    const port = await freePort();
    const features = runServices(
      {
        ...{ ...verbose, ...environmentOf(issuer), FEATURES_PORT: String(port) },
        AUTH_JWKS_URL: `${issuer.settings.AUTH_JWKS_URL}?key=planted`,
        FEATURES_STORE_URL: redis.url.replace("//", "//default:planted@"),
      },
      ["features"],
    );
    await features.isListening();
    const valid = await issuer.sign({ scope: "features:read features:write", sub: "planted" });
    const tokens = await tokensOf(issuer, "features:write");
    const put = async (token: string, body: string, query = "") => {
      const authorization = `Bearer ${token}`;
      const headers = { authorization, "content-type": "application/json", "if-match": "*" };
      const url = `http://127.0.0.1:${port}/features/customer/42${query}`;
      const response = await request(url, { method: "PUT", headers, body });
      await response.body.dump();
      return response.statusCode;
    };
    expect(await put(valid, '["dark-mode"]')).toBe(200);
    expect(await put(valid, '["planted')).toBe(400);
    expect(await put(valid, '{"planted": "planted"}')).toBe(400);
    expect(await put(valid, '["dark-mode"]', `?access_token=${valid}&planted=planted`)).toBe(400);
    for (const token of tokens) expect([401, 403]).toContain(await put(token, '["planted"]'));
    const events = `http://127.0.0.1:${port}/ofrep/v1/events?resource=customer&id=42&access_token=`;
    for (const token of [...tokens, `${valid}&planted=planted`]) {
      const status = await statusOf(events + token.replaceAll(" ", "%20"));
      expect(token.startsWith(valid) ? [400, 401] : [401, 403]).toContain(status);
    }
    await redis.kill();
    expect(await put(valid, '["dark-mode"]')).toBe(500);
    await issuer.close();

    const output = await features.stop();
    expectNoSecrets(output, [valid, ...tokens]);
    expect(output).toContain('"msg":"the store cannot be reached"');
  });
});

test("an invalid response of a queue is not quoted", async () => {
  await using server = createServer((_request, response) => response.end('planted, {"Body": "planted"}'));
  await once(server.listen(0, "127.0.0.1"), "listening");
  const { port } = server.address() as AddressInfo;
  const ledger = runServices({ ...verbose, QUEUE_URL: `sqs+http://127.0.0.1:${port}/0/queue` }, ["ledger"]);
  await ledger.waitForOutput("receiving failed");
  const output = await ledger.stop();
  expectNoSecrets(output);
  expect(output).toContain('"type":"SyntaxError"');
});

test("an uncaught error ends the process and is printed like other errors", async () => {
  const bug = `
    const planted = { detail: "planted", cause: Object.assign(new Error("planted"), { code: "22P02" }) };
    const isRunning = () => process.listenerCount("SIGTERM") > 0;
    setInterval(() => isRunning() && Promise.reject(Object.assign(new Error("a bug"), planted)), 10)`;
  const NODE_OPTIONS = `--import data:text/javascript,${encodeURIComponent(bug)}`;
  const { code, output, errors } = await runServices({ ...verbose, NODE_OPTIONS }).exit;
  expect(code).toBe(1);
  expect((output + errors).match(/"planted|: planted|'planted/)?.[0]).toBeUndefined();
  expect(JSON.parse(errors)).toMatchObject({
    ...{ level: 60, msg: "uncaught error" },
    err: { type: "Error", message: "a bug", stack: expect.any(String) },
  });
});

describe("a URL with its password in another place than expected", () => {
  const wrong = [
    ...["no slash", "one slash", "three slashes", "a tab between the slashes", "an @ in the path"],
    ...["an encoded @ and colon", "a folder", "no scheme and no slash", "quotes"],
  ] as (keyof typeof forms)[];
  test.each(wrong)("is not printed if it has %s", async (form) => {
    const write = forms[form];
    const env = {
      ...{ ...verbose, DATABASE_URL: write("postgres", "/db"), DATABASE_READ_URL: write("postgres", "/db") },
      ...{ QUEUE_URL: write("amqp", ""), PUBLISH_URL: write("https", "/hook") },
      ...{ FEATURES_STORE_URL: write("redis", ""), CORS_ORIGINS: write("https", "") },
      ...{ AUTH_JWKS_URL: write("https", "/jwks"), PUBLIC_URL: write("https", "/ledger") },
    };
    const { code, output, errors } = await runServices(env).exit;
    expect(code).toBe(2);
    expect((output + errors).split("\n").filter(showsSecret)).toEqual([]);
    for (const name of Object.keys(env).filter((name) => /_URL|_ORIGINS/.test(name)))
      expect(fatalMessages(errors)).toContainEqual(expect.stringContaining(`${name} `));
  });

  const right = ["the right form", "two @"] as const;
  test.each(right)("is shown nowhere if it has %s", async (form) => {
    const write = forms[form];
    const queues = [write("amqp", "/vhost"), write("kafka", "/topic"), write("sqs+http", "/0/queue")];
    const shown: string[] = [];
    const embedded = `pglite:${newFolder()}`;
    for (const QUEUE_URL of queues) {
      const urls = { DATABASE_URL: embedded, QUEUE_URL, PUBLISH_URL: write("amqp", "/v") };
      const ledger = runServices({ ...verbose, ...urls }, ["ledger"]);
      await ledger.isListening();
      for (const path of ["/healthcheck", "/metrics", "/docs/queue", "/asyncapi.yaml", "/v1/intake"]) {
        const { body } = await request(urlIn(ledger.output()) + path);
        shown.push(await body.text());
      }
      shown.push(await ledger.stop());
    }
    const [DATABASE_URL, FEATURES_STORE_URL] = [write("postgres", "/db"), write("redis", "")];
    const commands = [
      runServices({ ...verbose, DATABASE_URL, FEATURES_STORE_URL }),
      run("src/ledger/commands/reproject.ts", { args: ["--all"], env: { DATABASE_URL } }),
      run("src/ledger/commands/send-events.ts", { args: ["-"], env: { QUEUE_URL: queues[0] } }),
      run("src/features/commands/store.ts", { args: ["export", "-"], env: { FEATURES_STORE_URL } }),
    ];
    for (const { exit } of commands) {
      const { code, output, errors } = await exit;
      expect(code).toBe(1);
      shown.push(output, errors);
    }
    expect(shown.flatMap((text) => text.split("\n")).filter(showsSecret)).toEqual([]);
  });
});

describeIfAvailable("Redis", isRedisInstalled())("the password of the URL of a Redis", () => {
  test("is not printed if it has no command AUTH and quotes its arguments", async () => {
    await using redis = await startRedis("--rename-command", "AUTH", "");
    const env = { ...verbose, FEATURES_STORE_URL: redis.url.replace("//", "//planted:planted@") };
    const { code, output, errors } = await runServices(env, ["features"]).exit;
    expect(code).toBe(1);
    expectNoSecrets(output + errors);
    expect(fatalMessages(errors)).toEqual([
      expect.stringMatching(/cannot be used: ERR unknown command 'AUTH'$/),
    ]);
  });
});

const broker = process.env.TEST_AMQP_URL;
describeIfAvailable("TEST_AMQP_URL", broker !== undefined)("the password of the URL of a RabbitMQ", () => {
  test("is not printed if it is rejected", async () => {
    const url = new URL(broker ?? "");
    url.password = "planted";
    const ledger = runServices({ ...verbose, QUEUE_URL: url.href }, ["ledger"]);
    await ledger.waitForOutput("ACCESS_REFUSED");
    expectNoSecrets(await ledger.stop());
  });
});
