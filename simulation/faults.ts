import { setTimeout as sleep } from "node:timers/promises";
import type { Random } from "../testing/random.ts";
import type { TestServer } from "../testing/servers/server.ts";
import type { SmallDisk } from "../testing/small-disk.ts";
import { openTcpProxy } from "./tcp-proxy.ts";

/** A fault of one component of the system. */
export interface Fault {
  /** The component, for example one of several servers. It has one fault at a time. */
  component: string;
  /** The name in the statistics, for example `ledger killed`. */
  kind: string;
  /** Resolves when the component can have the fault. Errors are not excused before. Default: always. */
  possible?(): Promise<unknown>;
  /** It comes before all others, so that a short run has it. Default: false. */
  isFirst?: boolean;
  /** Resolves when the fault is over. */
  inject(random: Random): Promise<void>;
}

const sleepUpTo = (maxMs: number, random: Random) => sleep(random.integer(0, maxMs));

/** The faults of a server: it is killed, suspended (sometimes for up to `longSuspensionMaxMs`) or restarted. */
export const faultsOfServer = (
  name: string,
  component: string,
  server: TestServer,
  longSuspensionMaxMs = suspensionMaxMs,
): Fault[] => [
  {
    component,
    kind: `${name} killed`,
    async inject(random) {
      await server.kill();
      await sleepUpTo(2000, random);
      await ensureRunning(server);
    },
  },
  {
    component,
    kind: `${name} suspended`,
    async inject(random) {
      server.pause();
      await sleepUpTo(random.chance(0.25) ? longSuspensionMaxMs : suspensionMaxMs, random);
      server.resume();
    },
  },
  {
    component,
    kind: `${name} restarted`,
    inject: () => server.restart().catch(() => ensureRunning(server)),
  },
];

const suspensionMaxMs = 4000;

/** Starts a server unless it runs. Retries, as a process manager does, since its dependencies can be down. */
export async function ensureRunning(server: TestServer): Promise<void> {
  const deadline = AbortSignal.timeout(startMaxMs);
  while (!server.isRunning()) {
    try {
      await server.start();
    } catch (error) {
      if (deadline.aborted) throw error;
      await sleep(200);
    }
  }
}
const startMaxMs = 60_000;

/**
 * Opens a TCP proxy for a dependency of the services. `url` is its URL through the proxy. `faults` are the faults of the
 * server and of the connections. `partition` is only for a dependency whose clients have timeouts for lost packets.
 */
export async function openFaultyServer(component: string, server: TestServer) {
  const proxy = await openFaultyConnection(component, server);
  const faults = [...faultsOfServer(component, component, server), proxy.reset];
  return { ...proxy, faults };
}

/** Opens a TCP proxy for a server, with the faults of its connections. */
export async function openFaultyConnection(component: string, server: TestServer) {
  const proxy = await openTcpProxy(server.url);
  const reset: Fault = {
    component,
    kind: `connections to ${component} reset`,
    inject: async () => proxy.resetConnections(),
  };
  const partition: Fault = {
    component,
    kind: `packets to ${component} dropped`,
    async inject(random) {
      proxy.dropPackets();
      await sleepUpTo(partitionMaxMs, random);
      proxy.restore();
      // A request on an earlier connection waits for up to the statement timeout.
      await sleep(statementEndsMs);
    },
  };
  return { url: proxy.url, reset, partition, [Symbol.asyncDispose]: () => proxy[Symbol.asyncDispose]() };
}

const partitionMaxMs = 15_000;
const statementEndsMs = 6000;

/** Servers that end because the disk is full are started again when there is space. */
export const diskFilled = (disk: SmallDisk, servers: TestServer[]): Fault => ({
  component: "disk",
  kind: "disk full",
  async inject(random) {
    await disk.fill();
    await sleepUpTo(3000, random);
    await disk.clear();
    for (const server of servers) await ensureRunning(server);
  },
});

/** How long after a fault it can have effects: a broken connection fails at its next use. */
const effectsMaxMs = 5000;

/** The injected faults. Times are in milliseconds since this process started. */
export interface FaultLog {
  /** The number of faults by kind. */
  readonly kinds: Map<string, number>;
  /** Tells whether a fault of one of these components, or its effects, can explain an error between two times. */
  affected(components: string[], from: number, to: number): boolean;
  /** Descriptions of the last faults before a time. */
  before(time: number): string[];
}

export const noFaults: FaultLog = { kinds: new Map(), affected: () => false, before: () => [] };

interface FaultRecord {
  component: string;
  kind: string;
  from: number;
  to: number;
}

/** Injects faults until `stop` aborts: several at a time, one per component. `ended` resolves when all are over. */
export function injectFaults(faults: Fault[], random: Random, stop: AbortSignal) {
  const records: FaultRecord[] = [];
  const faulty = new Set<string>();

  async function injectOneByOne(own: Random): Promise<void> {
    while (!stop.aborted) {
      await sleep(own.integer(200, 2500), undefined, { signal: stop }).catch(() => {});
      const possible = faults.filter(({ component }) => !faulty.has(component));
      if (stop.aborted || possible.length === 0) continue;
      const first = possible.filter(
        ({ isFirst, kind }) => isFirst && !records.some((record) => record.kind === kind),
      );
      const fault = own.pick(first.length > 0 ? first : possible);
      const { component, kind } = fault;
      faulty.add(component);
      await fault.possible?.();
      const record = { component, kind, from: performance.now(), to: Number.POSITIVE_INFINITY };
      records.push(record);
      await fault.inject(own);
      faulty.delete(component);
      record.to = performance.now();
    }
  }

  const log: FaultLog = {
    get kinds() {
      return new Map([...Map.groupBy(records, ({ kind }) => kind)].map(([kind, all]) => [kind, all.length]));
    },
    affected: (components, from, to) =>
      records.some(
        (record) =>
          components.includes(record.component) && record.from <= to && from <= record.to + effectsMaxMs,
      ),
    before: (time) =>
      records
        .filter(({ from }) => from <= time)
        .slice(-10)
        .map(
          ({ component, kind, from, to }) =>
            `${((from - time) / 1000).toFixed(1)} s: ${kind} (${component}), for ${((to - from) / 1000).toFixed(1)} s`,
        ),
  };
  const ended = Promise.all(Array.from({ length: faultsAtATime }, () => injectOneByOne(random.fork())));
  return { log, ended };
}
const faultsAtATime = 2;

/** The time limits of a simulation. `faultsEnd` aborts before `end`, so that the last part runs without faults. */
export function openRun(minutes: number, stop: AbortSignal) {
  const failed = new AbortController();
  const after = (share: number) =>
    AbortSignal.any([stop, failed.signal, AbortSignal.timeout(minutes * 60_000 * share)]);
  return {
    end: after(1),
    faultsEnd: after(0.9),
    /** Waits for all tasks. If one fails, ends the others and rejects with its error. */
    async all(tasks: Promise<unknown>[]): Promise<void> {
      try {
        await Promise.all(tasks);
      } catch (error) {
        failed.abort();
        await Promise.allSettled(tasks);
        throw error;
      }
      stop.throwIfAborted();
    },
  };
}
