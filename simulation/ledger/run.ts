import { setTimeout as sleep } from "node:timers/promises";
import contract from "../../generated/ledger.json" with { type: "json" };
import type { Contract } from "../../src/contract/operations.ts";
import { openProgress } from "../../src/process/progress.ts";
import { openIssuer } from "../../testing/issuer.ts";
import { type FaultLog, letHappen, openRun, startAgain } from "../faults.ts";
import type { Random } from "../random.ts";
import { Astray, type Caller, openCaller, withLogs } from "../replies.ts";
import { emails, names } from "./lives.ts";
import { Oracle } from "./oracle.ts";
import { openPublication, type Publication } from "./publication.ts";
import { type Get, type Question, randomQuestion } from "./questions.ts";
import { everyQuestion, verify, verifyLogs, verifyStored } from "./verification.ts";
import { dependencies, type Engine, openWorld, type QueueKind, type World } from "./world.ts";

export interface Plan {
  engine: Engine;
  queue: QueueKind;
  minutes: number;
  random: Random;
  stop: AbortSignal;
}

export type Figures = Record<string, number | Map<string, number>>;

/** Publishes, asks and lets faults happen; then compares with the oracle all that a caller can see, and what is stored. */
export async function simulateLedger(plan: Plan): Promise<Figures> {
  const { random } = plan;
  await using issuer = await openIssuer();
  const token = await issuer.sign({ scope: "ledger:read:all" });
  const authentication = Object.fromEntries(
    Object.entries(issuer.settings).map(([name, value]) => [name, String(value)]),
  );
  await using world = await openWorld(plan.engine, plan.queue, authentication, random.fork());
  return await withLogs(world.ledgers, () => simulateIn(world, token, plan));
}

async function simulateIn(world: World, token: string, { minutes, random, stop }: Plan): Promise<Figures> {
  await using opened = new AsyncDisposableStack();
  const run = openRun(minutes, stop);
  const { log: faults, over: faultsOver } = letHappen(world.faults, random.fork(), run.quiet);
  const replies = new Map<string, number>();
  const callers = world.ledgers.map(({ url }, index) =>
    opened.use(ledgerCaller(url, `ledger ${index}`, faults, replies, token)),
  );
  const progress = opened.use(openProgress("messages"));
  const published = openPublication(world.queue, random.fork(), progress.advance);
  const readers = callers.map((caller) => askAnything(caller, random.fork(), published, run.over));
  await run.all([published.until(run.over), ...readers, faultsOver]);
  for (const server of world.ledgers) await startAgain(server);
  await published.rest();
  progress[Symbol.dispose]();

  const gets = callers.map(
    (caller): Get =>
      (path, accept) =>
        caller.ask({ path, ...(accept && { accept }) }, [200, 400, 404]),
  );
  let checks = await verify(gets, published, everyQuestion(published, random.fork()), stop);
  await published.contradict();
  checks += await verify(gets, published, everyQuestion(published, random.fork()), stop);
  for (const server of world.ledgers) await server.kill();
  await verifyStored(world, published);
  await verifyLogs(world, [token, names[1] as string, emails[1] as string]);
  return {
    "messages published": published.sent.length,
    "events accepted": published.oracle.events.length,
    "broken messages": published.sent.filter(({ kind }) => kind === "broken").length,
    faults: faults.kinds,
    replies,
    checks,
  };
}

/** A caller of one ledger, which is the part with this name; replies are counted by status. */
export const ledgerCaller = (
  url: string,
  own: string,
  faults: FaultLog,
  counts: Map<string, number>,
  token?: string,
): Caller =>
  openCaller({
    url,
    contract: contract as unknown as Contract,
    ...(token && { token }),
    parts: { own, others: dependencies },
    excused: [503, 504],
    faults,
    counts,
  });

const readerPauseMs = 20;

/** Asks whatever comes to mind, until it is over. */
export async function askAnything(
  caller: Caller,
  random: Random,
  published: Publication,
  over: AbortSignal,
): Promise<void> {
  const nothing = new Oracle();
  const least = new Map<string, number>();

  async function ask(question: Question): Promise<void> {
    const statuses = question.answer(nothing).status === 400 ? [400] : [200, 404];
    const answered = await question.ask((path, accept) =>
      caller.ask({ path, ...(accept && { accept }) }, statuses),
    );
    if (answered.status >= 500) return;
    const oddity = question.oddity?.(answered);
    if (oddity) throw new Astray(`${question.said}: ${oddity}`);
    // What was answered once is not taken back.
    const count = question.neverLess?.(answered) ?? 0;
    const before = least.get(question.said) ?? 0;
    if (count < before) throw new Astray(`${question.said}: ${count}, and ${before} before`);
    if (count > 0) least.set(question.said, count);
  }

  while (!over.aborted) {
    await ask(randomQuestion(random, published.lives())).catch(onlyAstray);
    await caller.ask({ path: "/healthcheck" }, [200, 503]).catch(onlyAstray);
    await sleep(readerPauseMs);
  }
}

/** There is no reply now and then; whatever else is wrong is thrown on. */
function onlyAstray(error: unknown): void {
  if (error instanceof Astray) throw error;
}
