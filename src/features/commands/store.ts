import { createReadStream, createWriteStream } from "node:fs";
import { rename, rm } from "node:fs/promises";
import { addAbortSignal } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { components } from "../../../generated/features.ts";
import { featuresContract } from "../../contract/contracts.ts";
import { describeFaults } from "../../contract/faults.ts";
import { schemaValidator } from "../../contract/validation.ts";
import { parseCommandLine, runCommand, say, UsageError } from "../../process/command.ts";
import { privateFileMode } from "../../process/private-folder.ts";
import { numeral, openProgress } from "../../process/progress.ts";
import { readSettings } from "../../process/settings.ts";
import { stopOnSignals } from "../../process/stop.ts";
import { isUnicode, parseJson, toJson } from "../../values/json.ts";
import { linesOf } from "../../values/lines.ts";
import { readChange, viewEntry } from "../requests/entry.ts";
import { tooMany } from "../requests/errors.ts";
import { isPast } from "../requests/expiry.ts";
import { settings } from "../settings.ts";
import { changeMany, type ResourceChange } from "../store/change-many.ts";
import type { Directory, Features } from "../store/store.ts";
import { openFeatureStore } from "../store/stores.ts";

const usage = `Usage: npm run store -- export FILE
       npm run store -- import FILE

Exports all features of the store at FEATURES_STORE_URL to a file, or imports a file into it. The service can run
meanwhile. Each line is a JSON object (schema Entry of the contract). A FILE of - is standard output or input.

  export   the features of a resource are together and in order; a resource that changes meanwhile is exported in its
           state before or after the change
  import   adds features in the order of the lines; a feature that exists keeps its position, an expired feature is
           skipped. It is safe to import a file again
  --help   print this text
`;

const linesPerBatch = 1000;
const findFaults = schemaValidator(featuresContract, "Entry");

function readLine(number: number, line: string): ResourceChange {
  const entry = parseJson(line);
  if (entry === undefined) throw new Error(`line ${number} is not JSON`);
  if (!isUnicode(entry)) throw new Error(`line ${number} has an unpaired surrogate`);
  const faults = describeFaults(findFaults(entry), (pointer) => pointer.slice(1) || "the value");
  if (faults.length > 0) throw new Error(`line ${number}: ${faults.join("; ")}`);
  return readChange({ type: "add", ...(entry as components["schemas"]["Entry"]) });
}

await runCommand("store", usage, async (args) => {
  const { positionals } = parseCommandLine({ args, allowPositionals: true });
  const [command = "", file, ...more] = positionals;
  const work = { export: exportTo, import: importFrom }[command];
  if (!work || file === undefined || more.length > 0) {
    throw new UsageError("expected export or import, and one file (- for standard output or input)");
  }
  const { FEATURES_STORE_URL } = readSettings(process.env, settings);
  if (FEATURES_STORE_URL.startsWith("memory:")) {
    throw new UsageError("FEATURES_STORE_URL is memory:, which no other process can read");
  }
  const { signal } = stopOnSignals();
  await using store = await openFeatureStore(FEATURES_STORE_URL);
  await work(store, file, signal);
});

async function exportTo(store: Directory, file: string, signal: AbortSignal): Promise<void> {
  using progress = openProgress("exported");
  async function* chunks() {
    let lines: string[] = [];
    for await (const entry of store.entries()) {
      lines.push(toJson(viewEntry(entry)));
      if (lines.length < linesPerBatch) continue;
      yield lines.join("");
      progress.advance(lines.length);
      lines = [];
    }
    yield lines.join("");
    progress.advance(lines.length);
  }
  if (file === "-") {
    await pipeline(chunks, process.stdout, { signal, end: false });
    return;
  }
  // The file gets its name when it is complete.
  const incomplete = `${file}.part`;
  try {
    // What an interrupted export has left keeps its mode.
    await rm(incomplete, { force: true });
    await pipeline(chunks, createWriteStream(incomplete, { mode: privateFileMode }), { signal });
    await rename(incomplete, file);
  } catch (error) {
    await rm(incomplete, { force: true });
    throw signal.aborted ? new Error(`stopped; ${file} was not written`) : error;
  }
  say(`exported ${numeral(progress.count)} features to ${file}`);
}

async function importFrom(store: Features, file: string, signal: AbortSignal): Promise<void> {
  using progress = openProgress("imported");
  const input = addAbortSignal(signal, file === "-" ? process.stdin : createReadStream(file));
  const counts = { added: 0, "already present": 0, expired: 0 };
  /** Changes, each with the number of its line. */
  let batch: [number, ResourceChange][] = [];
  let number = 0;
  async function flush() {
    const changes = batch.map(([, change]) => change);
    const outcome = await changeMany(store.change, changes);
    if ("tooMany" in outcome) {
      const [number, { resource, id }] = batch[outcome.tooMany] as (typeof batch)[number];
      throw new Error(`line ${number}: ${resource}/${id} ${tooMany}`);
    }
    for (const had of outcome.had) counts[had ? "already present" : "added"] += 1;
    progress.advance(batch.length);
    batch = [];
  }
  try {
    for await (const line of linesOf(input)) {
      signal.throwIfAborted();
      number += 1;
      if (line.trim() === "") continue;
      const change = readLine(number, line);
      if (change.type === "add" && isPast(change.expiresAt)) counts.expired += 1;
      else batch.push([number, change]);
      if (batch.length === linesPerBatch) await flush();
    }
    await flush();
  } catch (error) {
    const { message } = signal.aborted ? new Error("stopped") : (error as Error);
    throw new Error(`${message}; ${numeral(progress.count)} features were imported`);
  }
  const totals = Object.entries(counts).map(([outcome, count]) => `${numeral(count)} ${outcome}`);
  say(`imported ${file}: ${totals.join(", ")}`);
}
