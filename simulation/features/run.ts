import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import type { components } from "../../generated/features.ts";
import { openProgress } from "../../src/process/progress.ts";
import { allSettled } from "../../testing/all-settled.ts";
import { disposing } from "../../testing/disposing.ts";
import type { Random } from "../../testing/random.ts";
import { startPostgres } from "../../testing/servers/postgres.ts";
import { startRedis } from "../../testing/servers/redis.ts";
import type { TestServer } from "../../testing/servers/server.ts";
import { startService } from "../../testing/services.ts";
import { openScratch } from "../../testing/small-disk.ts";
import { type CheckingClient, type HttpRequest, openCheckingClient } from "../client.ts";
import {
  diskFilled,
  ensureRunning,
  type Fault,
  faultsOfServers,
  openFaultyRun,
  openFaultyServer,
} from "../faults.ts";
import { openFaultyPair } from "../faulty-pair.ts";
import { rethrowViolation, Violation, withServerErrors } from "../violation.ts";
import { type Command, isLinearizable, isRead, type Operation, type Result } from "./history.ts";

export const stores = ["lmdb", "redis", "postgres", "patroni", "two-primaries"] as const;
export type StoreKind = (typeof stores)[number];

export interface Plan {
  store: StoreKind;
  minutes: number;
  random: Random;
  stop: AbortSignal;
}

const processes = 3;

/**
 * Sends operations on resources while faults are injected. Verifies that the history of each resource is linearizable,
 * that the change feed gives the lists, that counts and past lists are those of the feed, and that the lists are the same
 * after all processes have been killed.
 */
export async function simulateFeatures(plan: Plan) {
  await using deployment = await openDeployment(plan.store);
  return await withServerErrors(deployment.servers, () => simulateIn(deployment, plan));
}

async function simulateIn(
  { servers, faults: possibleFaults, writers, keepsHistory }: Deployment,
  { minutes, random, stop }: Plan,
) {
  await using opened = new AsyncDisposableStack();
  const run = openFaultyRun(possibleFaults, minutes, random.fork(), stop);
  const faults = run.log;
  const responses = new Map<string, number>();
  const clients = servers.map(({ url }, index) =>
    opened.use(
      openCheckingClient("features", { server: `features ${index}`, url, writers, faults, responses }),
    ),
  );

  const progress = opened.use(openProgress("operations"));
  const pastLists: PastList[] = [];
  let resources = 0;
  async function operateOnResources(own: Random): Promise<void> {
    while (!run.end.aborted) {
      const id = String(resources++);
      const [history, past] = await Promise.all([
        operateOn(id, clients, own),
        keepsHistory ? readPast(id, clients, own.fork()) : [],
      ]);
      pastLists.push(...past);
      const isReliable = ({ command, startedAt, response }: Operation) =>
        !isRead(command) || !response || !faults.mayReadStale(startedAt, response.at);
      if (!isLinearizable(history.filter(isReliable))) {
        throw new Violation(describe(history, faults.before(performance.now())));
      }
      progress.advance(history.length);
      run.begin();
    }
  }
  const tasks = Array.from({ length: resourcesAtATime }, () => operateOnResources(random.fork()));
  await run.all(tasks);
  progress[Symbol.dispose]();
  await allSettled(servers.map(ensureRunning));
  await sleep(settleMs);

  const [first, second] = clients as [CheckingClient, CheckingClient];
  const lists = await listsOf(first, resources);
  const records = await recordsOf(second);
  for (const [id, list] of lists.entries())
    compare(`the changes in the feed of ${id}`, listAfter(records.get(String(id)) ?? []), list);
  await verifyCounts(first, lists);
  if (keepsHistory) await verifyPast(second, records, random);
  await verifyPastLists(first, pastLists, random);
  await allSettled(servers.map((server) => server.kill()));
  await allSettled(servers.map(ensureRunning));
  const listsAfter = await allSettled(clients.map((client) => listsOf(client, resources)));
  for (const after of listsAfter) compare("the lists after all processes were killed", after, lists);
  return { resources, operations: progress.count, ...run.statistics(), responses };
}

/** A request without a response can have an effect for this long. */
const settleMs = 3000;
const readsAtATime = 4;

function compare(name: string, actual: unknown, expected: unknown): void {
  if (isDeepStrictEqual(actual, expected)) return;
  throw new Violation(
    `${name}: ${JSON.stringify(actual).slice(0, 500)}, expected ${JSON.stringify(expected).slice(0, 500)}`,
  );
}

const resourcesAtATime = 6;
const tasksPerResource = 4;
const commandsPerTask = 6;
const noResponsePauseMs = 50;
const featureNames = ["dark-mode", "beta search", "..", "ü/%2F"];

