import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { request } from "undici";
import { describe, expect, test } from "vitest";
import { describeNeeding } from "../testing/describe-needing.ts";
import { eventually } from "../testing/eventually.ts";
import { freePort } from "../testing/free-port.ts";
import { openIssuer } from "../testing/issuer.ts";
import { newFolder, run } from "../testing/run.ts";
import { isRedisInstalled, startRedis } from "../testing/servers/redis.ts";
import { openDatabase } from "./ledger/database/database.ts";
import { describeOnEngines, newEmbedded } from "./ledger/database/new-database.fixture.ts";
import { clientUrl, openQueue } from "./ledger/queue/queue.ts";
import { migrate } from "./ledger/tables/migrate.ts";

const loudest = { LOG_LEVEL: "trace", LEDGER_PORT: "0", FEATURES_PORT: "0" };
const inMemory = { ...loudest, DATABASE_URL: "pglite:memory", QUEUE_URL: "memory:" };

/** Of people and of those who ask: each says `planted`, or is a number that stands nowhere else. */
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

/** What someone has done to the tables by hand: they refuse some messages and some readers, and quote what they saw. */
const alterations = `
  create function refuse_event() returns trigger language plpgsql as $$ begin
    if new.event_type = 'RAISED' then raise exception 'cannot keep %', new.event_details; end if;
    if new.event_type = 'RAISED_AS_RETRY' then
      raise exception 'cannot keep %', new.event_details using errcode = 'serialization_failure';
    end if;
    if new.event_type = 'CAST' then perform (new.event_details ->> 'email')::integer; end if;
    return new;
  end $$;
  create trigger refuse before insert on event for each row execute function refuse_event();
  alter table event add constraint unwanted check (event_type <> 'CHECKED');
  create function refuse_parked() returns trigger language plpgsql as $$ begin
    if convert_from(new.body, 'utf8') like '%unparkable%' then perform convert_from(new.body, 'utf8')::jsonb; end if;
    return new;
  end $$;
  create trigger refuse before insert on dead_letter for each row execute function refuse_parked();
  alter table transaction rename to kept;
  create view transaction as select * from kept
  where case when external_id = 'planted-unreadable' then reference::integer > 0 else true end;
`;

async function prepare(url: string): Promise<void> {
  await using database = await openDatabase(url);
  await migrate(database);
  await database.run(alterations);
}

/** Tokens that are refused. */
const tokensOf = async ({ sign, forgeries }: Awaited<ReturnType<typeof openIssuer>>, scope: string) => [
  ...Object.values(await forgeries({ scope, sub: "planted" })),
  await sign({ scope: "planted" }),
  "planted.planted.planted",
];

/** Nor any of their parts. */
function expectNoTokens(output: string, tokens: string[]): void {
  const parts = tokens.flatMap((token) => token.split(/[. ]/)).filter(({ length }) => length > 8);
  expect(parts.filter((part) => output.includes(part))).toEqual([]);
}

