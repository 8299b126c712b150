import { setTimeout as sleep } from "node:timers/promises";
import { openProgress } from "../../src/process/progress.ts";
import { allSettled } from "../../testing/all-settled.ts";
import { openIssuer } from "../../testing/issuer.ts";
import type { Random } from "../../testing/random.ts";
import { type CheckingClient, openCheckingClient } from "../client.ts";
import { ensureRunning, type FaultLog, noFaults, openFaultyRun } from "../faults.ts";
import { rethrowViolation, Violation, withServerErrors } from "../violation.ts";
import { type Deployment, type Engine, openDeployment, type QueueKind } from "./deployment.ts";
import { openFeedReader, verifyFeeds } from "./feed.ts";
import { type KeptResponses, keepResponses, knownStatuses, type Send, verifyKnown } from "./known.ts";
import { accounts, emails, names } from "./messages.ts";
import { openPublisher, type Post, type Publisher } from "./publisher.ts";
import { allReads, type Get, type Read, randomRead } from "./reads.ts";
import { verifyTargets } from "./targets.ts";
import { verify, verifyLogs, verifyStored, verifyStoredSummaries, whenIdle } from "./verification.ts";

export interface Plan {
  engine: Engine;
  queue: QueueKind;
  minutes: number;
  random: Random;
  stop: AbortSignal;
}

/** Publishes messages, sends reads and injects faults. Then compares all responses and stored rows with the oracle. */
export async function simulateLedger(plan: Plan) {
  const { random } = plan;
  await using issuer = await openIssuer();
  const token = await issuer.sign({ scope: "ledger:read:all ledger:write" });
  const authentication = Object.fromEntries(
    Object.entries(issuer.settings).map(([name, value]) => [name, String(value)]),
  );
  await using deployment = await openDeployment(plan.engine, plan.queue, authentication, random.fork());
  return await withServerErrors(deployment.ledgers, () => simulateIn(deployment, token, plan));
}

async function simulateIn(deployment: Deployment, token: string, { minutes, random, stop }: Plan) {
  await using opened = new AsyncDisposableStack();
  const run = openFaultyRun(deployment.faults, minutes, random.fork(), stop);
  const responses = new Map<string, number>();
  const clients = deployment.ledgers.map(({ url }, index) =>
    opened.use(
      openCheckingClient("ledger", { server: `ledger ${index}`, url, token, faults: run.log, responses }),
    ),
  );
  const progress = opened.use(openProgress("messages"));
  const postRandom = random.fork();
  const post: Post = (body) =>
    postRandom
      .pick(clients)
      .send({ method: "POST", path: "/v1/event", body }, [202])
      .then(({ status }) => status === 202)
      .catch((error) => {
        rethrowViolation(error);
        return false;
      });
  const onSent = (messages: number) => {
    progress.advance(messages);
    if (progress.count >= messagesAtBegin) run.begin();
  };
  const publisher = openPublisher(deployment.queue, random.fork(), onSent, post);
  const counts = new Map<string, number>();
  const kept = keepResponses(random.fork(), keptMax);
  const readers = clients.map((client) =>
    sendRandomReads(client, random.fork(), publisher, run.end, {
      counts,
      kept,
      mayReadStale: run.log.mayReadStale,
    }),
  );
  const feeds = clients.flatMap((client) =>
    [undefined, random.pick(accounts)].map((account) => openFeedReader(client, random.fork(), account)),
  );
  await run.all([
    publisher.publishUntil(run.end),
    ...readers,
    ...feeds.map((feed) => feed.readUntil(run.end)),
  ]);
  await allSettled(deployment.ledgers.map(ensureRunning));
  await publisher.publishRest();
  progress[Symbol.dispose]();

  const gets = clients.map(
    (client): Get =>
      (path, accept) =>
        client.send({ path, ...(accept && { accept }) }, [200, 404]),
  );
  let checks = await verify(gets, publisher, allReads(publisher, random.fork()), stop);
  await verifyFeeds(feeds, publisher.oracle.events);
  const feed = feeds.find(({ account }) => account === undefined)?.events ?? [];
  const readHealth = async () => (await (gets[0] as Get)("/healthcheck")).text;
  const published = await verifyTargets(deployment.targets, feed, readHealth);
  const conflicting = await publisher.publishConflicts();
  await whenIdle(gets, publisher);
  checks += await verify(gets, publisher, allReads(publisher, random.fork(), conflicting), stop);
  const sends = clients.map(knownSend);
  checks += await kept.sendAll(sends);
  checks += await verifyKnown(sends, feed, publisher.oracle.events, random.fork());
  await allSettled(deployment.ledgers.map((server) => server.kill()));
  await verifyStored(deployment, publisher);
  await verifyStoredSummaries(deployment);
  await verifyLogs(deployment, [token, "whsec_", names[1] as string, emails[1] as string]);
  return {
    "messages published": publisher.sent.length,
    "events accepted": publisher.oracle.events.length,
    "invalid messages": publisher.sent.filter(({ kind }) => kind === "invalid").length,
    ...run.statistics(),
    responses,
    "events published": published,
    "responses requested again": kept.outcomes,
    "events read from the feed": feeds.reduce((sum, { events }) => sum + events.length, 0),
    checks,
  };
}

/** Sends requests with `known_at`. */
const knownSend =
  (client: CheckingClient): Send =>
  (path, accept) =>
    client.send({ path, ...(accept && { accept }) }, knownStatuses);

const messagesAtBegin = 100;
/** The responses that are kept until the end. */
const keptMax = 600;
const readerPauseMs = 20;

/**
 * Sends random reads until `end` aborts. Checks what can be checked while messages are published: `counts` has the highest
 * count of each read so far, by any process, since each must see what another one has shown. Responses are kept in `kept`, and some of the
 * requests are sent again, as of the positions of their responses.
 */
export async function sendRandomReads(
  client: CheckingClient,
  random: Random,
  publisher: Publisher,
  end: AbortSignal,
  {
    counts = new Map<string, number>(),
    kept = keepResponses(random.fork(), 0),
    mayReadStale = noFaults.mayReadStale,
  }: { counts?: Map<string, number>; kept?: KeptResponses; mayReadStale?: FaultLog["mayReadStale"] } = {},
): Promise<void> {
  const get = kept.keeping(
    (path, accept) => client.send({ path, ...(accept && { accept }) }, [200, 404]),
    (sentAt) => !mayReadStale(sentAt, performance.now()),
  );

  async function send(read: Read): Promise<void> {
    const previous = counts.get(read.name) ?? 0;
    const startedAt = performance.now();
    const result = await read.send(get);
    if (result.status >= 500) return;
    const violation = read.violation?.(result);
    if (violation) throw new Violation(`${read.name}: ${violation}`);
    const count = read.count?.(result) ?? 0;
    if (count < previous && !mayReadStale(startedAt, performance.now()))
      throw new Violation(`${read.name}: ${count} entries, ${previous} before`);
    counts.set(read.name, Math.max(count, counts.get(read.name) ?? 0));
  }

  while (!end.aborted) {
    await send(randomRead(random, publisher.payments())).catch(rethrowViolation);
    await kept.sendOne(knownSend(client)).catch(rethrowViolation);
    await client.send({ path: "/healthcheck" }, [200, 503]).catch(rethrowViolation);
    await sleep(readerPauseMs);
  }
}
