import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import type { Comparison } from "./row.ts";

const script = fileURLToPath(new URL("wrk.lua", import.meta.url));

/** What is asked of a server: lines of a method and a path, one after another, from the first again after the last. */
export interface Load {
  /** A file of such lines. */
  requests: string;
  connections: number;
  seconds: number;
}

/** Writes the lines of such a file, which is there as long as the stack. */
export async function requestsFile(opened: AsyncDisposableStack, lines: string[]): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "requests-"));
  opened.defer(() => rm(folder, { recursive: true }));
  const file = join(folder, "requests");
  await writeFile(file, `${lines.join("\n")}\n`);
  return file;
}

/** Requests a second that a server answers, all of them with a status below 400. */
export async function requestsPerSecond(
  url: string,
  { requests, connections, seconds }: Load,
): Promise<number> {
  const options = ["--threads", "1", "--connections", String(connections), "--duration", `${seconds}s`];
  const { stdout } = await promisify(execFile)("wrk", [...options, "--script", script, url, "--", requests]);
  const [, rate, bad] = /^(\S+) (\d+)$/m.exec(stdout) ?? [];
  if (bad !== "0") throw new Error(`${url} did not answer all that it was asked:\n${stdout}`);
  return Number(rate);
}

/** How many requests a second our server answers, and the baseline's, under the same load. */
export const underLoad = (
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

/** Asks a server until it has answered so many requests, or some more. */
export async function untilAnswered(url: string, load: Load, requests: number): Promise<void> {
  for (let answered = 0; answered < requests; ) {
    answered += (await requestsPerSecond(url, load)) * load.seconds;
  }
}
