/**
 * A process that receives from the queue at a URL: first all that it holds without acknowledgements, then as many messages
 * as it is to receive. Prints how many it held, the numbers with which the messages begin, and the growth of its memory in
 * MiB.
 */
import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { say } from "../../../process/command.ts";
import { openQueue } from "../queues.ts";

const [url = "", count] = process.argv.slice(2);
const stop = AbortSignal.timeout(600_000);

/** Resident memory in MiB: `VmRSS` is that of now, `VmHWM` its maximum. */
function memory(name: "VmRSS" | "VmHWM"): number {
  const [, kilobytes] =
    new RegExp(`${name}:\\s+(\\d+) kB`).exec(readFileSync("/proc/self/status", "utf8")) ?? [];
  return Number(kilobytes) / 1024;
}

await using queue = await openQueue(url);
const before = memory("VmRSS");
const numbers: number[] = [];
const receive = async (waitMs: number) => {
  const messages = await queue.receive(100, waitMs, stop);
  numbers.push(...messages.map(({ body }) => Number.parseInt(body, 10)));
  return messages;
};
const held = await receive(60_000);
for (let more = await receive(2000); more.length > 0; more = await receive(2000)) held.push(...more);
await queue.acknowledge(held);
while (numbers.length < Number(count)) await queue.acknowledge(await receive(60_000));
// The position of the group is committed after the acknowledgement.
let waiting = await queue.countWaiting();
for (; waiting > 0; waiting = await queue.countWaiting()) await sleep(100, undefined, { signal: stop });
const grownBy = Math.round(memory("VmHWM") - before);
say(JSON.stringify({ held: held.length, numbers, waiting, grownBy }));
