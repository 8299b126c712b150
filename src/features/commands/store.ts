import { createReadStream, createWriteStream } from "node:fs";
import { rename, rm } from "node:fs/promises";
import { addAbortSignal } from "node:stream";
import { pipeline } from "node:stream/promises";
import contract from "../../../generated/features.json" with { type: "json" };
import type { components } from "../../../generated/features.ts";
import type { Contract } from "../../contract/operations.ts";
import { schemaValidator } from "../../contract/validation.ts";
import { parseCommandLine, runCommand, say, UsageFault } from "../../process/command.ts";
import { numeral, openProgress } from "../../process/progress.ts";
import { readSettings } from "../../process/settings.ts";
import { stopOnSignals } from "../../process/stop.ts";
import { isUnicode, parseJson, toJson } from "../../values/json.ts";
import { linesOf } from "../../values/lines.ts";
import { expiryOf, isPast } from "../handlers/expiry.ts";
import { settings } from "../settings.ts";
import { changeMany, type ResourceWish } from "../store/change-many.ts";
import { type FeatureStore, openFeatureStore } from "../store/store.ts";

const usage = `Usage: npm run store -- export FILE
       npm run store -- import FILE

Writes all features of the store at FEATURES_STORE_URL to a file, or adds those of a file to it, while the service runs.
A line is a JSON object as the contract's Entry describes it; - is standard output or input.

  export   those of a resource stand together, in their order. What changes meanwhile is in it as before or as after
  import   adds in the order of the lines; what is there keeps its place. What has expired since is left out.
           Importing a file again does no harm
  --help   print this text
`;

const linesAtOnce = 1000;
const findFaults = schemaValidator(contract as unknown as Contract, "Entry");

function readLine(
  number: number,
  line: string,
): { type: "add"; expiresAt: number | undefined } & ResourceWish {
  const entry = parseJson(line);
  if (entry === undefined) throw new Error(`line ${number} is not JSON`);
  if (!isUnicode(entry)) throw new Error(`line ${number} holds half of a surrogate pair`);
  const faults = findFaults(entry);
  if (faults.length > 0) throw new Error(`line ${number}: ${faults.join("; ")}`);
  const { resource, id, feature, expires_at } = entry as components["schemas"]["Entry"];
  return { type: "add", resource, id, feature, expiresAt: expiryOf(expires_at) };
}

await runCommand("store", usage, async (args) => {
  const { positionals } = parseCommandLine({ args, allowPositionals: true });
  const [command = "", file, ...more] = positionals;
  const work = { export: exportTo, import: importFrom }[command];
  if (!work || file === undefined || more.length > 0) {
    throw new UsageFault("say export or import, and one file, or - for standard output or input");
  }
  const { FEATURES_STORE_URL } = readSettings(process.env, settings);
  if (FEATURES_STORE_URL.startsWith("memory:")) {
    throw new UsageFault("FEATURES_STORE_URL is memory:, which only its own process can read");
  }
  const { signal } = stopOnSignals();
  await using store = await openFeatureStore(FEATURES_STORE_URL);
  await work(store, file, signal);
});

async function exportTo(store: FeatureStore, file: string, signal: AbortSignal): Promise<void> {
  using progress = openProgress("exported");
  async function* chunks() {
    let lines: string[] = [];
    for await (const { resource, id, feature, expiresAt } of store.entries()) {
      const expires_at = expiresAt === undefined ? undefined : new Date(expiresAt).toISOString();
      lines.push(toJson({ resource, id, feature, expires_at } satisfies components["schemas"]["Entry"]));
      if (lines.length < linesAtOnce) continue;
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
  // Under another name until it is whole.
  const unfinished = `${file}.part`;
  try {
    await pipeline(chunks, createWriteStream(unfinished), { signal });
    await rename(unfinished, file);
  } catch (error) {
    await rm(unfinished, { force: true });
    throw signal.aborted ? new Error(`stopped; ${file} is not written`) : error;
  }
  say(`exported ${numeral(progress.count)} features to ${file}`);
}

async function importFrom(store: FeatureStore, file: string, signal: AbortSignal): Promise<void> {
  using progress = openProgress("imported");
  const input = addAbortSignal(signal, file === "-" ? process.stdin : createReadStream(file));
  const counts = { added: 0, there: 0, expired: 0 };
  let wishes: ResourceWish[] = [];
  let number = 0;
  async function flush() {
    for (const had of await changeMany(store.change, wishes)) counts[had ? "there" : "added"] += 1;
    progress.advance(wishes.length);
    wishes = [];
  }
  try {
    for await (const line of linesOf(input)) {
      signal.throwIfAborted();
      number += 1;
      if (line.trim() === "") continue;
      const wish = readLine(number, line);
      if (isPast(wish.expiresAt)) counts.expired += 1;
      else wishes.push(wish);
      if (wishes.length === linesAtOnce) await flush();
    }
    await flush();
  } catch (error) {
    const { message } = signal.aborted ? new Error("stopped") : (error as Error);
    throw new Error(`${message}; ${numeral(progress.count)} features were imported before`);
  }
  const told = Object.entries(counts).map(([what, count]) => `${numeral(count)} ${what}`);
  say(`imported ${file}: ${told.join(", ")}`);
}
