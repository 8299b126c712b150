import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import contract from "../../generated/features.json" with { type: "json" };
import type { Contract } from "../../src/contract/operations.ts";
import { openProgress } from "../../src/process/progress.ts";
import { startRedis } from "../../testing/servers/redis.ts";
import type { TestServer } from "../../testing/servers/server.ts";
import { openScratch } from "../../testing/small-disk.ts";
import {
  diskFilled,
  type Fault,
  type FaultLog,
  faultsOfServer,
  letHappen,
  openRun,
  putBehindLine,
  startAgain,
} from "../faults.ts";
import type { Random } from "../random.ts";
import { type Asked, Astray, type Caller, openCaller, withLogs } from "../replies.ts";
import { startService } from "../service.ts";
import {
  type Answer,
  type FeatureChange,
  isLinearizable,
  type Operation,
  smallestHistory,
} from "./history.ts";

export const stores = ["lmdb", "redis"] as const;
export type StoreKind = (typeof stores)[number];

export interface Plan {
  store: StoreKind;
  minutes: number;
  random: Random;
  stop: AbortSignal;
}

const processes = 3;

/** Lets callers do things to resources while faults happen, and checks what they heard, resource by resource. */
export async function simulateFeatures(plan: Plan) {
  await using world = await openWorld(plan.store);
  return await withLogs(world.servers, () => simulateIn(world, plan));
}

async function simulateIn({ servers, faults: possible, writers }: World, { minutes, random, stop }: Plan) {
  await using opened = new AsyncDisposableStack();
  const run = openRun(minutes, stop);
  const { log: faults, over: faultsOver } = letHappen(possible, random.fork(), run.quiet);
  const replies = new Map<string, number>();
  const callers = servers.map(({ url }, index) =>
    opened.use(featuresCaller(url, `features ${index}`, faults, replies, writers)),
  );

  const progress = opened.use(openProgress("operations"));
  let resources = 0;
  async function work(own: Random): Promise<void> {
    while (!run.over.aborted) {
      const history = await actOnResource(String(resources++), callers, own);
      if (!isLinearizable(history)) throw new Astray(describe(history, faults.before(performance.now())));
      progress.advance(history.length);
    }
  }
  await run.all([faultsOver, ...Array.from({ length: resourcesAtATime }, () => work(random.fork()))]);
  progress[Symbol.dispose]();
  for (const server of servers) await startAgain(server);
  await sleep(settledMs);

  const [first, second] = callers as [Caller, Caller];
  const lists = await listsOf(first, resources);
  const told = await feedOf(second);
  for (const [id, list] of lists.entries())
    compare(`the feed tells of ${id}`, told.get(String(id)) ?? [], list);
  for (const server of servers) await server.kill();
  for (const server of servers) await startAgain(server);
  for (const caller of callers) compare("after all were killed", await listsOf(caller, resources), lists);
  return { resources, operations: progress.count, faults: faults.kinds, replies };
}

/** A caller of one process, which is the part with this name; replies are counted by status. */
export const featuresCaller = (
  url: string,
  own: string,
  faults: FaultLog,
  counts: Map<string, number>,
  writers: string[] = [],
): Caller =>
  openCaller({
    url,
    contract: contract as unknown as Contract,
    parts: { own, others: ["store", "disk"], writers },
    excused: [500, 503],
    faults,
    counts,
  });

const settledMs = 3000;

function compare(what: string, found: unknown, right: unknown): void {
  if (isDeepStrictEqual(found, right)) return;
  throw new Astray(
    `${what}: ${JSON.stringify(found).slice(0, 500)}, not ${JSON.stringify(right).slice(0, 500)}`,
  );
}

const resourcesAtATime = 6;
const callersAtATime = 4;
const wishesEach = 6;
const unansweredPauseMs = 50;
const featureNames = ["dark-mode", "beta search", "..", "ü/%2F"];

/** Several callers, each of a process of its choice, do things to one resource at the same time; then all look at it. */
export async function actOnResource(id: string, callers: Caller[], random: Random): Promise<Operation[]> {
  const history: Operation[] = [];
  /** False when there was no answer. */
  async function act(by: number, wish: FeatureChange): Promise<boolean> {
    const operation: Operation = { wish, begun: performance.now(), by };
    history.push(operation);
    const answer = await answerTo(callers[by] as Caller, id, wish);
    if (answer === undefined) return false;
    operation.answered = { at: performance.now(), answer };
    return true;
  }
  /** Stops at the first wish of which it hears nothing, since each of these doubles the orders that are possible. */
  async function caller(own: Random): Promise<void> {
    for (let count = 0; count < wishesEach; count += 1) {
      if (!(await act(own.whole(0, callers.length - 1), randomWish(own)))) return sleep(unansweredPauseMs);
    }
  }
  await Promise.all(Array.from({ length: callersAtATime }, () => caller(random.fork())));
  for (const by of callers.keys()) await act(by, { type: "list" });
  return history;
}

