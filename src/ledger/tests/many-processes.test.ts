import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { describeIfAvailable } from "../../../testing/describe-if-available.ts";
import { eventually } from "../../../testing/eventually.ts";
import { message } from "../../../testing/messages.ts";
import { run } from "../../../testing/run.ts";
import { openDatabase } from "../../database/databases.ts";
import { newPostgres, postgresServer } from "../../database/new-database.fixture.ts";
import type { Queue } from "../queue/queue.ts";
import { openQueue } from "../queue/queues.ts";
import { savedRows } from "../tables/saved-rows.fixture.ts";
import { demoCopies, expectedRows, launchLedger, openSharedQueue } from "./ledger-process.fixture.ts";

const broker = process.env.TEST_AMQP_URL;
const kafka = process.env.TEST_KAFKA_URL;
const describeOnServers = describeIfAvailable(
  "TEST_POSTGRES_URL, TEST_AMQP_URL or TEST_KAFKA_URL",
  [postgresServer, broker, kafka].every((server) => server !== undefined),
);

type Get = (path: string) => Promise<{ total?: number; count?: number; events?: unknown[] }>;

/** Copies of the demonstration's events, shuffled. Every message occurs twice. */
const messages = (copies: number) =>
  [...demoCopies(copies), ...demoCopies(copies)].toSorted(() => Math.random() - 0.5);

/** On a slow machine, a command also shows its progress on standard error. */
const withoutProgress = (errors: string) =>
  errors.replaceAll(/^[\d,]+ (of [\d,]+ )?(verified|rebuilt), [\d,]+\/s(, [\d,]+ s remaining)?\n/gm, "");

describeOnServers("many processes", () => {
  const addresses: [name: string, make: () => Promise<{ url: string; queue?: Queue }>][] = [
    ["RabbitMQ", async () => ({ url: `${broker}?queue=test-${randomUUID()}` })],
    ["Kafka", async () => ({ url: `${kafka}/test-${randomUUID()}` })],
    [
      "SQS",
      async () => {
        const { queue, queueUrl: url } = await openSharedQueue();
        return { url, queue };
      },
    ],
  ];
  test.each(addresses)(
    "which receive from one queue of %s save the rows of one process, although one is killed",
    async (_name, address) => {
      const { url, queue: opened } = await address();
      await using created = await newPostgres();
      const env = { DATABASE_URL: created.url, QUEUE_RECEIVER_BATCH_SIZE: "20", LOG_LEVEL: "warn" };
      const bodies = messages(40);
      await using queue = opened ?? (await openQueue(url));
      await queue.send(bodies.slice(0, 500));
      const ledgers = await Promise.all([1, 2, 3].map(() => launchLedger({ ...env, QUEUE_URL: url })));
      const [killed, ...others] = ledgers;
      for (let sent = 500; sent < bodies.length; sent += 100) {
        await queue.send(bodies.slice(sent, sent + 100));
        await sleep(20);
      }
      await using database = await openDatabase(created.url);
      const stored = async () =>
        (await database.query<{ count: bigint }>("select count(*) from event"))[0]?.count ?? 0n;
      await eventually(async () => expect(await stored()).toBeGreaterThan(100n));
      killed?.child.kill("SIGKILL");
      const verified = await run("src/ledger/commands/reproject.ts", { args: ["--all", "--verify"], env })
        .exit;
      expect([verified.code, withoutProgress(verified.errors)]).toEqual([0, ""]);
      const reprojected = await run("src/ledger/commands/reproject.ts", { args: ["--all"], env }).exit;
      expect([reprojected.code, withoutProgress(reprojected.errors)]).toEqual([0, ""]);

      await eventually(async () => expect(await queue.countWaiting()).toBe(0));
      const expected = await expectedRows(postgresServer ?? "", bodies);
      await eventually(async () => expect(await stored()).toBe(BigInt(expected.events.length)));
      for (const { stop } of others) await stop();
      expect(others.map(({ output }) => output())).toEqual(["", ""]);
      expect(await savedRows(database)).toEqual(expected);
      const [row] = await database.query(
        "select deadlocks from pg_stat_database where datname = current_database()",
      );
      expect(row).toEqual({ deadlocks: 0n });
      expect(expected.transactions).toHaveLength(240);
    },
  );

  test("see a commit of any of them in every later request", async () => {
    await using created = await newPostgres();
    const env = { DATABASE_URL: created.url, QUEUE_URL: `${broker}?queue=test-${randomUUID()}` };
    await using queue = await openQueue(env.QUEUE_URL);
    const ledgers = await Promise.all([launchLedger(env), launchLedger(env)]);
    for (const { ready } of ledgers) await ready();
    const [one, other] = ledgers.map(({ get }) => async (path: string) => {
      // The same host for both processes, since it is in the links of a response.
      const { text } = await get(`/v1/transaction/${path}`, { host: "localhost" });
      return JSON.parse(text);
    }) as [Get, Get];
    for (let round = 0; round < 50; round += 1) {
      const [first, second] = round % 2 === 0 ? [one, other] : [other, one];
      const count = [1, 3, 20, 100][round % 4] as number;
      const event_details = {
        gateway_account_id: "57",
        reference: `round ${round}`,
        description: "x".repeat(round * 100),
      };
      const payments = Array.from({ length: count }, (_, index) =>
        message({ resource_external_id: `pay-${round}-${index}`, event_details }),
      );
      const next = message({ timestamp: new Date(Date.UTC(2024, 2, 5) + round).toISOString() });
      const readFrom = async (get: Get) => ({
        found: await get(`?account_id=57&reference=round+${round}&display_size=500`),
        last: await get(`pay-${round}-${count - 1}?account_id=57`),
        history: await get("pay1/event?gateway_account_id=57&include_all_events=true"),
      });
      // If this process caches responses, it now has one without the payments of this round.
      expect((await readFrom(second)).found.total).toBe(0);
      await queue.send([...payments, next].map((body) => JSON.stringify(body)));
      const committed = await eventually(async () => {
        const responses = await readFrom(first);
        const { found, history } = responses;
        // A page and its total are read by two statements.
        expect([found.count, found.total, history.events?.length]).toEqual([count, count, round + 1]);
        return responses;
      });
      expect(await readFrom(second)).toEqual(committed);
    }
  });
});
