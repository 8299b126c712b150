import { isUtf8 } from "node:buffer";
import type { Database, Sql } from "../../database/database.ts";
import { openCommandDatabase } from "../../database/databases.ts";
import { parseCommandLine, printable, runCommand, say, UsageError } from "../../process/command.ts";
import { openProgress } from "../../process/progress.ts";
import { readSettings } from "../../process/settings.ts";
import { toJson } from "../../values/json.ts";
import { readReason, recordCommand } from "../access/recorder.ts";
import { type Batch, ingest, permanentReason } from "../intake/ingest.ts";
import { messageBytesMax, messageIn } from "../intake/message.ts";
import { type Plan, planOf } from "../intake/replay.ts";
import { settings } from "../settings.ts";
import {
  type DeadLetterRow,
  type DeadLetterState,
  deadLettersAfter,
  discardDeadLetters,
  explainDeadLetter,
  findDeadLetter,
  newestDeadLetterId,
} from "../tables/dead-letter.ts";
import { republishDeadLetters } from "../tables/feed/deferred-delivery.ts";
import { ledgerCurrency } from "../tables/identity.ts";
import { requireMigrated } from "../tables/migrate.ts";
import { viewDeadLetterTexts } from "../views/intake.ts";

const usage = `Usage: npm run dead-letters -- list [--discarded] [--json]
       npm run dead-letters -- show ID [--json] [--reason TEXT]
       npm run dead-letters -- replay ID... | --all [--dry-run] [--json] [--reason TEXT]
       npm run dead-letters -- discard ID... --note TEXT [--reason TEXT]

Shows, replays and discards dead letters: messages that can never be stored, and published events that a target of
PUBLISH_URL has rejected to the last attempt. They are stored with the reason in the database at DATABASE_URL. The ledger
can run meanwhile.

  list         one line for each open one, oldest first: number, time, source, reason. The source is the id in the queue,
               or the target with the number of the event
  show         everything about one, with its body
  replay       ingests the messages again, and lets the ledger send the events to their targets again. A message that is
               valid now is stored and removed from the dead letters; any other keeps its number and its time, and gets its
               new reason. An event is removed, and becomes a new dead letter if its target rejects it to the last attempt
  discard      keeps them for the records, with a note of up to 1000 characters, and takes them off the list
  --reason TEXT
               of show, replay and discard: why, for the record of the access, without personal data; up to 200 characters
  --discarded  lists the discarded ones, with their notes
  --dry-run    changes nothing; shows the outcome of each
  --json       one JSON object on each line
  --help       print this text
`;

const batch = 100;
/** Limit in milliseconds for a statement. */
const statementMaxMs = 600_000;
const anyLength = 2 ** 31 - 1;
const noteMax = 1000;

const outcomes = { stored: "stored", rebuilt: "rebuilt", published: "sent to its target again" };

const flag = { type: "boolean" } as const;
/** The options of each verb. */
const optionsOf: Record<string, string[]> = {
  list: ["discarded", "json"],
  show: ["json", "reason"],
  replay: ["all", "dry-run", "json", "reason"],
  discard: ["note", "reason"],
};

await runCommand("dead-letters", usage, async (args) => {
  const act = actionOf(args);
  const { DATABASE_URL } = readSettings(process.env, settings);
  await using database = await openCommandDatabase(DATABASE_URL);
  await requireMigrated(database);
  await act(database);
});

type Action = (database: Database) => Promise<void>;

/** Prints lines for a person, or JSON lines. */
interface Output {
  write(row: object, line: string): void;
  /** A last line for a person. */
  finish(line: string): void;
}

