import { execFile } from "node:child_process";
import { mkdtempDisposable, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import type { Comparison } from "./row.ts";

const script = fileURLToPath(new URL("wrk.lua", import.meta.url));

export interface Load {
  /** A file with a method, a path and possibly a JSON body on each line. The requests are sent in order and repeatedly. */
  requests: string;
  connections: number;
  seconds: number;
  /** Headers of each request, as lines. */
  headers?: string[];
}

/** A line of `Load.requests`. A path alone stands for a GET. */
export const requestLine = (line: string) => (line.startsWith("/") ? `GET ${line}` : line);

/** Writes a file for `Load.requests`. It is deleted with the stack. */
export async function writeRequests(opened: AsyncDisposableStack, lines: string[]): Promise<string> {
  const folder = opened.use(await mkdtempDisposable(join(tmpdir(), "requests-")));
  const file = join(folder.path, "requests");
  await writeFile(file, `${lines.map(requestLine).join("\n")}\n`);
  return file;
}

/** The responses per second of a server under load. Rejects if a request fails or a status is 400 or above. */
export async function requestsPerSecond(
  url: string,
  { requests, connections, seconds, headers = [] }: Load,
): Promise<number> {
  const options = ["--threads", "1", "--connections", String(connections), "--duration", `${seconds}s`];
  options.push(...headers.flatMap((line) => ["--header", line]));
  const { stdout } = await promisify(execFile)("wrk", [...options, "--script", script, url, "--", requests]);
  const [, rate, failures] = /^(\S+) (\d+)$/m.exec(stdout) ?? [];
  if (failures !== "0") throw new Error(`requests to ${url} failed:\n${stdout}`);
  return Number(rate);
}

/** Compares the responses per second of our server and of a baseline under the same load. */
export const compareThroughput = (
  name: string,
  ours: { url: string },
  baseline: { name: string; url: string },
  load: Load,
  atLeast: number,
): Comparison => ({
  name,
  unit: "requests/s",
  ours: () => requestsPerSecond(ours.url, load),
  baseline: { name: baseline.name, measure: () => requestsPerSecond(baseline.url, load) },
  target: { atLeast },
});

/** Applies the load until the server has sent at least `count` responses. */
export async function sendRequests(url: string, load: Load, count: number): Promise<void> {
  for (let responses = 0; responses < count; ) {
    responses += (await requestsPerSecond(url, load)) * load.seconds;
  }
}
