import { readFileSync } from "node:fs";
import { mkdir, mkdtempDisposable, statfs } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { startProcess } from "../../../../../testing/child-process.ts";
import { eventually } from "../../../../../testing/eventually.ts";
import { freePort } from "../../../../../testing/free-port.ts";
import { message } from "../../../../../testing/messages.ts";
import { startEnvironment, startOptions } from "../../../../../testing/npm-start.ts";
import { root } from "../../../../../testing/project.ts";
import { clientUrl } from "../../address.ts";
import { openQueue } from "../../queues.ts";
import { openMessages } from "./messages.ts";

const messagesMax = 2_000_000;
const residentMaxMebibytes = 512;

/** A folder on the disk, since that of other tests is in memory. */
async function openFolder() {
  const parent = join(root, "node_modules/.cache");
  await mkdir(parent, { recursive: true });
  const { bavail, bsize } = await statfs(parent);
  expect(bavail * bsize).toBeGreaterThan(4 * 2 ** 30);
  return mkdtempDisposable(join(parent, "backlog-"));
}

/** A message of 1 kB. */
const bodyOf = (index: number) => {
  const body = message({ resource_external_id: `payment-${index}` });
  const rest = 1000 - JSON.stringify({ ...body, filler: "" }).length;
  return JSON.stringify({ ...body, filler: "x".repeat(rest) });
};

test("with 2,000,000 messages in its folder a ledger starts, stores them and accepts more, within 512 MiB", async () => {
  await using folder = await openFolder();
  const queueFolder = join(folder.path, "data/queue");
  {
    using messages = openMessages(queueFolder);
    for (let sent = 0; sent < messagesMax; )
      messages.transaction(() => {
        for (const end = sent + 10_000; sent < end; sent += 1) messages.append({ body: bodyOf(sent) });
      });
  }
  const [port, queuePort] = [await freePort(), await freePort()];
  const QUEUE_URL = `sqs+embedded:${queueFolder}?port=${queuePort}`;
  const env = { PATH: process.env.PATH, ...startEnvironment, LEDGER_PORT: String(port), QUEUE_URL };
  const command = [process.execPath, ...startOptions, join(root, "src/main.ts"), "ledger"];
  await using ledger = startProcess(command, { cwd: folder.path, env });
  await eventually(() => expect(ledger.output()).toContain("Server listening"));
  await using queue = await openQueue(clientUrl(QUEUE_URL));
  await queue.send([bodyOf(messagesMax)]);
  const stored = async (id: string) =>
    (await fetch(`http://127.0.0.1:${port}/v1/transaction/${id}?account_id=57`)).status;
  await eventually(async () => expect(await stored("payment-1000")).toBe(200));
  expect(await queue.countWaiting()).toBeGreaterThan(messagesMax / 2);
  const [, peak] = /VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${ledger.child.pid}/status`, "utf8")) ?? [];
  expect(Number(peak) / 1024).toBeLessThan(residentMaxMebibytes);
});
