import { getPriority, setPriority } from "node:os";
import { watchMachine } from "./machine.ts";
import { type Ping, startPings } from "./pings.ts";
import { memoryMaxMiB, type WatchedService } from "./watched-service.ts";

/** The bounds of `docs/operating.md`: what one caller costs, no other pays. They are for an idle reference machine. */
const stallMaxMs = 50;
const pingMaxMs = 250;
/** The embedded database runs one transaction at a time, also for other callers. */
const embeddedPingMaxMs = 500;
/** Two other programs that keep two processors busy slow it down by less. */
const slowerMax = 3;
/** With the embedded database, beyond the memory that the process holds after its start. */
const embeddedGrowthMaxMiB = 250;

/** Something that one caller does. Requests and messages are of legal size. */
export interface Attack<Target> {
  name: string;
  /** Writes the data that it needs, before the service is watched. */
  prepare?(target: Target): Promise<void>;
  /** Rejects if a response is not the documented one. */
  run(target: Target): Promise<void>;
}

/** A service under attack, with the requests that others send meanwhile. */
export interface Target {
  url: string;
  service: WatchedService;
  pings: Ping[];
  /** The service has its database in its own process. */
  isEmbedded: boolean;
}

export interface Outcome {
  /** One line of figures. */
  figures: string;
  /** A message for each bound that was exceeded, and for each response that is not the documented one. */
  violations: string[];
}

/** Runs an attack against a service that nothing has attacked before. */
export async function watch<Own extends Target>(target: Own, attack: Attack<Own>): Promise<Outcome> {
  const { service, pings, isEmbedded } = target;
  const { residentMiB: startedMiB, filesMiB } = service.started;
  await attack.prepare?.(target);
  const violations: string[] = [];
  const slownessOfMachine = watchMachine();
  const startedAt = performance.now();
  await using others = await startPings(service.url, pings);
  await service.longestStall();
  const failures: string[] = [];
  try {
    await withLowPriority(() => attack.run(target));
  } catch (error) {
    failures.push(`the attack failed: ${(error as Error).message.trim()}`);
  }
  const pinged = await others.stop();
  const tookMs = performance.now() - startedAt;
  const heldMs = await service.longestStall();
  const atEnd = service.memory();
  // LMDB maps its file into memory. The system takes these pages back when it needs them, as those of its page cache.
  const peakMiB = atEnd.peakMiB - Math.max(0, atEnd.filesMiB - filesMiB);
  const slower = slownessOfMachine();
  const memoryMax = isEmbedded ? startedMiB + embeddedGrowthMaxMiB : memoryMaxMiB;
  if (service.hasExited()) violations.push("the process has ended");
  if (heldMs > stallMaxMs * slower) violations.push(`the event loop was held for ${ms(heldMs)}`);
  if (pinged.longestMs > (isEmbedded ? embeddedPingMaxMs : pingMaxMs) * slower)
    violations.push(`another caller waited ${ms(pinged.longestMs)}: ${pinged.longest}`);
  if (pinged.count === 0) violations.push("no ping was sent");
  if (peakMiB > memoryMax) violations.push(`${MiB(peakMiB)} of memory; the limit is ${MiB(memoryMax)}`);
  failures.push(...pinged.failures);
  // The timeouts of the service are fixed. On a machine that is this slow they say nothing about it.
  const excused = failures.filter((failure) => slower > slowerMax && failure.includes("in time"));
  violations.push(...[...new Set(failures)].filter((failure) => !excused.includes(failure)).slice(0, 3));
  return {
    figures: `${(tookMs / 1000).toFixed(1)} s (the machine is ${slower.toFixed(1)} times slower), stall ${ms(heldMs)}, ping ${ms(pinged.longestMs)}, memory ${MiB(startedMiB)} to ${MiB(peakMiB)}${excused.length > 0 ? `; CUT SHORT: ${excused[0]}` : ""}`,
    violations,
  };
}

const ms = (value: number) => `${Math.round(value)} ms`;
const MiB = (value: number) => `${Math.round(value)} MiB`;

/** The attack must not take the processor from the service and the pings, which would look like a stall. */
async function withLowPriority(work: () => Promise<void>): Promise<void> {
  // Only root can return to the priority of before.
  if (process.getuid?.() !== 0) return work();
  const before = getPriority();
  setPriority(10);
  try {
    await work();
  } finally {
    setPriority(before);
  }
}
