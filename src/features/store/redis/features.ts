import { inChunks } from "../../../values/chunks.ts";
import { letOthersRun } from "../../../waiting/turns.ts";
import { type Entry, type FeatureChange, type Features, featuresMax } from "../store.ts";
import { isLive, liveInOrder, type StoredEntry, withoutPlace } from "../stored-entry.ts";
import { keyOf, pairs, partOf, readEntry } from "./keys.ts";
import { scriptIn } from "./script.ts";
import type { PartCommand, Servers } from "./servers.ts";

/** Number of fields and values of a list that is read in a turn of its own. */
const longList = 200;
/** Redis 7.0 counts fields and values. With this number a list of `featuresMax` is always read at once. */
const fieldsPerScan = 4 * featuresMax;

const runChange = scriptIn("change.lua");

/** Number of resources that are read at once. */
const resourcesPerRead = 20;

/** The features of each resource. Their change log keeps at least `kept` records. */
export function featuresIn(servers: Servers, kept: number): Features {
  return {
    list: (resource, id) => listIn(servers, resource, id),
    async has(resource, id, features) {
      return presentIn(await servers.send<Values>(...valuesOf(resource, id, features)));
    },
    async hasEach(resources, features) {
      const results: boolean[][] = [];
      for (const some of inChunks(resources, () => 1, resourcesPerRead)) {
        const commands = some.map(({ resource, id }) => valuesOf(resource, id, features));
        results.push(...(await servers.sendAll<Values>(commands)).map(presentIn));
        await letOthersRun();
      }
      return results;
    },
    change: (...request) => makeChanges(servers, kept, ...request),
  };
}

/** The values of features; null of those that the resource does not have. */
type Values = (string | null)[];

function valuesOf(resource: string, id: string, features: string[]): PartCommand {
  const part = partOf(resource, id);
  return [part, ["HMGET", keyOf(part, "of", resource, id), ...features]];
}

const presentIn = (values: Values) => values.map((value) => value !== null && isLive(readEntry(value)));

/** A page of HSCAN, which can return an item twice, and the cursor of the next page; 0 after the last one. */
type ScanPage = [next: string, items: string[]];

/** See `Features.list`. */
export async function listIn(servers: Servers, resource: string, id: string): Promise<Entry[]> {
  const part = partOf(resource, id);
  const key = keyOf(part, "of", resource, id);
  const entries = new Map<string, StoredEntry>();
  let cursor = "0";
  do {
    const limits = ["COUNT", String(fieldsPerScan)];
    const [next, fields]: ScanPage = await servers.send(part, ["HSCAN", key, cursor, ...limits]);
    // Many long lists can arrive at the same time.
    if (fields.length > longList) await letOthersRun();
    for (const [feature, value] of pairs(fields)) {
      entries.set(feature, { resource, id, feature, ...readEntry(value) });
    }
    cursor = next;
  } while (cursor !== "0");
  return liveInOrder([...entries.values()]).map(withoutPlace);
}

type ScriptChange = FeatureChange | { type: "expire"; feature: string };
type ScriptRequest = [resource: string, id: string, changes: ScriptChange[], onlyIf?: string[]];

/** See `change.lua`. */
type ScriptResult = ["had" | "expired" | "list differs" | "too many features", ...(number | string)[]];

const numberToText = (_name: string, value: unknown) => (typeof value === "number" ? String(value) : value);

/** See `Features.change`. It also takes expiries. */
export async function makeChanges(servers: Servers, kept: number, ...request: ScriptRequest) {
  const [resource, id, changes, onlyIf] = request;
  const part = partOf(resource, id);
  const keys = [
    keyOf(part, "of", resource, id),
    keyOf(part, "due"),
    keyOf(part, "changes"),
    keyOf(part, "used", resource),
    keyOf(part, "kinds"),
    ...changes.map(({ feature }) => keyOf(part, "with", resource, feature)),
  ];
  for (;;) {
    const limits = { now: Date.now(), kept, max: featuresMax };
    const text = JSON.stringify({ ...limits, resource, id, onlyIf, changes }, numberToText);
    const [outcome, ...results] = await runChange<ScriptResult>(servers, part, keys, [text]);
    if (outcome === "had") return { had: results.map(Boolean) };
    if (outcome !== "expired") return { rejected: outcome };
    const expiries = results.map((feature) => ({ type: "expire" as const, feature: String(feature) }));
    await makeChanges(servers, kept, resource, id, expiries);
  }
}
