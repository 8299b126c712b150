import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { errorMessageOf, type Servers } from "./servers.ts";

/** Runs the Lua script of a file of this folder, which the server keeps after the first run. */
export function scriptIn(file: string) {
  const script = readFileSync(new URL(file, import.meta.url), "utf8");
  const digest = createHash("sha1").update(script).digest("hex");
  return async <Result>(servers: Servers, part: number, keys: string[], args: string[]): Promise<Result> => {
    const rest = [String(keys.length), ...keys, ...args];
    return await servers.send<Result>(part, ["EVALSHA", digest, ...rest]).catch((error) => {
      if (errorMessageOf(error).startsWith("NOSCRIPT"))
        return servers.send<Result>(part, ["EVAL", script, ...rest]);
      throw error;
    });
  };
}
