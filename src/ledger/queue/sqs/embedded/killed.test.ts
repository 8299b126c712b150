import { SetQueueAttributesCommand } from "@aws-sdk/client-sqs";
import { expect, test } from "vitest";
import { freePort } from "../../../../../testing/free-port.ts";
import { newFolder, run } from "../../../../../testing/run.ts";
import { testWaitMaxMs } from "../../../../../testing/test-wait-max.ts";
import { clientUrl, embeddedQueueUrl } from "../../address.ts";
import type { Queue } from "../../queue.ts";
import { openQueue } from "../../queues.ts";
import { standInClient } from "../sqs.ts";
import { makeEarlierFolder } from "./earlier-queue.fixture.ts";
import { openMessages } from "./messages.ts";

/** Runs the server of a folder in a process. */
const serve = (folder: string, port: number) =>
  run("src/ledger/queue/sqs/embedded/serve.fixture.ts", { args: [`sqs+embedded:${folder}?port=${port}`] });

/** The visibility timeout: a later round gets what the round before it had received. */
const hiddenMs = 1000;

const stop = () => AbortSignal.timeout(testWaitMaxMs);

/** Bodies, in all rounds so far. */
interface Seen {
  accepted: Set<string>;
  /** An acknowledgement was sent. One whose reply the kill cut off may have been carried out. */
  finished: Set<string>;
  /** Acknowledged while hidden from other receivers. A later acknowledgement has no effect if another has received it. */
  acknowledged: Set<string>;
  /** Received although acknowledged. */
  again: string[];
}

/** Sends and receives until a call fails, and adds what it saw. */
async function use(queue: Queue, round: number, { accepted, finished, acknowledged, again }: Seen) {
  let number = 0;
  async function send() {
    for (;;) {
      const bodies = Array.from({ length: 10 }, () => `${round} ${number++}`);
      await queue.send(bodies);
      for (const body of bodies) accepted.add(body);
    }
  }
  async function receive() {
    for (;;) {
      const begunAt = performance.now();
      const deliveries = await queue.receive(10, 1000, stop());
      const bodies = deliveries.map(({ body }) => body);
      again.push(...bodies.filter((body) => acknowledged.has(body)));
      for (const body of bodies) finished.add(body);
      await queue.acknowledge(deliveries);
      if (performance.now() < begunAt + hiddenMs) for (const body of bodies) acknowledged.add(body);
    }
  }
  await Promise.allSettled([send(), send(), receive(), receive()]);
}

test("a server that is killed again and again loses no accepted message, and delivers none that was acknowledged", async () => {
  const [folder, port] = [newFolder(), await freePort()];
  const seen: Seen = { accepted: new Set(), finished: new Set(), acknowledged: new Set(), again: [] };
  const { accepted, finished, acknowledged } = seen;
  for (let round = 0; round < 6; round += 1) {
    const server = serve(folder, port);
    await server.waitForOutput("listening");
    await using queue = await openQueue(clientUrl(`sqs+embedded:${folder}?port=${port}`));
    const sdk = standInClient(`http://127.0.0.1:${port}`);
    const attributes = {
      QueueUrl: embeddedQueueUrl(port),
      Attributes: { VisibilityTimeout: String(hiddenMs / 1000) },
    };
    await sdk.send(new SetQueueAttributesCommand(attributes));
    sdk.destroy();
    const before = [accepted.size, acknowledged.size];
    const using = use(queue, round, seen);
    await expect.poll(() => accepted.size - (before[0] ?? 0)).toBeGreaterThan(200);
    await expect.poll(() => acknowledged.size - (before[1] ?? 0)).toBeGreaterThan(100);
    server.child.kill("SIGKILL");
    await server.exit;
    await using;
  }
  await using queue = await openQueue(`sqs+embedded:${folder}?port=0`);
  const received = new Set<string>();
  await expect
    .poll(async () => {
      const deliveries = await queue.receive(100, 1000, stop());
      await queue.acknowledge(deliveries);
      for (const { body } of deliveries) received.add(body);
      return [...accepted].filter((body) => !received.has(body) && !finished.has(body));
    })
    .toEqual([]);
  expect([...seen.again, ...[...received].filter((body) => acknowledged.has(body))]).toEqual([]);
  expect(acknowledged.size).toBeGreaterThan(600);
});

test("a take-over that is killed again and again loses and doubles nothing", async () => {
  const large = { count: 200, bytes: 2 ** 20 };
  const { folder } = makeEarlierFolder({ large });
  let killed = 0;
  for (let afterMs = 200; ; afterMs += 20) {
    const server = serve(folder, 0);
    const timer = setTimeout(() => server.child.kill("SIGKILL"), afterMs);
    const isListening = await Promise.race([
      server.exit.then(() => false),
      server.waitForOutput("listening").then(() => true),
    ]);
    clearTimeout(timer);
    server.child.kill("SIGKILL");
    await server.exit;
    if (isListening) break;
    killed += 1;
  }
  expect(killed).toBeGreaterThan(0);
  using messages = openMessages(folder);
  const { visible, inFlight, delayed } = messages.counts();
  expect(visible + inFlight + delayed).toBe(3 + large.count);
});
