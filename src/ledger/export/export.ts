import { statSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import type { Database } from "../../database/database.ts";
import { messagesOf } from "../../http/failure.ts";
import type { Currency } from "../../values/currency.ts";
import type { Known } from "../past/known.ts";
import { openCursors } from "../requests/cursor.ts";
import { openReader } from "../requests/lanes.ts";
import { knownAt, knownNow, type NamedKnown } from "../requests/positions.ts";
import { cursorKeyOf, ledgerCurrency, ledgerIdOf } from "../tables/identity.ts";
import { lastOf } from "../tables/known/position.ts";
import { isAccount, type Place } from "../tables/known/walk.ts";
import { checkpointUpTo } from "../transparency/checkpoint.ts";
import type { Signer } from "../transparency/note.ts";
import { csvOfColumns, type Encoder, encodeCsv, encodeNdjson, parquetEncoders } from "./encoders.ts";
import { openFile } from "./file.ts";
import { type Kind, kinds } from "./kinds.ts";
import { type Choice, incompleteEnd, type Manifest, readManifest, writeManifest } from "./manifest.ts";
import { openRows } from "./rows.ts";
import { openTally } from "./tally.ts";

/** Limit in milliseconds for a statement, which reads a page. */
const statementMaxMs = 600_000;

export interface Export {
  database: Database;
  /** It exists. */
  folder: string;
  choice: Choice;
  /** The key of the log. Undefined: the ledger has none. */
  signer: Signer | undefined;
  /** A position or a day. Default: the present one. */
  position: string | undefined;
  signal: AbortSignal;
  /** Called with the number of entries that were added to the log. */
  onEntries(count: number): void;
  onRows(count: number): void;
}

/**
 * Exports what the ledger knew at a position. An export that has begun in the folder goes on after its last whole file, at its
 * position.
 */
export async function exportLedger({
  database,
  folder,
  choice,
  signer,
  position,
  signal,
  onEntries,
  onRows,
}: Export): Promise<Manifest> {
  const begun = await readManifest(folder);
  const ledgerId = await ledgerIdOf(database);
  if (choice.account !== null && !(await isAccount(database.within(statementMaxMs), choice.account)))
    throw new Error(`nothing in the ledger has the account ${choice.account}`);
  const currency = await ledgerCurrency(database);
  const known = await openPosition(database, position ?? begun?.known_at);
  if (begun) requireSame(begun, { ...choice, ledger_id: ledgerId, known_at: known.name }, folder);
  if (begun?.complete) return begun;
  const onSealed = (count: number) => {
    requireGoing(signal);
    onEntries(count);
  };
  const manifest: Manifest = begun ?? {
    format_version: 1,
    complete: false,
    ledger_id: ledgerId,
    currency: currency.code,
    ...choice,
    known_at: known.name,
    checkpoint: signer ? await checkpointUpTo(database, signer, lastOf(known.position), onSealed) : null,
    counts: { transactions: 0, events: 0, payouts: 0 },
    sums: { transactions: [], events: [], payouts: [] },
    files: [],
    next: { kind: "transactions", after: null },
  };
  await writeManifest(folder, manifest);
  const first = kinds.findIndex(({ name }) => name === manifest.next?.kind);
  for (const kind of kinds.slice(first)) {
    const after = (manifest.next?.kind === kind.name && manifest.next.after) || undefined;
    await exportKind({ folder, known, currency, manifest, signal, onRows }, kind, after);
  }
  const { next: _, ...whole } = manifest;
  const complete = { ...whole, complete: true };
  await writeManifest(folder, complete);
  return complete;
}

type Wanted = Choice & Pick<Manifest, "ledger_id" | "known_at">;

/** Throws if an export in the folder is another one, or has lost a file. */
function requireSame(begun: Manifest, wanted: Wanted, folder: string): void {
  const names = Object.keys(wanted) as (keyof Wanted)[];
  const other = names.find((name) => begun[name] !== wanted[name]);
  if (other)
    throw new Error(
      `the folder ${folder} has another export: its ${other} is ${begun[other]}, and not ${wanted[other]}`,
    );
  for (const { name, bytes } of begun.files)
    if (statSync(join(folder, name), { throwIfNoEntry: false })?.size !== bytes)
      throw new Error(
        `the file ${join(folder, name)} is not as the export has left it; begin in an empty folder`,
      );
}

function requireGoing(signal: AbortSignal): void {
  if (signal.aborted) throw new Error("stopped; run the command again to go on");
}

async function openPosition(database: Database, text: string | undefined): Promise<NamedKnown & Known> {
  const reader = openReader(database, statementMaxMs);
  const cursors = openCursors(await cursorKeyOf(database));
  const known =
    text === undefined
      ? await knownNow(reader, cursors)
      : await knownAt(reader, cursors, { name: "known_at", text });
  if ("details" in known) throw new Error(messagesOf(known).join("; ").replaceAll("known_at", "--known-at"));
  return { ...known, sql: reader.sql };
}

/** An export in progress. */
interface Progress extends Pick<Export, "folder" | "signal" | "onRows"> {
  known: Known;
  currency: Currency;
  /** Says what is whole. */
  manifest: Manifest;
}

/** Exports the rows of a kind after a place, and changes the manifest with each file. A kind without rows has one file. */
async function exportKind<Row, Shown>(progress: Progress, kind: Kind<Row, Shown>, start: Place | undefined) {
  const { folder, known, manifest, signal, onRows } = progress;
  const { name, tally: form } = kind;
  const walked = { account: manifest.account ?? undefined, dated: { from: manifest.from, to: manifest.to } };
  const newEncoder = await encoderOf(progress, kind);
  const tally = openTally(form, manifest.sums[name]);
  const read = (row: Row) => {
    const shown = kind.read(row);
    tally.add(kind.sums(shown));
    return shown;
  };
  await using walk = openRows(kind.walk(known, walked, start));
  let after = start;
  for (let isEnd = false; !isEnd; ) {
    const number = manifest.files.filter((file) => file.name.startsWith(name)).length + 1;
    let rows = await walk.take(manifest.rows_per_file);
    if (rows.length === 0 && number > 1) break;
    const fileName = `${name}-${String(number).padStart(5, "0")}.${manifest.format}`;
    await using file = await openFile(folder, fileName);
    const encoder = newEncoder();
    let count = 0;
    for (; rows.length > 0; rows = await walk.take(manifest.rows_per_file - count)) {
      if (signal.aborted) await rm(join(folder, fileName + incompleteEnd), { force: true });
      requireGoing(signal);
      await file.write(encoder.add(rows, read));
      count += rows.length;
      after = kind.placeOf(rows.at(-1) as Row);
      onRows(rows.length);
    }
    await file.write(encoder.end());
    manifest.files.push(await file.complete(count));
    manifest.counts[name] += count;
    manifest.sums[name] = tally.groups();
    manifest.next = { kind: name, after: after ?? null };
    await writeManifest(folder, manifest);
    isEnd = count < manifest.rows_per_file;
  }
}

async function encoderOf<Row, Shown>(
  { known, currency, manifest }: Progress,
  { csv, columns, json }: Kind<Row, Shown>,
): Promise<() => Encoder<Row, Shown>> {
  if (manifest.format === "ndjson") return () => encodeNdjson(json);
  if (manifest.format === "parquet") return parquetEncoders(columns);
  const lines = csv ? await csv(known, manifest.account ?? undefined, currency) : csvOfColumns(columns);
  return () => encodeCsv(lines);
}
