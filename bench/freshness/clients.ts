import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { Agent, errors, request } from "undici";
import type { Arrivals, Destination } from "./arrivals.ts";

const numberIn = /"number": ?"n(\d+)"/g;
const arriveAll = (arrivals: Arrivals, destination: Destination, content: string) => {
  for (const [, number] of content.matchAll(numberIn)) arrivals.arrived(destination, Number(number));
};

/** A receiver of webhooks. One that is dead accepts connections and never responds. */
export async function openReceiver(arrivals: Arrivals, isDead = false) {
  const server = createServer(async (incoming, response) => {
    const body = await text(incoming).catch(() => "");
    if (isDead) return;
    arriveAll(arrivals, "webhook", body);
    response.end();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://:${encodeURIComponent(`whsec_${Buffer.from("a secret of the benchmark of freshness").toString("base64")}`)}@127.0.0.1:${port}/`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
    },
  };
}

/** Follows the feed until it is disposed of. Resolves when the stream is open. */
export async function followFeed(base: string, arrivals: Arrivals) {
  const dispatcher = new Agent();
  const headers = { accept: "text/event-stream" };
  const { body } = await request(`${base}/v1/event?cursor=newest`, { headers, dispatcher, bodyTimeout: 0 });
  const reading = (async () => {
    let rest = "";
    for await (const piece of body) {
      const content = rest + piece;
      const end = content.lastIndexOf("\n") + 1;
      arriveAll(arrivals, "feed", content.slice(0, end));
      rest = content.slice(end);
    }
  })().catch(() => {});
  return {
    async [Symbol.asyncDispose]() {
      await dispatcher.destroy();
      await reading;
    },
  };
}

/** Requests a path again and again until the response matches. */
async function poll(url: string, pattern: RegExp, stop: AbortSignal): Promise<boolean> {
  while (!stop.aborted) {
    const found = await request(url).then(
      async ({ body }) => pattern.test(await body.text()),
      () => false,
    );
    if (found) return true;
    await sleep(1);
  }
  return false;
}

/** Measures when a lookup and a report have the first event of a payment, which is the only one of its account. */
export async function watchSample(
  base: string,
  payment: number,
  number: number,
  arrivals: Arrivals,
  stop: AbortSignal,
) {
  const account = `account_id=sample${payment}`;
  const polled = [
    ["lookup", `/v1/transaction/p${payment}?${account}`, /"transaction_id"/],
    ["report", `/v1/report/payments_by_state?${account}`, /"(created|started)":1/],
  ] as const;
  await Promise.all(
    polled.map(async ([destination, path, pattern]) => {
      if (await poll(base + path, pattern, stop)) arrivals.arrived(destination, number);
    }),
  );
}

/**
 * Sends events in one request, to the process with the fewest requests in flight, as a proxy does. If one fails, they are sent
 * to the others: they are stored once.
 */
export function openPosts(bases: string[], stop: AbortSignal) {
  const headers = { "content-type": "application/json" };
  const processes = bases.map((base) => ({ base, inFlight: 0, isDown: false }));
  return async (bodies: string[]): Promise<void> => {
    const body = `[${bodies.join()}]`;
    while (!stop.aborted) {
      const running = processes.filter(({ isDown }) => !isDown);
      const [process] = running.toSorted((one, other) => one.inFlight - other.inFlight);
      if (!process) throw new Error("no process accepts events");
      process.inFlight += 1;
      try {
        const response = await request(`${process.base}/v1/event`, { method: "POST", headers, body });
        await response.body.dump();
        if (response.statusCode === 202) return;
        if (response.statusCode !== 503) throw new Error(`POST /v1/event got ${response.statusCode}`);
        await sleep(20);
      } catch (error) {
        if (!(error instanceof errors.UndiciError || (error as NodeJS.ErrnoException).code)) throw error;
        process.isDown = true;
      } finally {
        process.inFlight -= 1;
      }
    }
  };
}

const searchesAtATime = 16;
const streams = 50;

/** A caller with another address who keeps expensive searches in flight, and follows the feed with many filters. */
export function attack(base: string) {
  const stop = new AbortController();
  const dispatcher = new Agent({ localAddress: "127.0.0.2", bodyTimeout: 0 });
  const paths = [
    "/v1/transaction?override_account_id_restriction=true&email=%23&display_size=500",
    "/v1/transaction?override_account_id_restriction=true&cardholder_name=e&display_size=500&extended=true",
    "/v1/report/transactions-summary?override_account_id_restriction=true&from_date=2000-01-01T00:00:00Z",
  ];
  const search = async (index: number) => {
    while (!stop.signal.aborted) {
      const { body } = await request(base + paths[index % paths.length], { dispatcher });
      await body.dump();
    }
  };
  const follow = async (index: number) => {
    const headers = { accept: "text/event-stream" };
    const query = `?cursor=newest&account_id=${index % 20},sample${index}`;
    const { body } = await request(`${base}/v1/event${query}`, { headers, dispatcher });
    for await (const _ of body);
  };
  const work = [
    ...Array.from({ length: searchesAtATime }, (_, index) => search(index)),
    ...Array.from({ length: streams }, (_, index) => follow(index)),
  ];
  const ended = Promise.allSettled(work);
  return {
    async [Symbol.asyncDispose]() {
      stop.abort();
      await dispatcher.destroy();
      await ended;
    },
  };
}
