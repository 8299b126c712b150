import { readdirSync, readFileSync } from "node:fs";
import { availableParallelism } from "node:os";

/** The times of the system are in units of 10 ms. */
const tickMs = 10;

const textOf = (file: string) => {
  try {
    return readFileSync(file, "utf8");
  } catch {
    // The process has ended, or the system has no such file.
    return "";
  }
};

/**
 * The time in milliseconds for which each processor of this virtual machine has waited for its host, which runs other
 * machines, too; empty where the system does not count it.
 */
export const stolenMs = (): number[] =>
  (textOf("/proc/stat").match(/^cpu\d.*$/gm) ?? []).map((line) => Number(line.split(/\s+/)[8]) * tickMs);

/** The time in milliseconds that one thread can have lost between two readings: that of the processor that lost most. */
export const stolenBetween = (before: number[], after: number[]): number =>
  Math.max(0, ...after.map((value, index) => value - (before[index] ?? value)));

/** The time in milliseconds for which a thread of this process has waited for a processor; 0 where it is not counted. */
export const waitedMs = (thread: string | number): number =>
  Number(textOf(`/proc/self/task/${thread}/schedstat`).split(" ")[1] ?? 0) / 1e6;

/** The time in milliseconds for which the processors have worked for other programs than this process and its children. */
function foreignMs(): number {
  const [, user = 0, nice = 0, system = 0, , , interrupts = 0, soft = 0] =
    /^cpu .*$/m.exec(textOf("/proc/stat"))?.[0].split(/\s+/).map(Number) ?? [];
  const processes = new Map(
    readdirSync("/proc")
      .filter((name) => /^\d+$/.test(name))
      .map((pid) => {
        // The name of the program, in brackets, can have blanks.
        const [, parent, ...fields] =
          textOf(`/proc/${pid}/stat`).split(") ").at(-1)?.split(" ").map(Number) ?? [];
        const ofProcessAndEndedChildren = fields.slice(9, 13).reduce((sum, ticks) => sum + ticks, 0);
        return [Number(pid), { parent, ticks: ofProcessAndEndedChildren }] as const;
      }),
  );
  const isOwn = (pid: number | undefined): boolean =>
    pid === process.pid || (pid !== undefined && isOwn(processes.get(pid)?.parent));
  const own = [...processes].reduce((sum, [pid, { ticks }]) => sum + (isOwn(pid) ? ticks : 0), 0);
  return (user + nice + system + interrupts + soft - own) * tickMs;
}

/** The median of `parseAndWrite` in milliseconds on the machine for which the bounds are defined, if it is idle. */
const referenceMs = 7;

/** How many times as long as on the reference machine a fixed piece of work takes now; takes about 0.2 seconds. */
function slowness(): number {
  const event = { timestamp: "2024-03-05T09:14:22.018Z", event_details: { tags: ["a", "b", "c"] } };
  const text = JSON.stringify(
    Array.from({ length: 8000 }, (_, index) => ({ id: `payment-${index}`, amount: index, ...event })),
  );
  const parseAndWrite = () => {
    const startedAt = performance.now();
    JSON.stringify(JSON.parse(text));
    return performance.now() - startedAt;
  };
  const times = Array.from({ length: 21 }, parseAndWrite).toSorted((one, other) => one - other);
  return (times[10] as number) / referenceMs;
}

/**
 * Watches what the machine can do from now on. The function returns how many times slower than the reference it was, at
 * least 1. It measures a fixed piece of work now and then. Other programs can begin in between, so it also counts what
 * they had of the processors: each processor that works for others slows a thread as much as another thread does.
 */
export function watchMachine(): () => number {
  const slownessBefore = slowness();
  const [startedAt, foreignBefore] = [performance.now(), foreignMs()];
  return () => {
    const foreign = (foreignMs() - foreignBefore) / (performance.now() - startedAt);
    const slownessAfter = slowness();
    const busy = 1 + Math.min(Math.max(0, foreign), availableParallelism());
    return Math.max(1, slownessBefore, slownessAfter, busy);
  };
}
