import { setTimeout as sleep } from "node:timers/promises";
import type { TestServer } from "../testing/servers/server.ts";
import type { SmallDisk } from "../testing/small-disk.ts";
import { openLine } from "./line.ts";
import type { Random } from "./random.ts";

/** Something bad that happens to a part of the system, and is over when it resolves. */
export interface Fault {
  /** Of which there are several servers, say; a part suffers one fault at a time. */
  part: string;
  /** In figures, for example `ledger killed`. */
  kind: string;
  inflict(random: Random): Promise<void>;
}

const shortly = (random: Random, maxMs: number) => sleep(random.whole(0, maxMs));

/**
 * What can happen to a server by itself: it crashes, hangs, now and then for up to `hangMaxMs`, or is started anew by its
 * keepers.
 */
export const faultsOfServer = (
  name: string,
  part: string,
  server: TestServer,
  hangMaxMs = hangUsuallyMaxMs,
): Fault[] => [
  {
    part,
    kind: `${name} killed`,
    async inflict(random) {
      await server.kill();
      await shortly(random, 2000);
      await startAgain(server);
    },
  },
  {
    part,
    kind: `${name} paused`,
    async inflict(random) {
      server.pause();
      await shortly(random, random.chance(0.25) ? hangMaxMs : hangUsuallyMaxMs);
      server.resume();
    },
  },
  {
    part,
    kind: `${name} restarted`,
    inflict: () => server.restart().catch(() => startAgain(server)),
  },
];

const hangUsuallyMaxMs = 4000;

/** Again and again, as whatever keeps servers running does: what it needs may be away. */
export async function startAgain(server: TestServer): Promise<void> {
  const late = AbortSignal.timeout(startMaxMs);
  while (!server.isRunning()) {
    try {
      await server.start();
    } catch (error) {
      if (late.aborted) throw error;
      await sleep(200);
    }
  }
}
const startMaxMs = 60_000;

/**
 * Puts what the services depend on behind a line: its URL by the line, and all that can happen to it. `silent` is for
 * those alone whose clients have limits for a line that loses every packet.
 */
export async function putBehindLine(part: string, server: TestServer) {
  const line = await openLine(server.url);
  const cut: Fault = { part, kind: `connections to ${part} cut`, inflict: async () => line.cut() };
  const silent: Fault = {
    part,
    kind: `line to ${part} silent`,
    async inflict(random) {
      line.silence();
      await shortly(random, silenceMaxMs);
      line.restore();
      // Whoever asks on a connection from before waits for as long as a statement may take.
      await sleep(silenceEndsMs);
    },
  };
  const faults = [...faultsOfServer(part, part, server), cut];
  return { url: line.url, faults, silent, [Symbol.asyncDispose]: () => line[Symbol.asyncDispose]() };
}

const silenceMaxMs = 15_000;
const silenceEndsMs = 6000;

/** Servers that end for want of space are started again when there is some. */
export const diskFilled = (disk: SmallDisk, servers: TestServer[]): Fault => ({
  part: "disk",
  kind: "disk full",
  async inflict(random) {
    await disk.fill();
    await shortly(random, 3000);
    await disk.clear();
    for (const server of servers) await startAgain(server);
  },
});

/** How long after a fault its effects may still be met: connections break at their next use. */
const aftermathMs = 5000;

/** What happened when, in milliseconds since the process began. */
export interface FaultLog {
  /** How often each kind of fault happened. */
  readonly kinds: Map<string, number>;
  /** Whether a part suffered, or had just suffered, at any time between two instants. */
  suffered(parts: string[], from: number, to: number): boolean;
  /** The last faults before an instant, in words. */
  before(instant: number): string[];
}

/** The log of a time without faults. */
export const nothingHappens: FaultLog = { kinds: new Map(), suffered: () => false, before: () => [] };

interface Happened {
  part: string;
  kind: string;
  from: number;
  to: number;
}

/** Lets faults happen, several at a time but one for each part, until `stop` aborts; tells when all are over. */
export function letHappen(faults: Fault[], random: Random, stop: AbortSignal) {
  const happened: Happened[] = [];
  const suffering = new Set<string>();

  async function happen(own: Random): Promise<void> {
    while (!stop.aborted) {
      await sleep(own.whole(200, 2500), undefined, { signal: stop }).catch(() => {});
      const possible = faults.filter(({ part }) => !suffering.has(part));
      if (stop.aborted || possible.length === 0) continue;
      const { part, kind, inflict } = own.one(possible);
      const entry = { part, kind, from: performance.now(), to: Number.POSITIVE_INFINITY };
      happened.push(entry);
      suffering.add(part);
      await inflict(own);
      suffering.delete(part);
      entry.to = performance.now();
    }
  }

  const log: FaultLog = {
    get kinds() {
      return new Map([...Map.groupBy(happened, ({ kind }) => kind)].map(([kind, all]) => [kind, all.length]));
    },
    suffered: (parts, from, to) =>
      happened.some((one) => parts.includes(one.part) && one.from <= to && from <= one.to + aftermathMs),
    before: (instant) =>
      happened
        .filter(({ from }) => from <= instant)
        .slice(-10)
        .map(
          ({ part, kind, from, to }) =>
            `${((from - instant) / 1000).toFixed(1)} s: ${kind} (${part}), for ${((to - from) / 1000).toFixed(1)} s`,
        ),
  };
  const over = Promise.all(Array.from({ length: atATime }, () => happen(random.fork())));
  return { log, over };
}
const atATime = 2;

/** The time of a simulation, at whose end nothing bad happens any more. */
export function openRun(minutes: number, stop: AbortSignal) {
  const failed = new AbortController();
  const until = (share: number) =>
    AbortSignal.any([stop, failed.signal, AbortSignal.timeout(minutes * 60_000 * share)]);
  return {
    over: until(1),
    quiet: until(0.9),
    /** Waits for all; the first that fails ends the others, and is what it rejects with. */
    async all(works: Promise<unknown>[]): Promise<void> {
      try {
        await Promise.all(works);
      } catch (error) {
        failed.abort();
        await Promise.allSettled(works);
        throw error;
      }
      stop.throwIfAborted();
    },
  };
}
