import { setTimeout as sleep } from "node:timers/promises";
import { untilStopped } from "../src/process/stop.ts";
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
  /** Every run has it, and it comes before the others. Default: runs of at least a minute have it. */
  isFirst?: boolean;
  /** How long after the fault it can have effects. Default: a broken connection fails at its next use. */
  effectsMaxMs?: number;
  /** Resolves when the fault is over. */
  inject(random: Random, pause: Pause): Promise<void>;
}

/** Resolves after a random time of up to `maxMs`; earlier if no more faults are injected, as the others wait for the last. */
type Pause = (maxMs: number) => Promise<void>;

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
    isFirst: true,
    async inject(_random, pause) {
      await server.kill();
      await pause(2000);
      await ensureRunning(server);
    },
  },
  {
    component,
    kind: `${name} suspended`,
    async inject(random, pause) {
      server.pause();
      await pause(random.chance(0.25) ? longSuspensionMaxMs : suspensionMaxMs);
      server.resume();
    },
  },
  { component, kind: `${name} restarted`, inject: () => server.restart().catch(() => ensureRunning(server)) },
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
    // A request on an earlier connection waits for up to the statement timeout.
    effectsMaxMs: 6000 + effectsMaxMs,
    async inject(_random, pause) {
      proxy.dropPackets();
      await pause(partitionMaxMs);
      proxy.restore();
    },
  };
  return { url: proxy.url, reset, partition, [Symbol.asyncDispose]: () => proxy[Symbol.asyncDispose]() };
}

const partitionMaxMs = 15_000;

/** Servers that end because the disk is full are started again when there is space. */
export const diskFilled = (disk: SmallDisk, servers: TestServer[]): Fault => ({
  component: "disk",
  kind: "disk full",
  async inject(_random, pause) {
    await disk.fill();
    await pause(3000);
    await disk.clear();
    for (const server of servers) await ensureRunning(server);
  },
});

const effectsMaxMs = 5000;

/** The injected faults. Times are in milliseconds since this process started. */
export interface FaultLog {
  /** The number of faults by kind. */
  readonly kinds: Map<string, number>;
  /** The kinds that were not injected; `promised` are those that a run of this length must have. */
  readonly missing: { promised: string[]; others: string[] };
  /** Tells whether a fault of one of these components, or its effects, can explain an error between two times. */
  affected(components: string[], from: number, to: number): boolean;
  /** Descriptions of the last faults before a time. */
  before(time: number): string[];
}

export const noFaults: Pick<FaultLog, "affected" | "before"> = { affected: () => false, before: () => [] };

interface FaultRecord {
  fault: Fault;
  from: number;
  to: number;
}

/** A run of this length has every kind of fault. */
const completeMinutes = 1;
/** A run is this much longer at most if a kind that it promises has not been there yet. */
const extensionMaxMs = 60_000;
const faultsAtATime = 2;

/**
 * Injects faults during most of a run, several at a time, one per component. Those that are promised and have not been
 * there come first, then the other kinds that have not. The run begins with the call of `begin`: a fault that comes before
 * the first requests would find nothing to break.
 */
export function openFaultyRun(faults: Fault[], minutes: number, random: Random, stop: AbortSignal) {
  const { failed, all } = openTasks(stop);
  const { promise: begun, resolve: begin } = Promise.withResolvers<void>();
  const records: FaultRecord[] = [];
  const faulty = new Set<string>();
  const isInjected = ({ kind }: Fault) => records.some(({ fault }) => fault.kind === kind);
  const isPromised = ({ isFirst }: Fault) => isFirst || minutes >= completeMinutes;
  const isMissing = (fault: Fault) => isPromised(fault) && !isInjected(fault);
  const [last, end] = [new AbortController(), new AbortController()];
  let startedAt = Number.POSITIVE_INFINITY;
  const isOver = () => {
    const left = startedAt + minutes * 60_000 * faultyShare - performance.now();
    if (failed.aborted || left < -extensionMaxMs || (left < 0 && !faults.some(isMissing))) last.abort();
    return last.signal.aborted;
  };

  async function injectOneByOne(own: Random): Promise<void> {
    while (!isOver()) {
      await sleep(own.integer(200, 2500), undefined, { signal: last.signal }).catch(() => {});
      const possible = faults.filter(({ component }) => !faulty.has(component));
      if (isOver() || possible.length === 0) continue;
      const choices = [
        possible.filter((fault) => fault.isFirst && !isInjected(fault)),
        possible.filter((fault) => !isInjected(fault)),
        possible,
      ];
      const fault = own.pick(choices.find(({ length }) => length > 0) as Fault[]);
      faulty.add(fault.component);
      await fault.possible?.();
      if (isOver()) return;
      const record = { fault, from: performance.now(), to: Number.POSITIVE_INFINITY };
      records.push(record);
      const pause = (maxMs: number) =>
        sleep(own.integer(0, maxMs), undefined, { signal: last.signal }).catch(() => {});
      await fault.inject(own, pause);
      faulty.delete(fault.component);
      record.to = performance.now();
    }
  }

  const log: FaultLog = {
    get kinds() {
      return new Map(
        [...Map.groupBy(records, ({ fault }) => fault.kind)].map(([kind, of]) => [kind, of.length]),
      );
    },
    get missing() {
      const kindsOf = (some: Fault[]) => [...new Set(some.map(({ kind }) => kind))];
      const absent = faults.filter((fault) => !isInjected(fault));
      return {
        promised: kindsOf(absent.filter(isPromised)),
        others: kindsOf(absent.filter((fault) => !isPromised(fault))),
      };
    },
    affected: (components, from, to) =>
      records.some(
        (record) =>
          components.includes(record.fault.component) &&
          record.from <= to &&
          from <= record.to + (record.fault.effectsMaxMs ?? effectsMaxMs),
      ),
    before: (time) =>
      records
        .filter(({ from }) => from <= time)
        .slice(-10)
        .map(
          ({ fault: { component, kind }, from, to }) =>
            `${((from - time) / 1000).toFixed(1)} s: ${kind} (${component}), for ${((to - from) / 1000).toFixed(1)} s`,
        ),
  };
  // A pause must end in time, too.
  const clock = setInterval(isOver, 100);
  const injected = Promise.race([begun, untilStopped(failed)])
    .then(() => {
      startedAt = performance.now();
      return Promise.all(Array.from({ length: faultsAtATime }, () => injectOneByOne(random.fork())));
    })
    .then(() => sleep(minutes * 60_000 * (1 - faultyShare), undefined, { signal: failed }).catch(() => {}))
    .finally(() => {
      clearInterval(clock);
      end.abort();
    });
  return {
    log,
    begin,
    /** Aborts some time after the last fault, so that the last part runs without faults. */
    end: AbortSignal.any([failed, end.signal]),
    all: (tasks: Promise<unknown>[]) => all([injected, ...tasks]),
  };
}
/** The share of a run that has faults. */
const faultyShare = 0.9;

/** Tasks of which one that fails ends the others. */
export function openTasks(stop: AbortSignal) {
  const failure = new AbortController();
  return {
    /** Aborts at the first failure, or with `stop`. */
    failed: AbortSignal.any([stop, failure.signal]),
    /** Waits for all tasks. If one fails, ends the others and rejects with its error. */
    async all(tasks: Promise<unknown>[]): Promise<void> {
      try {
        await Promise.all(tasks);
      } catch (error) {
        failure.abort();
        await Promise.allSettled(tasks);
        throw error;
      }
      stop.throwIfAborted();
    },
  };
}
