import { setTimeout as sleep } from "node:timers/promises";
import { untilStopped } from "../src/process/stop.ts";
import { retry } from "../src/waiting/retry.ts";
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
  /**
   * Resolves when the component can have the fault, or when no more faults are injected. Errors are not excused before.
   * Default: always.
   */
  possible?(last: AbortSignal): Promise<unknown>;
  /** Every run has it, and it comes before the others. Default: runs of at least a minute have it. */
  isFirst?: boolean;
  /** How long after the fault it can have effects. Default: a broken connection fails at its next use. */
  effectsMaxMs?: number;
  /** Resolves when the fault is over. Calls `recovered` if the services must have recovered before. */
  inject(random: Random, pause: Pause, recovered: () => void): Promise<unknown>;
  /** True if a read between these times may see an earlier state because of such a fault. Default: never. */
  mayReadStale?(from: number, to: number): boolean;
}

/** Resolves after a random time of up to `maxMs`; earlier if no more faults are injected, as the others wait for the last. */
type Pause = (maxMs: number) => Promise<void>;

/** For how long a server is lost. A suspension is sometimes a long one. */
const defaultLosses = { killedMaxMs: 2000, suspendedMaxMs: 4000, longSuspensionMaxMs: 4000 };

/** The faults of servers that are one component: one of them is killed, suspended or restarted. */
export function faultsOfServers(
  name: string,
  component: string,
  servers: TestServer[],
  losses: Partial<typeof defaultLosses> = {},
): Fault[] {
  const { killedMaxMs, suspendedMaxMs, longSuspensionMaxMs } = { ...defaultLosses, ...losses };
  const fault = (
    kind: string,
    inject: (server: TestServer, pause: Pause, random: Random) => Promise<unknown>,
  ): Fault => ({
    component,
    kind: `${name} ${kind}`,
    inject: (random, pause) => inject(random.pick(servers), pause, random),
  });
  const killed = fault("killed", async (server, pause) => {
    await server.kill();
    await pause(killedMaxMs);
    await ensureRunning(server);
  });
  const suspended = fault("suspended", async (server, pause, random) => {
    server.pause();
    await pause(random.chance(0.25) ? longSuspensionMaxMs : suspendedMaxMs);
    server.resume();
  });
  const restarted = fault("restarted", (server) => server.restart().catch(() => ensureRunning(server)));
  return [{ ...killed, isFirst: true }, suspended, restarted];
}

/** Starts a server unless it runs. Retries, as a process manager does, since its dependencies can be down. */
export const ensureRunning = (server: TestServer): Promise<unknown> =>
  retry(async () => server.isRunning() || server.start(), { forMs: startMaxMs });
const startMaxMs = 60_000;

/**
 * Opens a TCP proxy for a dependency of the services. `url` is its URL through the proxy. `faults` are the faults of the
 * server and of the connections. `partition` is only for a dependency whose clients have timeouts for lost packets.
 */
export async function openFaultyServer(component: string, server: TestServer) {
  const proxy = await openFaultyConnection(component, server);
  const faults = [...faultsOfServers(component, component, [server]), proxy.reset];
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

/** What excuses and explains an error. Times are in milliseconds since this process started. */
export interface FaultLog {
  /** Tells whether a fault of one of these components, or its effects, can explain an error between two times. */
  affected(components: string[], from: number, to: number): boolean;
  /** True if a read between two times may see an earlier state. */
  mayReadStale(from: number, to: number): boolean;
  /** Descriptions of the last faults before a time. */
  before(time: number): string[];
}

export const noFaults: FaultLog = { affected: () => false, mayReadStale: () => false, before: () => [] };

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
  const records: { fault: Fault; from: number; to: number }[] = [];
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

  const untilLast = (ms: number) => sleep(ms, undefined, { signal: last.signal }).catch(() => {});
  async function injectOneByOne(own: Random): Promise<void> {
    while (!isOver()) {
      await untilLast(own.integer(200, 2500));
      const possible = faults.filter(({ component }) => !faulty.has(component));
      if (isOver() || possible.length === 0) continue;
      const choices = [
        possible.filter((fault) => fault.isFirst && !isInjected(fault)),
        possible.filter((fault) => !isInjected(fault)),
        possible,
      ];
      const fault = own.pick(choices.find(({ length }) => length > 0) as Fault[]);
      faulty.add(fault.component);
      await fault.possible?.(last.signal);
      if (isOver()) return;
      const record = { fault, from: performance.now(), to: Number.POSITIVE_INFINITY };
      records.push(record);
      const recovered = () => {
        record.to = Math.min(record.to, performance.now());
      };
      await fault.inject(own, (maxMs) => untilLast(own.integer(0, maxMs)), recovered);
      faulty.delete(fault.component);
      recovered();
    }
  }

  const log: FaultLog = {
    affected: (components, from, to) =>
      records.some(
        (record) =>
          components.includes(record.fault.component) &&
          record.from <= to &&
          from <= record.to + (record.fault.effectsMaxMs ?? effectsMaxMs),
      ),
    mayReadStale: (from, to) => faults.some((fault) => fault.mayReadStale?.(from, to)),
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
    /** The number of faults by kind, and the kinds that a run of this length must have and that were not injected. */
    statistics: () => ({
      faults: new Map(
        [...Map.groupBy(records, ({ fault }) => fault.kind)].map(([kind, of]) => [kind, of.length]),
      ),
      missing: new Set(faults.filter(isMissing).map(({ kind }) => kind)),
    }),
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