function actionOf(args: string[]): Action {
  const { values, positionals } = parseCommandLine({
    args,
    allowPositionals: true,
    options: {
      all: flag,
      discarded: flag,
      "dry-run": flag,
      json: flag,
      note: { type: "string" },
      reason: { type: "string" },
    },
  });
  const reason = readReason(values.reason);
  const [verb = "", ...words] = positionals;
  const ids = [...new Set(words.map(readId))];
  const [id, ...others] = ids;
  const options = Object.hasOwn(optionsOf, verb) ? optionsOf[verb] : undefined;
  const unknown = Object.keys(values).find((name) => !options?.includes(name));
  if (options && unknown !== undefined) throw new UsageError(`${verb} has no option --${unknown}`);
  const output: Output = values.json
    ? { write: (row) => process.stdout.write(toJson(row)), finish: () => {} }
    : { write: (_row, line) => say(line), finish: say };

  if (verb === "list" && id === undefined) {
    return (database) => list(database, values.discarded ? "discarded" : "open", output);
  }
  if (verb === "show" && id !== undefined && others.length === 0) {
    return recorded(verb, ids, reason, (database) => show(database, id, values.json === true));
  }
  if (verb === "replay" && (values.all === true) !== ids.length > 0) {
    const chosen = values.all ? undefined : ids;
    if (values["dry-run"]) return (database) => showOutcomes(database, chosen, output);
    return recorded(verb, chosen, reason, (database) => replay(database, chosen, output));
  }
  if (verb === "discard" && id !== undefined) {
    const note = values.note?.trim() ?? "";
    if (note === "" || note.length > noteMax)
      throw new UsageError(`discard requires --note with 1 to ${noteMax} characters`);
    return recorded(verb, ids, reason, (database) => discard(database, ids, note));
  }
  throw new UsageError("expected list, show ID, replay ID..., replay --all or discard ID...");
}

/** Records who looks at a message, which has personal data, and who changes something. */
function recorded(verb: string, ids: bigint[] | undefined, reason: string | undefined, act: Action): Action {
  return async (database) => {
    const names = ids?.map((id) => `dead-letter/${id}`);
    await recordCommand(database, `dead-letters ${verb}`, names, reason);
    await act(database);
  };
}

function readId(word: string): bigint {
  if (!/^[1-9]\d{0,17}$/.test(word))
    throw new UsageError(`${printable(word)} is not the number of a dead letter`);
  return BigInt(word);
}

/** A dead letter as JSON, without its body. */
function asJson({ body: _body, size: _size, ...row }: DeadLetterRow) {
  return { ...row, ...viewDeadLetterTexts(row) };
}

async function list(database: Database, kind: DeadLetterState, output: Output): Promise<void> {
  let count = 0;
  for await (const row of rowsOf(database, undefined, kind, 0)) {
    const { id, created_at, source_id, reason, note } = asJson(row);
    const last = note === null ? "" : `  note: ${printable(note)}`;
    output.write(asJson(row), `${id}  ${created_at}  ${printable(source_id)}  ${printable(reason)}${last}`);
    count += 1;
  }
  const name = kind === "open" ? "dead letters" : "discarded dead letters";
  output.finish(count === 0 ? `there are no ${name}` : `${name}: ${count}`);
}

async function show(database: Database, id: bigint, json: boolean): Promise<void> {
  const row = await rowOf(database.within(statementMaxMs), id, anyLength);
  const { created_at, source_id, reason, discarded_at, note, target } = asJson(row);
  const body = Buffer.from(row.body ?? []);
  if (json) {
    const text = isUtf8(body) ? { body: body.toString() } : { body_base64: body.toString("base64") };
    process.stdout.write(toJson({ ...asJson(row), ...text }));
    return;
  }
  say(`number     ${id}`);
  say(`created at ${created_at}`);
  say(`source id  ${printable(source_id)}`);
  say(`reason     ${printable(reason)}`);
  if (target !== null) say(`target     ${printable(target)}`);
  if (discarded_at !== null) say(`discarded  ${discarded_at}: ${printable(note ?? "")}`);
  say("");
  process.stdout.write(process.stdout.isTTY ? printable(body.toString()) : body);
  say("");
}

async function showOutcomes(database: Database, ids: bigint[] | undefined, output: Output): Promise<void> {
  const currency = await ledgerCurrency(database);
  let count = 0;
  for await (const row of rowsOf(database.within(statementMaxMs), ids)) {
    const plan = planOf(row, messageIn(row), currency);
    const sentence = "reason" in plan ? "would stay a dead letter" : `would be ${outcomes[plan.outcome]}`;
    writeOutcome(output, row, plan, sentence);
    count += 1;
  }
  output.finish(`dead letters: ${count}; nothing was changed`);
}

function writeOutcome({ write }: Output, { id }: DeadLetterRow, plan: Plan, sentence: string): void {
  const { outcome } = plan;
  if ("reason" in plan)
    write({ id, outcome, reason: plan.reason }, `${id} ${sentence}: ${printable(plan.reason)}`);
  else write({ id, outcome }, `${id} ${sentence}`);
}

