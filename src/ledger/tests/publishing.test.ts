import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { request } from "undici";
import { expect, test } from "vitest";
import { fileViolation } from "../../../testing/delivery-check.ts";
import { eventually } from "../../../testing/eventually.ts";
import { message } from "../../../testing/messages.ts";
import { newFolder, run } from "../../../testing/run.ts";
import { nameOf, openWebhook } from "../../../testing/webhook.ts";
import { openDatabase } from "../../database/databases.ts";
import { describeOnEngines, type NewDatabase } from "../../database/new-database.fixture.ts";
import { readSettings } from "../../process/settings.ts";
import { settings } from "../settings.ts";
import { launchLedger } from "./ledger-process.fixture.ts";

describeOnEngines("publishing", (make) => {
  async function startLedger(database: NewDatabase, env: Record<string, string>) {
    const started = await launchLedger({ DATABASE_URL: database.url, EVENT_WRITES: "true", ...env });
    await started.ready();
    const get = async (path: string) => (await started.get(path)).text;
    return {
      ...started,
      async add(id: string, second: number) {
        const timestamp = `2024-03-05T09:00:${String(second).padStart(2, "0")}Z`;
        const body = JSON.stringify(message({ resource_external_id: id, timestamp }));
        const headers = { "content-type": "application/json" };
        const { statusCode } = await request(`${started.url}/v1/event`, { method: "POST", headers, body });
        expect(statusCode).toBe(202);
      },
      get,
      publishing: async () => JSON.parse(await get("/healthcheck")).publishing,
    };
  }

  test("goes on in another process when one is killed, and the health reports each target", async () => {
    await using database = await make();
    await using webhook = await openWebhook();
    let isAway = false;
    await using away = await openWebhook(() => (isAway ? 500 : 200));
    const folder = newFolder();
    const targets = [
      `${webhook.url}?name=webhook`,
      `${away.url}?name=away`,
      `file:${folder}?name=file&format=cloudevents`,
    ];
    const env = { PUBLISH_URL: targets.join(" ") };
    const first = await startLedger(database, env);
    await eventually(async () => expect(await first.publishing()).toHaveLength(3));
    for (let second = 0; second < 20; second += 1) await first.add(`pay-${second % 3}`, second);
    // Events that fail while others are taken would be deferred.
    await eventually(() => expect(away.received).toHaveLength(20));
    isAway = true;
    for (let second = 20; second < 40; second += 1) await first.add(`pay-${second % 3}`, second);
    await eventually(() => expect(webhook.received.length).toBeGreaterThanOrEqual(40));
    await eventually(async () => {
      expect(await first.publishing()).toEqual([
        {
          target: "away",
          healthy: false,
          message: "The target takes nothing: the target responded with 500",
          ...{ behind_ms: expect.any(Number), deferred: 0, waiting: [] },
        },
        ...["file", "webhook"].map((target) => ({
          ...{ target, healthy: true, message: "Healthy" },
          ...{ behind_ms: expect.any(Number), deferred: 0, waiting: [] },
        })),
      ]);
    });
    await eventually(async () => expect((await first.publishing())[0].behind_ms).toBeGreaterThan(1000));
    const metrics = await first.get("/metrics");
    expect(metrics).toContain('ledger_publishing_deferred_events{scope="shared",target="webhook"} 0');
    expect(metrics).toContain('ledger_publishing_problem{scope="shared",target="webhook"} 0');
    expect(metrics).toContain('ledger_publishing_problem{scope="shared",target="away"} 1');
    expect(metrics).toMatch(/ledger_publishing_behind_seconds\{scope="shared",target="away"\} [\d.]+/);
    expect([await first.get("/healthcheck"), metrics, first.output()].join()).not.toContain("whsec");

    first.child.kill("SIGKILL");
    await first.exit;
    expect(first.output()).toContain('"targets":["webhook","away","file"]');
    isAway = false;
    const second = await startLedger(database, env);
    for (let number = 40; number < 59; number += 1) await second.add(`pay-${number % 3}`, number);
    const expected = Array.from({ length: 59 }, (_, number) => `pay-${number % 3} ${number}`);
    for (const { received } of [webhook, away])
      await eventually(() => {
        const names = received.map(({ body }) => nameOf(body));
        expect([...new Set(names)].toSorted()).toEqual(expected.toSorted());
        for (const id of ["pay-0", "pay-1", "pay-2"])
          expect([...new Set(names)].filter((name) => name.startsWith(id))).toEqual(
            expected.filter((name) => name.startsWith(id)),
          );
      });
    await eventually(async () => {
      const written = await readFile(join(folder, "events.ndjson"), "utf8");
      expect(fileViolation(written)).toBeUndefined();
      const lines = written.trim().split("\n");
      const names = lines.map((line) => nameOf(JSON.stringify(JSON.parse(line).data)));
      expect([...new Set(names)]).toHaveLength(59);
    });
    await second.stop();
  });

  test("sends a dead letter again when it is replayed", async () => {
    await using database = await make();
    let isRejected = true;
    await using webhook = await openWebhook(() => (isRejected ? 400 : 200));
    const env = { PUBLISH_URL: `${webhook.url}?name=webhook` };
    const ledger = await startLedger(database, env);
    await eventually(async () => expect(await ledger.publishing()).toHaveLength(1));
    await ledger.add("pay-1", 1);
    await eventually(() => expect(webhook.attempts).toHaveLength(1));
    await ledger.add("pay-1", 2);
    const waits = {
      target: "webhook",
      ...{ healthy: true, message: "Healthy", behind_ms: 0, deferred: 1 },
      waiting: [
        {
          ...{ resource_type: "payment", resource_external_id: "pay-1", attempts: 1 },
          event_id: expect.any(Number),
          reason: "the target responded with 400",
          next_attempt_date: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
        },
      ],
    };
    await eventually(async () => expect(await ledger.publishing()).toEqual([waits]));
    expect(JSON.parse(await ledger.get("/v1/intake")).publishing).toEqual([waits]);
    expect(await ledger.get("/metrics")).toContain(
      'ledger_publishing_deferred_events{scope="shared",target="webhook"} 1',
    );
    await eventually(() =>
      expect(ledger.output()).toContain("an event waits, since its target has not taken it"),
    );
    await ledger.stop();
    // As if it were days later.
    {
      await using sql = await openDatabase(database.url);
      await sql.run("delete from deferred_delivery where attempts = 0");
      await sql.run("update deferred_delivery set attempts = 9, next_attempt_at = now()");
    }
    const again = await startLedger(database, env);
    const deadLetters = async () => JSON.parse(await again.get("/v1/dead-letter")).dead_letters;
    await eventually(async () => expect(await deadLetters()).toHaveLength(1));
    const [deadLetter] = await deadLetters();
    expect(deadLetter).toMatchObject({
      target: "webhook",
      source_id: expect.stringMatching(/^webhook \d+$/),
      reason: "the target rejects it: the target responded with 400",
    });
    const detail = JSON.parse(await again.get(`/v1/dead-letter/${deadLetter.dead_letter_id}`));
    expect(detail).toMatchObject({
      replay: { outcome: "published" },
      message: expect.stringContaining('"pay-1"'),
    });
    await again.stop();

    const command = (...args: string[]) =>
      run("src/ledger/commands/dead-letters.ts", { args, env: { DATABASE_URL: database.url } }).exit;
    const id = String(deadLetter.dead_letter_id);
    expect((await command("list")).output).toContain("webhook");
    expect((await command("show", id)).output).toMatch(/^target {5}webhook$/m);
    expect((await command("replay", id, "--dry-run")).output).toContain(
      `${id} would be sent to its target again`,
    );
    expect((await command("replay", "--all")).output).toContain(`${id} is sent to its target again`);
    expect((await command("list")).output).toContain("there are no dead letters");
    isRejected = false;
    const last = await startLedger(database, env);
    const received = () => webhook.received.map(({ body }) => nameOf(body));
    await eventually(() => expect(received()).toEqual(["pay-1 1"]));
    await last.add("pay-2", 2);
    await eventually(() => expect(received()).toEqual(["pay-1 1", "pay-2 2"]));
    await last.stop();
  });
});