describeOnEngines("a ledger that tells all it can", (make) => {
  test("has no contents of messages, queries and tokens, but the cause of each error", async () => {
    await using made = await make();
    await prepare(made.url);
    await using issuer = await openIssuer();
    const url = new URL(made.url);
    if (url.host !== "") url.password = "planted-password";
    const port = await freePort();
    const queueUrl = `sqs+embedded:${newFolder()}?port=${await freePort()}`;
    const ledger = run("src/main.ts", {
      args: ["ledger"],
      env: {
        ...loudest,
        ...issuer.settings,
        AUTH_JWKS_URL: String(issuer.settings.AUTH_JWKS_URL),
        LEDGER_PORT: String(port),
        DATABASE_URL: url.href,
        QUEUE_URL: queueUrl,
        QUEUE_RECEIVER_RETRY_DELAY_MS: "600000",
      },
    });
    await ledger.waitForOutput("listening");
    const lines = (part: string) =>
      ledger
        .output()
        .split("\n")
        .filter((line) => line.includes(part));

    await using queue = await openQueue(clientUrl(queueUrl));
    const messages = [
      eventOf("good"),
      eventOf("checked", { event_type: "CHECKED" }),
      eventOf("cast", { event_type: "CAST" }),
      eventOf("wrong", { event_type: 8642, timestamp: "planted", live: "planted", service_id: ["planted"] }),
      eventOf("wrong details", {}, { amount: "planted", source: "planted", moto: { planted: 1 } }),
      eventOf("long metadata", {}, { external_metadata: { ["planted".repeat(50)]: "planted" } }),
      eventOf("no metadata", {}, { external_metadata: "planted", live: "planted" }),
      eventOf("long id", { resource_external_id: "planted".repeat(50) }),
      eventOf("no text", {}, { "planted\0": "planted\ud800" }),
      eventOf("no kind", { resource_type: "planted" }),
      { planted: person },
      [person],
      "planted",
    ].map((message) => JSON.stringify(message));
    await queue.send([...messages, "planted, and not JSON"]);
    await eventually(() => expect(lines("message became a dead letter")).toHaveLength(13));
    for (const [index, message] of [
      JSON.stringify(eventOf("raised", { event_type: "RAISED" })),
      '{"unparkable": planted}',
      JSON.stringify(eventOf("retried", { event_type: "RAISED_AS_RETRY" })),
    ].entries()) {
      await queue.send([message]);
      await eventually(() => expect(lines("put back")).toHaveLength(index + 1));
    }
    await queue.send([JSON.stringify(eventOf("unreadable"))]);

    const base = `http://127.0.0.1:${port}`;
    const good = await issuer.sign({ scope: "ledger:read:all", sub: "planted" });
    async function ask(path: string, token = good, headers: Record<string, string> = {}): Promise<number> {
      const authorization = `Bearer ${token}`;
      const { statusCode, body } = await request(base + path, { headers: { ...headers, authorization } });
      await body.dump();
      return statusCode;
    }
    const unreadable = "/v1/transaction/planted-unreadable?account_id=57";
    await eventually(async () => expect(await ask(unreadable)).toBe(500));
    const search = new URLSearchParams({
      account_id: "57",
      reference: person.reference,
      email: person.email,
      cardholder_name: person.cardholder_name,
      first_digits_card_number: person.first_digits_card_number,
      last_digits_card_number: person.last_digits_card_number,
      metadata_value: "planted value",
    });
    expect(await ask(`/v1/transaction/?${search}`)).toBe(500);
    expect(await ask(`/v1/transaction/?${search}`, good, { accept: "text/csv" })).toBe(500);
    expect(await ask(`/v1/transaction/?${search}&page=planted&planted=planted&from_date=planted`)).toBe(400);
    expect(await ask("/v1/transaction/planted%zz?account_id=57")).toBe(400);
    expect(await ask("/planted?email=planted")).toBe(404);
    const tokens = await tokensOf(issuer, "ledger:read:all");
    for (const token of tokens) expect([401, 403]).toContain(await ask(unreadable, token));
    expect(await ask(`/v1/transaction/?account_id=57&access_token=${good}`)).toBe(400);
    await issuer.close();

    ledger.child.kill("SIGTERM");
    const { code, output, errors } = await ledger.exit;
    expect([code, errors]).toEqual([0, ""]);
    expect(output.match(planted)?.[0]).toBeUndefined();
    expectNoTokens(output, [good, ...tokens]);
    const told = output
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    for (const code of ["22P02", "23514"]) {
      expect(output).toContain(`"reason":"the database refuses to store it (SQLSTATE ${code})"`);
    }
    for (const code of ["P0001", "22P02", "40001"]) {
      expect(output).toContain(`"code":"${code}","message":"withheld, since it can quote data (${code})"`);
    }
    const routes = told.filter(({ msg }) => msg === "unexpected error").map(({ route }) => route);
    expect(new Set(routes)).toEqual(new Set(["/v1/transaction/:transactionExternalId", "/v1/transaction/"]));
  });
});