function randomWish(random: Random): FeatureChange {
  const type = random.one(["add", "add", "add", "remove", "has", "list", "list", "clear"] as const);
  if (type === "list" || (type === "clear" && random.chance(0.7))) return { type: "list" };
  return type === "clear" ? { type } : { type, feature: random.one(featureNames) };
}

/** Undefined when there is none that says what became of the wish. */
async function answerTo(caller: Caller, id: string, wish: FeatureChange): Promise<Answer | undefined> {
  try {
    const { asked, statuses, read } = requestFor(id, wish);
    const { status, text } = await caller.ask(asked, statuses);
    return statuses.includes(status) ? read(status, text) : undefined;
  } catch (error) {
    if (error instanceof Astray) throw error;
    return undefined;
  }
}

interface Exchange {
  asked: Asked;
  statuses: number[];
  read(status: number, text: string): Answer;
}

function requestFor(id: string, wish: FeatureChange): Exchange {
  const resource = `/features/customer/${id}`;
  if (wish.type === "list") {
    return { asked: { path: resource }, statuses: [200], read: (_, text) => JSON.parse(text) };
  }
  if (wish.type === "clear") {
    return { asked: { method: "DELETE", path: resource }, statuses: [204], read: () => null };
  }
  const path = `${resource}/${encodeURIComponent(wish.feature).replaceAll(".", "%2E")}`;
  switch (wish.type) {
    case "add":
      return { asked: { method: "POST", path }, statuses: [200, 201], read: (status) => status === 201 };
    case "remove":
      return { asked: { method: "DELETE", path }, statuses: [204], read: () => null };
    case "has":
      return { asked: { path }, statuses: [200], read: (_, text) => JSON.parse(text).result };
  }
}

function describe(history: Operation[], before: string[]): string {
  const smallest = smallestHistory(history).toSorted((a, b) => a.begun - b.begun);
  const begun = smallest[0]?.begun ?? 0;
  const at = (instant: number) => `${(instant - begun).toFixed(1)} ms`;
  const lines = smallest.map(({ wish, answered, by, ...operation }) => {
    const said = answered ? `${JSON.stringify(answered.answer)} at ${at(answered.at)}` : "no answer";
    return `  ${at(operation.begun)}, process ${by}: ${JSON.stringify(wish)}: ${said}`;
  });
  return ["no order of these explains their answers", ...lines, "the last faults", ...before].join("\n");
}

async function listsOf(caller: Caller, resources: number): Promise<string[][]> {
  const lists: string[][] = [];
  for (let id = 0; id < resources; id += 1) {
    const { text } = await caller.ask({ path: `/features/customer/${id}` }, [200]);
    lists.push(JSON.parse(text));
  }
  return lists;
}

/** The list of each resource, as all changes together make it. */
async function feedOf(caller: Caller): Promise<Map<string, string[]>> {
  const lists = new Map<string, string[]>();
  for (let path = "/changes?limit=1000"; ; ) {
    const { text } = await caller.ask({ path }, [200]);
    const { changes, next_cursor: cursor } = JSON.parse(text);
    for (const { type, id, feature } of changes) {
      const list = (lists.get(id) ?? []).filter((one) => one !== feature);
      lists.set(id, type === "added" ? [...list, feature] : list);
    }
    if (changes.length === 0) return lists;
    path = `/changes?limit=1000&cursor=${encodeURIComponent(cursor)}`;
  }
}

interface World extends AsyncDisposable {
  servers: TestServer[];
  /** Processes of which one that hangs holds up the writes of the others: they share a folder. */
  writers: string[];
  faults: Fault[];
}

const diskMebibytes = 100;
const recordsKept = 999_999;

async function openWorld(kind: StoreKind): Promise<World> {
  await using opening = new AsyncDisposableStack();
  const faults: Fault[] = [];
  let url: string;
  if (kind === "redis") {
    const store = opening.use(await putBehindLine("store", opening.use(await startRedis())));
    faults.push(...store.faults);
    url = store.url;
  } else {
    const { folder, disk } = opening.use(await openScratch(diskMebibytes));
    if (disk) faults.push(diskFilled(disk, []));
    url = `lmdb:${join(folder, "store")}`;
  }
  const servers: TestServer[] = [];
  const writers: string[] = [];
  for (let index = 0; index < processes; index += 1) {
    const server = opening.use(
      await startService("features", { FEATURES_STORE_URL: `${url}?changes=${recordsKept}` }),
    );
    servers.push(server);
    if (kind === "lmdb") writers.push(`features ${index}`);
    faults.push(...faultsOfServer("features", `features ${index}`, server, 6000));
  }
  const opened = opening.move();
  return { servers, writers, faults, [Symbol.asyncDispose]: () => opened.disposeAsync() };
}
