import { isUtf8 } from "node:buffer";
import { parseCommandLine, printable, runCommand, say, UsageError } from "../../process/command.ts";
import { openProgress } from "../../process/progress.ts";
import { readSettings } from "../../process/settings.ts";
import { type Database, openCommandDatabase, type Sql } from "../database/database.ts";
import { messageBytesMax, readMessage } from "../intake/message.ts";
import { openSender, type Sender } from "../queue/sender.ts";
import { settings } from "../settings.ts";
import {
  type DeadLetterRow,
  deadLettersAfter,
  findDeadLetter,
  newestDeadLetterId,
  removeDeadLetters,
} from "../tables/dead-letter.ts";
import { requireMigrated } from "../tables/migrate.ts";

const usage = `Usage: npm run dead-letters -- list
       npm run dead-letters -- show ID
       npm run dead-letters -- replay ID... [--dry-run]
       npm run dead-letters -- replay --all [--dry-run]

Shows and replays dead letters: messages that can never succeed. They are stored with the reason in the database at
DATABASE_URL.

  list        one line for each, oldest first: number, time, id in the queue, reason
  show        everything about one, with its body
  replay      sends them to the queue at QUEUE_URL and removes them. A message that is still invalid becomes a dead
              letter again. One that is not UTF-8, or larger than 1 MiB, is not sent and stays a dead letter
  --dry-run   sends nothing; shows the outcome for each
  --help      print this text
`;

const batch = 100;
/** Limit in milliseconds: a batch can have 100 MiB, and a queue can be slow. */
const batchMaxMs = 600_000;
/** While the queue accepts a batch, a receiver that gets one of its messages waits. */
const replayLimits = { statementMs: batchMaxMs, idleMs: 60_000 };
const anyLength = 2 ** 31 - 1;

await runCommand("dead-letters", usage, async (args) => {
  const { values, positionals } = parseCommandLine({
    args,
    allowPositionals: true,
    options: { all: { type: "boolean" }, "dry-run": { type: "boolean" } },
  });
  const [verb, ...words] = positionals;
  const { all = false, "dry-run": dryRun = false } = values;
  if (verb !== "replay" && (all || dryRun)) throw new UsageError("only replay has options");
  const { DATABASE_URL, QUEUE_URL } = readSettings(process.env, settings);
  const act = actionOf({ verb, ids: [...new Set(words.map(readId))], all, dryRun, queueUrl: QUEUE_URL });
  await using database = await openCommandDatabase(DATABASE_URL);
  await requireMigrated(database);
  await act(database);
});

interface Arguments {
  verb: string | undefined;
  ids: bigint[];
  all: boolean;
  dryRun: boolean;
  queueUrl: string;
}

function actionOf({ verb, ids, all, dryRun, queueUrl }: Arguments): (database: Database) => Promise<void> {
  const [id, ...others] = ids;
  if (verb === "list" && id === undefined) return list;
  if (verb === "show" && id !== undefined && others.length === 0) {
    return async (database) => show(await messageOf(database.within(batchMaxMs), id, anyLength));
  }
  if (verb === "replay" && all !== ids.length > 0) {
    const chosen = all ? undefined : ids;
    return (database) => (dryRun ? showOutcomes(database, chosen) : replay(database, queueUrl, chosen));
  }
  throw new UsageError("expected list, show ID, replay ID... or replay --all");
}

function readId(word: string): bigint {
  if (!/^[1-9]\d{0,17}$/.test(word))
    throw new UsageError(`${printable(word)} is not the number of a dead letter`);
  return BigInt(word);
}

async function list(database: Database): Promise<void> {
  let count = 0;
  for await (const message of messagesOf(database, undefined, 0)) {
    const { id, created_at, source_id, reason } = message;
    say(`${id}  ${created_at}  ${printable(source_id)}  ${printable(reason)}`);
    count += 1;
  }
  say(count === 0 ? "there are no dead letters" : `dead letters: ${count}`);
}

function show({ id, created_at, source_id, reason, body }: DeadLetterRow): void {
  say(`number     ${id}`);
  say(`created at ${created_at}`);
  say(`source id  ${printable(source_id)}`);
  say(`reason     ${printable(reason)}\n`);
  const bytes = Buffer.from(body ?? []);
  process.stdout.write(process.stdout.isTTY ? printable(bytes.toString()) : bytes);
  say("");
}

async function showOutcomes(database: Database, ids: bigint[] | undefined): Promise<void> {
  let count = 0;
  for await (const { id, body } of messagesOf(database.within(batchMaxMs), ids)) {
    say(`${id} would ${outcomeOf(body)}`);
    count += 1;
  }
  say(`dead letters: ${count}; nothing was sent`);
}

function outcomeOf(body: Uint8Array | null): string {
  if (body === null) return "stay a dead letter: it is larger than 1 MiB";
  if (!isUtf8(body)) return "stay a dead letter: it is not valid UTF-8";
  const message = readMessage(Buffer.from(body).toString());
  if (message.kind === "invalid") return `become a dead letter again: ${message.reason}`;
  return message.kind === "event" ? "be stored" : "rebuild a projection";
}

async function replay(database: Database, queueUrl: string, ids: bigint[] | undefined): Promise<void> {
  await using sender = await openSender(queueUrl);
  const sent = await sendAgain(database, sender, inBatches(messagesOf(database.within(batchMaxMs), ids)));
  say(`sent ${sent} messages to ${sender.url}`);
}

async function sendAgain(
  database: Database,
  sender: Sender,
  batches: AsyncIterable<DeadLetterRow[]>,
): Promise<number> {
  using progress = openProgress("sent");
  for await (const messages of batches) {
    // Committed after the queue has accepted them. Until then they stay dead letters.
    await database.transaction(async (sql) => {
      const texts = messages.filter(({ body }) => body !== null && isUtf8(body));
      const removed = await removeDeadLetters(
        sql,
        texts.map(({ id }) => id),
      );
      await sender.send(removed.map((body) => Buffer.from(body).toString()));
      progress.advance(removed.length);
    }, replayLimits);
  }
  return progress.count;
}

/**
 * The dead letters with these numbers, all of which must exist; without numbers all that exist now, oldest first. Bodies
 * are read up to `bodyMax` bytes, by default those that can be replayed.
 */
async function* messagesOf(
  sql: Sql,
  ids?: bigint[],
  bodyMax = messageBytesMax,
): AsyncGenerator<DeadLetterRow> {
  if (ids) {
    const messages: DeadLetterRow[] = [];
    for (const id of ids) messages.push(await messageOf(sql, id, bodyMax));
    yield* messages;
    return;
  }
  const last = await newestDeadLetterId(sql);
  let after = 0n;
  while (after < last) {
    const messages = await deadLettersAfter(sql, after, last, batch, bodyMax);
    yield* messages;
    after = messages.at(-1)?.id ?? last;
  }
}

async function messageOf(sql: Sql, id: bigint, bodyMax: number): Promise<DeadLetterRow> {
  const message = await findDeadLetter(sql, id, bodyMax);
  if (!message) throw new Error(`there is no dead letter ${id}`);
  return message;
}

async function* inBatches<Item>(items: AsyncIterable<Item>): AsyncGenerator<Item[]> {
  let collected: Item[] = [];
  for await (const item of items) {
    collected.push(item);
    if (collected.length < batch) continue;
    yield collected;
    collected = [];
  }
  if (collected.length > 0) yield collected;
}