/** A server that responds to each request with a text that quotes it. The first word of its path is the status or the code. */
async function openQuoting() {
  const server = createServer(async (request, response) => {
    const quoted = `${await text(request)} ${person} `.repeat(20);
    const [, first = ""] = (request.url ?? "").split("/");
    if (first !== "") return response.writeHead(Number(first)).end(quoted);
    const member = (id: number) =>
      `<member><Id>${id}</Id><Code>InvalidParameter</Code><Message>${person} ${"x".repeat(100_000)}</Message><SenderFault>true</SenderFault></member>`;
    const failed = Array.from({ length: 10 }, (_, id) => member(id)).join("");
    const result = `<PublishBatchResult><Successful/><Failed>${failed}</Failed></PublishBatchResult>`;
    return response.end(`<PublishBatchResponse>${result}</PublishBatchResponse>`);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    host: `127.0.0.1:${port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await server[Symbol.asyncDispose]();
    },
  };
}

const person = "Planted Name planted@example.org";
const escaped = (text: string) => text.replaceAll(/[.+/()]/g, "\\$&");

/** Makes it as if days had passed, and an earlier release had recorded the texts of targets. */
async function recordEarlierTexts(url: string, targets: string[]): Promise<void> {
  await using sql = await openDatabase(url);
  await sql.run(`
    update deferred_delivery set attempts = 9, next_attempt_at = now() where resource_external_id = 'pay-1';
    update deferred_delivery set reason = repeat('${person}', 5000) where resource_external_id = 'pay-2';
    insert into publication (target, sql_transaction, event_id, timestamp, problem, owner, owned_until)
    select target || '2', sql_transaction, event_id, timestamp,
      'The target has not taken event 17 of payment/pay-3: ${person}: the target responded with 500', gen_random_uuid(), 'infinity'
    from publication where target like '%/400/%';
    insert into dead_letter (source_id, body, reason, target) values
      ('${targets[0]} 17', '{}', 'the target rejects it: ' || repeat('${person}', 5000), '${targets[0]}')`);
  // The names in the database are those of earlier releases.
  const names = await sql.query<{ target: string }>("select target from publication order by target");
  const recorded = [...targets, `${targets[0]}2`].map((url) => url.replace("?exchange=planted", ""));
  expect(names.map(({ target }) => target)).toEqual(recorded.toSorted());
}

describeOnEngines("a target that quotes events in its errors, or has a secret in its path", (make) => {
  test("has neither in the health, the metrics, the operations for operators, the commands and the log", async () => {
    await using database = await make();
    await using server = await openQuoting();
    const targets = [
      `http://${server.host}/400/planted-secret`,
      `http://${server.host}/500/planted-secret`,
      `sns+http://${server.host}/arn:aws:sns:us-east-1:123456789012:events`,
      `amqp://${server.host}/planted?exchange=planted`,
      "file:/dev/null/planted/events",
    ];
    const env = {
      DATABASE_URL: database.url,
      EVENT_WRITES: "true",
      PUBLISH_URL: targets.join(" "),
      LOG_LEVEL: "trace",
    };
    const add = async (url: string, id: string) => {
      const body = JSON.stringify(
        message({ resource_external_id: id, event_details: { cardholder_name: person } }),
      );
      const headers = { "content-type": "application/json" };
      expect((await request(`${url}/v1/event`, { method: "POST", headers, body })).statusCode).toBe(202);
    };
    const shown: string[] = [];
    const paths = ["/healthcheck", "/metrics", "/v1/intake", "/v1/dead-letter"];
    const publishingOf = async (ledger: Awaited<ReturnType<typeof launchLedger>>) => {
      for (const path of paths) shown.push((await ledger.get(path)).text);
      return JSON.parse((await ledger.get("/healthcheck")).text).publishing;
    };
    const first = await launchLedger(env);
    await first.ready();
    // A target begins with the events that are stored from then on.
    await eventually(async () => expect(await publishingOf(first)).toHaveLength(5));
    await add(first.url, "pay-1");
    await add(first.url, "pay-2");
    const name = (beginning: string) =>
      expect.stringMatching(new RegExp(`^${escaped(beginning)} \\([\\da-f]{6}\\)$`));
    const http = `http://${server.host}`;
    const taken = (target: string, message: string) => ({ target: name(target), healthy: false, message });
    const deferred = (target: string, reason: string) => ({
      target: name(target),
      waiting: [expect.objectContaining({ reason }), expect.objectContaining({ reason })],
    });
    await eventually(async () => {
      const publishing = await publishingOf(first);
      expect(publishing).toHaveLength(5);
      for (const one of [
        taken("file:events", "The target takes nothing: the file cannot be written (ENOTDIR)"),
        taken(
          `amqp://${server.host}`,
          expect.stringMatching(/^The target takes nothing: there is no response/),
        ),
        taken(http, "The target takes nothing: the target responded with 500"),
        deferred(http, "the target responded with 400"),
        deferred(`sns+http://${server.host}/events`, "the target responded with InvalidParameter"),
      ])
        expect(publishing).toContainEqual(expect.objectContaining(one));
    });
    await first.stop();
    shown.push(first.output());

    await recordEarlierTexts(database.url, targets);
    const second = await launchLedger({ ...env, PUBLISH_URL: `${env.PUBLISH_URL} ${targets[0]}2` });
    await second.ready();
    const hidden = "the reason is that of an earlier release, and not shown";
    await eventually(async () => {
      const publishing = await publishingOf(second);
      expect(publishing).toContainEqual(
        expect.objectContaining({ message: `The target has not taken event 17 of payment/pay-3: ${hidden}` }),
      );
      const { dead_letters } = JSON.parse((await second.get("/v1/dead-letter")).text);
      const texts = dead_letters.map(({ target, source_id, reason }: Record<string, string>) => {
        expect(source_id).toMatch(new RegExp(`^${escaped(target ?? "")} \\d+$`));
        return reason?.replace("the target rejects it: ", "");
      });
      expect(texts.toSorted()).toEqual(
        ["the target responded with 400", "the target responded with InvalidParameter", hidden].toSorted(),
      );
    });
    const { dead_letters } = JSON.parse((await second.get("/v1/dead-letter")).text);
    for (const { dead_letter_id } of dead_letters)
      shown.push((await second.get(`/v1/dead-letter/${dead_letter_id}`)).text);
    await second.stop();
    shown.push(second.output());
    const command = async (...args: string[]) => {
      const { output, errors } = await run("src/ledger/commands/dead-letters.ts", {
        args,
        env: { DATABASE_URL: database.url },
      }).exit;
      expect(errors).toBe("");
      return output;
    };
    for (const args of [["list"], ["list", "--json"], ["show", String(dead_letters[0].dead_letter_id)]])
      shown.push((await command(...args)).replace(/^\{.*"event_details".*$/m, ""));
    for (const text of shown) {
      expect(
        text.match(/.{0,60}(?:planted|\/400|123456789012|x{9}|\/dev\/null).{0,60}/is)?.[0],
      ).toBeUndefined();
      expect(Math.max(...text.split("\n").map((line) => line.length))).toBeLessThan(8000);
    }
  });
});

test.each([
  ["ftp://example.com", "must be one of"],
  [
    "https://a.example/hook?requests_at_a_time=101",
    "has a parameter requests_at_a_time that is not a whole number from 1 to 100",
  ],
  ["https://a.example/hook?format=xml", "has a parameter format that is not one of event, cloudevents"],
  ["https://:c2VjcmV0@a.example/hook", "has a password that is not whsec_ and 24 to 64 bytes as base64"],
  ["https://a.example/hook https://a.example/hook?from=beginning", "has two targets of the same name"],
  [`https://a.example/${"x".repeat(2000)}`, "has a URL of more than 2000 characters"],
  [Array.from({ length: 101 }, (_, n) => `https://${n}.example/hook`).join(" "), "has more than 100 targets"],
])("the setting %s is rejected", (PUBLISH_URL, error) => {
  expect(() => readSettings({ PUBLISH_URL }, settings)).toThrow(`PUBLISH_URL ${error}`);
});
