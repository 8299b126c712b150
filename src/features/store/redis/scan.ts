import type { Servers } from "./servers.ts";

const keysPerScan = 500;

/** The keys of all servers that match a pattern, in pages. A key can be returned more than once. */
export async function* keysLike(servers: Servers, pattern: string): AsyncGenerator<string[], void, void> {
  let cursor = "0";
  do {
    const match = ["MATCH", pattern, "COUNT", String(keysPerScan)];
    const [next, keys]: [string, string[]] = await servers.send(undefined, ["SCAN", cursor, ...match]);
    yield keys;
    cursor = next;
  } while (cursor !== "0");
}
