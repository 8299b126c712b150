import { readdir, rm } from "node:fs/promises";
import { join, resolve } from "node:path";
import { openCommandDatabase } from "../../database/databases.ts";
import { complain, parseCommandLine, printable, runCommand, say, UsageError } from "../../process/command.ts";
import { lockFolder, lockNames } from "../../process/folder-lock.ts";
import { numeral, openProgress } from "../../process/progress.ts";
import { readSettings } from "../../process/settings.ts";
import { stopOnSignals } from "../../process/stop.ts";
import { isDay, readInstant } from "../../values/instant.ts";
import { readReason, recordCommand } from "../access/recorder.ts";
import { exportLedger } from "../export/export.ts";
import { type Choice, exportNames, type Format } from "../export/manifest.ts";
import { settings } from "../settings.ts";
import { ledgerIdOf } from "../tables/identity.ts";
import { requireMigrated } from "../tables/migrate.ts";
import { midnightOf } from "../tables/summary/periods.ts";
import { logKeyOf } from "../transparency/key.ts";

const formats: Format[] = ["ndjson", "csv", "parquet"];

const usage = `Usage: npm run export -- --from FROM --to TO --format ndjson|csv|parquet [OPTION...] FOLDER

Exports transactions, events and payouts to files in a folder, with a manifest: what the ledger at DATABASE_URL knew at one
position. The ledger can run meanwhile. An export of the same options at the same position has the same bytes. A command
that was stopped goes on when it is run again.

  --from FROM          instant or day (UTC): transactions and payouts that were created from then on, events dated so
  --to TO              instant or day (UTC): up to then, exclusive
  --format FORMAT      ndjson: the JSON of the API; csv: the columns of the CSV of the API; parquet: typed columns
  --account ACCOUNT    only those of a gateway account
  --known-at POSITION  a position of a response (Ledger-Position), or a day that is over; the present position by default
  --rows-per-file N    100000 by default
  --reason TEXT        why, for the record of the export, without personal data; up to 200 characters
  --help               print this text
`;

await runCommand("export", usage, async (args) => {
  const { values, positionals } = parseCommandLine({
    args,
    allowPositionals: true,
    options: {
      from: { type: "string" },
      to: { type: "string" },
      format: { type: "string" },
      account: { type: "string" },
      "known-at": { type: "string" },
      "rows-per-file": { type: "string", default: "100000" },
      reason: { type: "string" },
    },
  });
  const [path, ...others] = positionals;
  if (path === undefined || others.length > 0) throw new UsageError("expected one folder");
  const choice = choiceOf(values);
  const reason = readReason(values.reason);
  const given = readSettings(process.env, settings);
  const folder = resolve(path);
  const lock = lockFolder(folder, exportNames, complain);
  try {
    await using database = await openCommandDatabase(given.DATABASE_URL);
    await requireMigrated(database);
    await recordCommand(database, "export", undefined, reason, choice.account);
    const { signal } = stopOnSignals();
    using sealed = openProgress("entries added to the log");
    using progress = openProgress("rows exported");
    const { counts, known_at } = await exportLedger({
      database,
      folder,
      choice,
      signer: logKeyOf(given, await ledgerIdOf(database)),
      position: values["known-at"],
      signal,
      onEntries: (count) => sealed.advance(count),
      onRows: (count) => progress.advance(count),
    });
    const parts = Object.entries(counts).map(([name, count]) => `${numeral(count)} ${name}`);
    say(`exported ${parts.join(", ")} at the position ${known_at} to ${folder}`);
  } finally {
    const names = (await readdir(folder)).filter((name) => lockNames.test(name));
    for (const name of names) await rm(join(folder, name), { force: true });
    lock[Symbol.dispose]();
  }
});

interface Given {
  from?: string | undefined;
  to?: string | undefined;
  format?: string | undefined;
  account?: string | undefined;
  "rows-per-file": string;
}

function choiceOf({ from, to, format, account, "rows-per-file": rows }: Given): Choice {
  if (from === undefined || to === undefined) throw new UsageError("expected --from and --to");
  const chosen = formats.find((one) => one === format);
  if (!chosen) throw new UsageError(`expected --format ${formats.join("|")}`);
  if (!/^[1-9]\d{0,8}$/.test(rows))
    throw new UsageError("--rows-per-file must be a number from 1 to 999999999");
  const interval = { from: instantOf("--from", from), to: instantOf("--to", to) };
  if (interval.from >= interval.to) throw new UsageError("--from must be before --to");
  return { format: chosen, ...interval, account: account ?? null, rows_per_file: Number(rows) };
}

function instantOf(option: string, text: string): string {
  const instant = isDay(text) ? midnightOf(text) : readInstant(text);
  if (instant === undefined)
    throw new UsageError(`${option} must be a day or an instant of RFC 3339; ${printable(text)} is neither`);
  return instant;
}