/** Sends random commands for one resource, concurrently and to random processes. Then lists it at each process. */
export async function operateOn(id: string, clients: CheckingClient[], random: Random): Promise<Operation[]> {
  const history: Operation[] = [];
  /** Resolves with false if there is no result. */
  async function operate(process: number, command: Command): Promise<boolean> {
    const operation: Operation = { command, startedAt: performance.now(), process };
    history.push(operation);
    const result = await resultOf(clients[process] as CheckingClient, id, command);
    if (result === undefined) return false;
    operation.response = { at: performance.now(), result };
    return true;
  }
  /** Ends at the first operation without a result, as each of these doubles the number of possible orders. */
  async function operateRandomly(own: Random): Promise<void> {
    for (let count = 0; count < commandsPerTask; count += 1) {
      const hasResult = await operate(own.integer(0, clients.length - 1), randomCommand(own));
      if (!hasResult) return sleep(noResponsePauseMs);
    }
  }
  await Promise.all(Array.from({ length: tasksPerResource }, () => operateRandomly(random.fork())));
  for (const process of clients.keys()) await operate(process, { type: "list" });
  return history;
}

function randomCommand(random: Random): Command {
  const type = random.pick(["add", "add", "add", "remove", "has", "list", "list", "clear"] as const);
  if (type === "list" || (type === "clear" && random.chance(0.7))) return { type: "list" };
  return type === "clear" ? { type } : { type, feature: random.pick(featureNames) };
}

/** Undefined if there is no response, or one that does not tell whether the command was executed. */
async function resultOf(client: CheckingClient, id: string, command: Command): Promise<Result | undefined> {
  try {
    const { statuses, parse, ...request } = exchangeFor(id, command);
    const { status, text } = await client.send(request, statuses);
    return statuses.includes(status) ? parse(status, text) : undefined;
  } catch (error) {
    if (error instanceof Violation) throw error;
    return undefined;
  }
}

interface Exchange extends HttpRequest {
  statuses: number[];
  parse(status: number, text: string): Result;
}

function exchangeFor(id: string, command: Command): Exchange {
  const resource = `/features/customer/${id}`;
  if (command.type === "list")
    return { path: resource, statuses: [200], parse: (_, text) => JSON.parse(text) };
  const removal = (path: string): Exchange => ({
    method: "DELETE",
    path,
    statuses: [204],
    parse: () => null,
  });
  if (command.type === "clear") return removal(resource);
  const path = `${resource}/${encodeURIComponent(command.feature).replaceAll(".", "%2E")}`;
  if (command.type === "remove") return removal(path);
  if (command.type === "has") return { path, statuses: [200], parse: (_, text) => JSON.parse(text).result };
  return { method: "POST", path, statuses: [200, 201], parse: (status) => status === 201 };
}

function describe(history: Operation[], lastFaults: string[]): string {
  const inOrder = history.toSorted((a, b) => a.startedAt - b.startedAt);
  const firstStart = inOrder[0]?.startedAt ?? 0;
  const at = (time: number) => `${(time - firstStart).toFixed(1)} ms`;
  const lines = inOrder.map(({ command, startedAt, response, process }) => {
    const result = response ? `${JSON.stringify(response.result)} at ${at(response.at)}` : "no response";
    return `  ${at(startedAt)}, process ${process}: ${JSON.stringify(command)}: ${result}`;
  });
  return ["this history is not linearizable", ...lines, "the last faults", ...lastFaults].join("\n");
}

async function listsOf(client: CheckingClient, resources: number): Promise<string[][]> {
  const lists: string[][] = [];
  const ids = Array.from({ length: resources }).keys();
  await allSettled(
    Array.from({ length: readsAtATime }, async () => {
      for (const id of ids)
        lists[id] = JSON.parse((await client.send({ path: `/features/customer/${id}` }, [200])).text);
    }),
  );
  return lists;
}

type ChangeRecord = components["schemas"]["ChangeRecord"];

/** The records of each resource in the feed. */
async function recordsOf(client: CheckingClient): Promise<Map<string, ChangeRecord[]>> {
  const records = new Map<string, ChangeRecord[]>();
  for (let path = "/changes?limit=1000"; ; ) {
    const { text } = await client.send({ path }, [200]);
    const { changes, next_cursor: cursor }: components["schemas"]["ChangePage"] = JSON.parse(text);
    for (const change of changes) records.set(change.id, [...(records.get(change.id) ?? []), change]);
    if (changes.length === 0) return records;
    path = `/changes?limit=1000&cursor=${encodeURIComponent(cursor)}`;
  }
}

/** The list that results from the records of a resource. */
function listAfter(records: ChangeRecord[]): string[] {
  const list = new Set<string>();
  for (const { type, feature } of records) {
    list.delete(feature);
    if (type === "added") list.add(feature);
  }
  return [...list];
}

