import { readFileSync } from "node:fs";

/**
 * The time in milliseconds for which each processor of this virtual machine has waited for its host, which runs other
 * machines, too; empty where the system does not count it. The unit of the system is usually 10 ms.
 */
export function stolenMs(): number[] {
  try {
    const lines = readFileSync("/proc/stat", "utf8").match(/^cpu\d.*$/gm) ?? [];
    return lines.map((line) => Number(line.split(/\s+/)[8]) * 10);
  } catch {
    return [];
  }
}

/** The time in milliseconds that one thread can have lost between two readings: that of the processor that lost most. */
export const stolenBetween = (before: number[], after: number[]): number =>
  Math.max(0, ...after.map((value, index) => value - (before[index] ?? value)));

/** The median of `parseAndWrite` in milliseconds on the machine for which the bounds are defined, if it is idle. */
const referenceMs = 7;

/**
 * How many times slower than the reference this machine is now, at least 1; takes about 0.5 seconds. Other machines on
 * the same host slow a processor down even if they take no time from it.
 */
export function slowness(): number {
  const event = { timestamp: "2024-03-05T09:14:22.018Z", event_details: { tags: ["a", "b", "c"] } };
  const text = JSON.stringify(
    Array.from({ length: 8000 }, (_, index) => ({ id: `payment-${index}`, amount: index, ...event })),
  );
  const parseAndWrite = () => {
    const startedAt = performance.now();
    JSON.stringify(JSON.parse(text));
    return performance.now() - startedAt;
  };
  const times = Array.from({ length: 61 }, parseAndWrite).toSorted((one, other) => one - other);
  return Math.max(1, (times[30] as number) / referenceMs);
}
