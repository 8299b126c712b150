import { eachInTurns } from "../../../waiting/turns.ts";
import { keyOf, namesIn, parts } from "./keys.ts";
import { mergedMembers } from "./members.ts";
import { keysLike } from "./scan.ts";
import { scriptIn } from "./script.ts";
import type { Servers } from "./servers.ts";

const keysAtATime = 16;
const runIndex = scriptIn("index.lua");

/** A feature in use, and the parts in which a resource has it. */
interface Use {
  feature: string;
  parts: number[];
}

/** The features in use by kind of resource. Completes the index of a store that an earlier release has written. */
export function usesIn(servers: Servers) {
  let completed: Promise<void> | undefined;
  /** A failure is the failure of the call; the next call tries it again. */
  function complete(): Promise<void> {
    completed ??= completeIndex(servers).catch((error) => {
      completed = undefined;
      throw error;
    });
    return completed;
  }
  complete().catch(() => {});

  /** The features that resources of a kind have, from the feature `from` on. Reads about `limit`, and more on demand. */
  return async function* (
    resource: string,
    from: string | undefined,
    limit: number,
  ): AsyncGenerator<Use, void, void> {
    await complete();
    let use: Use | undefined;
    for await (const [{ name }, { part }] of mergedMembers(servers, ["used", resource], { from, limit })) {
      if (use?.feature === name) {
        use.parts.push(part);
        continue;
      }
      if (use) yield use;
      use = { feature: name, parts: [part] };
    }
    if (use) yield use;
  };
}

async function completeIndex(servers: Servers): Promise<void> {
  const marks = await Promise.all(
    parts.map((part) => servers.send<string | null>(part, ["GET", keyOf(part, "indexed")])),
  );
  if (!marks.includes(null)) return;
  for await (const keys of keysLike(servers, "features:*:with:*")) {
    await eachInTurns(keys, keysAtATime, async (key) => {
      const [resource = "", feature = ""] = namesIn(key) ?? [];
      const part = Number(/\{(\d+)/.exec(key)?.[1]);
      await runIndex(servers, part, [key, keyOf(part, "used", resource)], [feature]);
    });
  }
  await Promise.all(parts.map((part) => servers.send(part, ["SET", keyOf(part, "indexed"), "1"])));
}