async function verifyCounts(client: CheckingClient, lists: string[][]): Promise<void> {
  for (const feature of featureNames) {
    const path = `/features/customer?feature=${encodeURIComponent(feature)}&count=true&limit=1`;
    const { text } = await client.send({ path }, [200]);
    const expected = lists.filter((list) => list.includes(feature)).length;
    compare(`the number of resources with ${feature}`, JSON.parse(text).count, expected);
  }
}

const pastStates = 500;

/** Reads lists at the instants of some records. */
async function verifyPast(
  client: CheckingClient,
  records: Map<string, ChangeRecord[]>,
  random: Random,
): Promise<void> {
  const ids = [...records.keys()];
  for (let count = 0; count < Math.min(pastStates, 3 * ids.length); count += 1) {
    const id = random.pick(ids);
    const ofResource = records.get(id) ?? [];
    const { at } = random.pick(ofResource);
    const { text } = await client.send({ path: `/features/customer/${id}?as_of=${at}` }, [200]);
    const expected = listAfter(ofResource.filter((record) => record.at <= at));
    compare(`the list of ${id} at ${at}`, JSON.parse(text), expected);
  }
}

/** A response: the list of a resource at an instant. */
interface PastList {
  id: string;
  at: string;
  list: string;
}

const pastReads = 12;
const pastListsMax = 6000;

/** Reads the list of a resource at instants that have just been, while it changes. */
async function readPast(id: string, clients: CheckingClient[], random: Random): Promise<PastList[]> {
  const pastLists: PastList[] = [];
  for (let count = 0; count < pastReads; count += 1) {
    await sleep(random.integer(0, 5));
    const at = new Date().toISOString();
    const request = { path: `/features/customer/${id}?as_of=${at}` };
    const response = await random.pick(clients).send(request, [200]).catch(rethrowViolation);
    if (response?.status === 200) pastLists.push({ id, at, list: response.text });
  }
  return pastLists;
}

/** Verifies that the list for an instant stays the same. */
async function verifyPastLists(client: CheckingClient, pastLists: PastList[], random: Random): Promise<void> {
  const checked =
    pastLists.length <= pastListsMax
      ? pastLists
      : Array.from({ length: pastListsMax }, () => random.pick(pastLists));
  for (const { id, at, list } of checked) {
    const { text } = await client.send({ path: `/features/customer/${id}?as_of=${at}` }, [200]);
    compare(`the list of ${id} at ${at}, read again`, text, list);
  }
}

type Deployment = Awaited<ReturnType<typeof openDeployment>>;

const diskMebibytes = { lmdb: 100, postgres: 1000 };
const changesKept = 999_999;
const longSuspensionMaxMs = 6000;

/** Opens a store that the processes share. */
async function openStore(
  kind: StoreKind,
  opened: AsyncDisposableStack,
): Promise<{ url: string; faults: Fault[]; faultsOf?: (component: string, server: TestServer) => Fault[] }> {
  switch (kind) {
    case "redis":
      return opened.use(await openFaultyServer("store", opened.use(await startRedis())));
    case "patroni":
    case "two-primaries":
      return opened.use(await openFaultyPair("store", kind));
    case "postgres": {
      const { folder, disk } = opened.use(await openScratch(diskMebibytes[kind]));
      const server = opened.use(await startPostgres(folder));
      const { url, faults, partition } = opened.use(await openFaultyServer("store", server));
      return { url, faults: [...faults, partition, ...(disk ? [diskFilled(disk, [server])] : [])] };
    }
    case "lmdb": {
      const { folder, disk } = opened.use(await openScratch(diskMebibytes[kind]));
      return { url: `lmdb:${join(folder, "store")}`, faults: disk ? [diskFilled(disk, [])] : [] };
    }
  }
}

async function openDeployment(kind: StoreKind) {
  await using opening = new AsyncDisposableStack();
  const { url, faults, faultsOf = () => [] } = await openStore(kind, opening);
  const keepsHistory = kind !== "redis";
  const settings = { FEATURES_STORE_URL: url + (keepsHistory ? "?keep=all" : `?changes=${changesKept}`) };
  const names = Array.from({ length: processes }, (_, index) => `features ${index}`);
  const servers = await allSettled(
    names.map(async () => opening.use(await startService("features", { env: settings }))),
  );
  const serverFaults = servers.flatMap((server, index) => {
    const name = names[index] as string;
    const own = index === 0 ? faultsOf(name, server) : [];
    return [...faultsOfServers("features", name, [server], { longSuspensionMaxMs }), ...own];
  });
  return disposing(opening, {
    servers,
    /** Processes that block the writes of the others while they are suspended, because they share a folder. */
    writers: kind === "lmdb" ? names : [],
    faults: [...faults, ...serverFaults],
    keepsHistory,
  });
}
