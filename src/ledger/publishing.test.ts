import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { request } from "undici";
import { expect, test } from "vitest";
import { eventually } from "../../testing/eventually.ts";
import { message } from "../../testing/messages.ts";
import { newFolder, run } from "../../testing/run.ts";
import { nameOf, openWebhook } from "../../testing/webhook.ts";
import { openDatabase } from "../database/database.ts";
import { describeOnEngines, type NewDatabase } from "../database/new-database.fixture.ts";
import { readSettings } from "../process/settings.ts";
import { launchLedger } from "./ledger-process.fixture.ts";
import { settings } from "./settings.ts";

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
      const lines = (await readFile(join(folder, "events.ndjson"), "utf8")).trim().split("\n");
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

test.each([
  ["ftp://example.com", "must be one of"],
  ["https://a.example/hook?format=xml", "has a parameter format that is not one of event, cloudevents"],
  ["https://:c2VjcmV0@a.example/hook", "has a password that is not whsec_ and 24 to 64 bytes as base64"],
  ["https://a.example/hook https://a.example/hook?from=beginning", "has two targets of the same name"],
])("the setting %s is rejected", (PUBLISH_URL, error) => {
  expect(() => readSettings({ PUBLISH_URL }, settings)).toThrow(`PUBLISH_URL ${error}`);
});