describeNeeding("Redis", isRedisInstalled())("a feature storage that tells all it can", () => {
  test("tells nothing of tokens, of bodies and of its Redis' password", async () => {
    await using redis = await startRedis();
    await using issuer = await openIssuer();
    const port = await freePort();
    const features = run("src/main.ts", {
      args: ["features"],
      env: {
        ...loudest,
        ...issuer.settings,
        AUTH_JWKS_URL: `${issuer.settings.AUTH_JWKS_URL}?key=planted`,
        FEATURES_PORT: String(port),
        FEATURES_STORE_URL: redis.url.replace("//", "//default:planted@"),
      },
    });
    await features.waitForOutput("listening");
    const good = await issuer.sign({ scope: "features:read features:write", sub: "planted" });
    const tokens = await tokensOf(issuer, "features:write");
    const put = async (token: string, body: string, query = "") => {
      const headers = {
        authorization: `Bearer ${token}`,
        "content-type": "application/json",
        "if-match": "*",
      };
      const url = `http://127.0.0.1:${port}/features/customer/42${query}`;
      const reply = await request(url, { method: "PUT", headers, body });
      await reply.body.dump();
      return reply.statusCode;
    };
    expect(await put(good, '["dark-mode"]')).toBe(200);
    expect(await put(good, '["planted')).toBe(400);
    expect(await put(good, '{"planted": "planted"}')).toBe(400);
    expect(await put(good, '["dark-mode"]', `?access_token=${good}&planted=planted`)).toBe(400);
    for (const token of tokens) expect([401, 403]).toContain(await put(token, '["planted"]'));
    await redis.kill();
    expect(await put(good, '["dark-mode"]')).toBe(500);
    await issuer.close();

    features.child.kill("SIGTERM");
    const { code, output, errors } = await features.exit;
    expect([code, errors]).toEqual([0, ""]);
    expect(output.match(planted)?.[0]).toBeUndefined();
    expectNoTokens(output, [good, ...tokens]);
    expect(output).toContain('"msg":"the store cannot be reached"');
  });
});

test("what a queue says that cannot be read is not quoted", async () => {
  await using server = createServer((_request, response) => response.end('planted, {"Body": "planted"}'));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  await using made = await newEmbedded();
  const env = { ...inMemory, DATABASE_URL: made.url, QUEUE_URL: `sqs+http://127.0.0.1:${port}/0/queue` };
  const ledger = run("src/main.ts", { args: ["ledger"], env });
  await ledger.waitForOutput("receiving failed");
  ledger.child.kill("SIGTERM");
  const { output, errors } = await ledger.exit;
  expect((output + errors).match(planted)?.[0]).toBeUndefined();
  expect(output).toContain('"type":"SyntaxError"');
});

test("an error that nobody caught ends the process and is told as others are", async () => {
  const bug = `
    const planted = { detail: "planted", cause: Object.assign(new Error("planted"), { code: "22P02" }) };
    const isRunning = () => process.listenerCount("SIGTERM") > 0;
    setInterval(() => isRunning() && Promise.reject(Object.assign(new Error("a bug"), planted)), 10)`;
  const NODE_OPTIONS = `--import data:text/javascript,${encodeURIComponent(bug)}`;
  await using made = await newEmbedded();
  const env = { ...inMemory, DATABASE_URL: made.url, NODE_OPTIONS };
  const { code, output, errors } = await run("src/main.ts", { env }).exit;
  expect(code).toBe(1);
  expect((output + errors).match(/"planted|: planted|'planted/)?.[0]).toBeUndefined();
  expect(errors).toMatch(/^start: nobody caught \{"type":"Error","message":"a bug","stack":".*\}\n$/);
});

describe("the password of a URL is told to nobody", () => {
  describeNeeding("Redis", isRedisInstalled())("by a feature storage", () => {
    test("whose Redis knows no AUTH, and repeats it", async () => {
      await using redis = await startRedis("--rename-command", "AUTH", "");
      const env = { ...inMemory, FEATURES_STORE_URL: redis.url.replace("//", "//planted:planted@") };
      const { code, output, errors } = await run("src/main.ts", { args: ["features"], env }).exit;
      expect(code).toBe(1);
      expect((output + errors).match(planted)?.[0]).toBeUndefined();
      expect(errors).toMatch(/cannot be used: ERR unknown command 'AUTH'\n$/);
    });
  });

  const broker = process.env.TEST_AMQP_URL;
  describeNeeding("TEST_AMQP_URL", broker !== undefined)("by a ledger", () => {
    test("that its RabbitMQ refuses", async () => {
      const url = new URL(broker ?? "");
      url.password = "planted";
      const ledger = run("src/main.ts", { args: ["ledger"], env: { ...inMemory, QUEUE_URL: url.href } });
      await ledger.waitForOutput("ACCESS_REFUSED");
      ledger.child.kill("SIGTERM");
      const { output, errors } = await ledger.exit;
      expect((output + errors).match(planted)?.[0]).toBeUndefined();
    });
  });
});