async function replay(database: Database, ids: bigint[] | undefined, output: Output): Promise<void> {
  const currency = await ledgerCurrency(database);
  using progress = openProgress("replayed");
  let left = 0;
  for await (const rows of inBatches(rowsOf(database.within(statementMaxMs), ids))) {
    const planned = rows.map((row) => planOf(row, messageIn(row), currency));
    const plans = await ingestPlans(database, planned);
    const published = rows.filter((_, index) => plans[index]?.outcome === "published").map(({ id }) => id);
    if (published.length > 0) await republishDeadLetters(database, published);
    for (const [index, row] of rows.entries()) {
      const plan = plans[index] as Plan;
      if ("reason" in plan) {
        await explainDeadLetter(database, row.id, plan.reason);
        writeOutcome(output, row, plan, "stays a dead letter");
        left += 1;
      } else {
        const verb = plan.outcome === "published" ? "is" : "was";
        writeOutcome(output, row, plan, `${verb} ${outcomes[plan.outcome]}`);
      }
    }
    progress.advance(rows.length);
  }
  output.finish(`replayed ${progress.count} dead letters; ${left} of them stay`);
}

/** Ingests the batches together, or each alone if that fails. Resolves with what has become of each. */
async function ingestPlans(database: Database, plans: Plan[]): Promise<Plan[]> {
  const batches = plans.flatMap((plan) => ("batch" in plan ? plan.batch : []));
  if (batches.length === 0) return plans;
  const together: Batch = {
    events: batches.flatMap(({ events }) => events),
    rebuilds: batches.flatMap(({ rebuilds }) => rebuilds),
    deadLetters: [],
    replayed: batches.flatMap(({ replayed = [] }) => replayed),
  };
  try {
    await ingest(database, together);
    return plans;
  } catch (error) {
    if (plans.length > 1)
      return (await Array.fromAsync(plans, (plan) => ingestPlans(database, [plan]))).flat();
    const reason = permanentReason(error);
    // The message may succeed later.
    if (reason === undefined) throw error;
    return [{ outcome: "dead_letter", reason, faults: [] }];
  }
}

/** Up to 100 rows with about 1 MiB of bodies, since a transaction needs several times as much memory. */
async function* inBatches(rows: AsyncIterable<DeadLetterRow>): AsyncGenerator<DeadLetterRow[]> {
  let collected: DeadLetterRow[] = [];
  let bytes = 0;
  for await (const row of rows) {
    collected.push(row);
    bytes += row.body?.length ?? 0;
    if (collected.length < batch && bytes < messageBytesMax) continue;
    yield collected;
    [collected, bytes] = [[], 0];
  }
  if (collected.length > 0) yield collected;
}

async function discard(database: Database, ids: bigint[], note: string): Promise<void> {
  for (const id of ids) await openRowOf(database, id, 0);
  const discarded = await discardDeadLetters(database, ids, note);
  say(`discarded ${discarded.length} dead letters`);
}

/**
 * The dead letters with these numbers, all of which must be open; without numbers all of a kind that exist now, oldest first.
 * Bodies are read up to `bodyMax` bytes, by default those that can be replayed.
 */
async function* rowsOf(sql: Sql, ids?: bigint[], kind: DeadLetterState = "open", bodyMax = messageBytesMax) {
  if (ids) {
    for (const id of ids) await openRowOf(sql, id, 0);
    for (const id of ids) yield await openRowOf(sql, id, bodyMax);
    return;
  }
  const last = await newestDeadLetterId(sql);
  let after = 0n;
  while (after < last) {
    const rows = await deadLettersAfter(sql, kind, after, last, batch, bodyMax);
    yield* rows;
    after = rows.at(-1)?.id ?? last;
  }
}

async function rowOf(sql: Sql, id: bigint, bodyMax: number): Promise<DeadLetterRow> {
  const row = await findDeadLetter(sql, id, bodyMax);
  if (!row) throw new Error(`there is no dead letter ${id}`);
  return row;
}

async function openRowOf(sql: Sql, id: bigint, bodyMax: number): Promise<DeadLetterRow> {
  const row = await rowOf(sql, id, bodyMax);
  if (row.discarded_at !== null) throw new Error(`the dead letter ${id} was discarded`);
  return row;
}
