import { isUtf8 } from "node:buffer";
import { parseCommandLine, printable, runCommand, say, UsageFault } from "../../process/command.ts";
import { openProgress } from "../../process/progress.ts";
import { readSettings } from "../../process/settings.ts";
import { type Database, openDatabase, type Sql } from "../database/database.ts";
import { messageBytesMax, readMessage } from "../intake/message.ts";
import { openSender, type Sender } from "../queue/sender.ts";
import { settings } from "../settings.ts";
import {
  findParkedMessage,
  newestParkedId,
  type ParkedMessageRow,
  parkedMessagesAfter,
  removeParkedMessages,
} from "../tables/dead-letter.ts";
import { refuseUnmigrated } from "../tables/migrate.ts";

const usage = `Usage: npm run parked -- list
       npm run parked -- show ID
       npm run parked -- replay ID... [--dry-run]
       npm run parked -- replay --all [--dry-run]

Messages that could never become an event wait, with the reason, in the database at DATABASE_URL.

  list        one line for each, oldest first: its number, when it was parked, the queue's id of it, the reason
  show        all that is known of one, and its body
  replay      sends them to the queue at QUEUE_URL again and parks them no more; one that still cannot be read
              is parked anew by the ledger, and one that is not text, or larger than 1 MiB, stays where it is
  --dry-run   sends nothing, and tells what would become of each
  --help      print this text
`;

const batch = 100;
/** Milliseconds: a batch can be of 100 MiB, and a queue may take its time. */
const batchMaxMs = 600_000;
/** While the queue takes a batch, a receiver that parks one of its messages anew waits. */
const replayLimits = { statementMs: batchMaxMs, idleMs: 60_000 };
const anyLength = 2 ** 31 - 1;

await runCommand("parked", usage, async (args) => {
  const { values, positionals } = parseCommandLine({
    args,
    allowPositionals: true,
    options: { all: { type: "boolean" }, "dry-run": { type: "boolean" } },
  });
  const [verb, ...words] = positionals;
  const { all = false, "dry-run": dryRun = false } = values;
  if (verb !== "replay" && (all || dryRun)) throw new UsageFault("only replay has options");
  const { DATABASE_URL, QUEUE_URL } = readSettings(process.env, settings);
  const act = actionOf({ verb, ids: [...new Set(words.map(readId))], all, dryRun, queueUrl: QUEUE_URL });
  await using database = await openDatabase(DATABASE_URL);
  await refuseUnmigrated(database);
  await act(database);
});

interface Asked {
  verb: string | undefined;
  ids: bigint[];
  all: boolean;
  dryRun: boolean;
  queueUrl: string;
}

function actionOf({ verb, ids, all, dryRun, queueUrl }: Asked): (database: Database) => Promise<void> {
  const [id, ...others] = ids;
  if (verb === "list" && id === undefined) return list;
  if (verb === "show" && id !== undefined && others.length === 0) {
    return async (database) => show(await messageOf(database.within(batchMaxMs), id, anyLength));
  }
  if (verb === "replay" && all !== ids.length > 0) {
    const chosen = all ? undefined : ids;
    return (database) => (dryRun ? tellFates(database, chosen) : replay(database, queueUrl, chosen));
  }
  throw new UsageFault("say list, show ID, replay ID... or replay --all");
}

function readId(word: string): bigint {
  if (!/^[1-9]\d{0,17}$/.test(word)) throw new UsageFault(`${printable(word)} is no number of a message`);
  return BigInt(word);
}

async function list(database: Database): Promise<void> {
  let count = 0;
  for await (const message of messagesOf(database, undefined, 0)) {
    const { id, parked_at, source_id, reason } = message;
    say(`${id}  ${parked_at}  ${printable(source_id)}  ${printable(reason)}`);
    count += 1;
  }
  say(count === 0 ? "no message is parked" : `${count} parked`);
}

function show({ id, parked_at, source_id, reason, body }: ParkedMessageRow): void {
  say(`number     ${id}`);
  say(`parked at  ${parked_at}`);
  say(`source id  ${printable(source_id)}`);
  say(`reason     ${printable(reason)}\n`);
  const bytes = Buffer.from(body ?? []);
  process.stdout.write(process.stdout.isTTY ? printable(bytes.toString()) : bytes);
  say("");
}

async function tellFates(database: Database, ids: bigint[] | undefined): Promise<void> {
  let count = 0;
  for await (const { id, body } of messagesOf(database.within(batchMaxMs), ids)) {
    say(`${id} would ${fateOf(body)}`);
    count += 1;
  }
  say(`${count} looked at; nothing was sent`);
}

function fateOf(body: Uint8Array | null): string {
  if (body === null) return "stay parked: it is larger than 1 MiB";
  if (!isUtf8(body)) return "stay parked: it is not text in UTF-8";
  const message = readMessage(Buffer.from(body).toString());
  if (message.kind === "refused") return `be parked again: ${message.reason}`;
  return message.kind === "event" ? "be stored" : "be folded again";
}

async function replay(database: Database, queueUrl: string, ids: bigint[] | undefined): Promise<void> {
  await using sender = await openSender(queueUrl);
  const sent = await sendAgain(database, sender, inBatches(messagesOf(database.within(batchMaxMs), ids)));
  say(`sent ${sent} messages to ${sender.url}`);
}

async function sendAgain(
  database: Database,
  sender: Sender,
  batches: AsyncIterable<ParkedMessageRow[]>,
): Promise<number> {
  using progress = openProgress("sent");
  for await (const messages of batches) {
    // Committed when the queue has taken them: until then they are parked, whatever happens.
    await database.transaction(async (sql) => {
      const texts = messages.filter(({ body }) => body !== null && isUtf8(body));
      const removed = await removeParkedMessages(
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
 * Those with these numbers, each of which there must be; or all that are parked now, oldest first. With bodies that can be
 * replayed, unless others are asked for.
 */
async function* messagesOf(
  sql: Sql,
  ids?: bigint[],
  bodyMax = messageBytesMax,
): AsyncGenerator<ParkedMessageRow> {
  if (ids) {
    const messages: ParkedMessageRow[] = [];
    for (const id of ids) messages.push(await messageOf(sql, id, bodyMax));
    yield* messages;
    return;
  }
  const last = await newestParkedId(sql);
  let after = 0n;
  while (after < last) {
    const messages = await parkedMessagesAfter(sql, after, last, batch, bodyMax);
    yield* messages;
    after = messages.at(-1)?.id ?? last;
  }
}

async function messageOf(sql: Sql, id: bigint, bodyMax: number): Promise<ParkedMessageRow> {
  const message = await findParkedMessage(sql, id, bodyMax);
  if (!message) throw new Error(`no message ${id} is parked`);
  return message;
}

async function* inBatches<Item>(items: AsyncIterable<Item>): AsyncGenerator<Item[]> {
  let some: Item[] = [];
  for await (const item of items) {
    some.push(item);
    if (some.length < batch) continue;
    yield some;
    some = [];
  }
  if (some.length > 0) yield some;
}
