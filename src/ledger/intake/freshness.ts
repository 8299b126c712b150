import { Histogram, type Registry } from "prom-client";
import type { FreshnessMinuteRow } from "../tables/freshness-minute.ts";

const minuteMs = 60_000;
/** More are not kept while the database is away. */
const minutesMax = 3;
/** A longer time is that of a wrong clock. */
const visibleMaxMs = 366 * 24 * 60 * minuteMs;

/** The times, in milliseconds since 1970, of those of these instants (UTC) that are known. */
export const knownTimes = (instants: (string | null | undefined)[]): number[] =>
  instants.flatMap((instant) => (instant ? Date.parse(instant) : []));

/**
 * When a message was accepted: when it was sent, if the queue has that, but not later than it was received. RabbitMQ has whole
 * seconds, of which the end counts.
 */
export function acceptedAt(sentAt: number | undefined, receivedAt: number): string {
  const sent = sentAt ?? receivedAt;
  return instantOf(Math.min(sent % 1000 === 0 ? sent + 999 : sent, receivedAt));
}

let latest = { ms: 0, instant: "" };

/** The instant (UTC) of a time in milliseconds since 1970. Many messages in a row have the same time. */
function instantOf(ms: number): string {
  if (ms !== latest.ms) latest = { ms, instant: new Date(ms).toISOString() };
  return latest.instant;
}

/** Rounds up to whole milliseconds, and to two digits, so that a minute has few different times. */
export function roundUp(ms: number): number {
  const whole = Math.ceil(Math.min(Math.max(ms, 0), visibleMaxMs));
  if (whole < 100) return whole;
  const unit = 10 ** (Math.ceil(Math.log10(whole + 1)) - 2);
  return Math.ceil(whole / unit) * unit;
}

/** How long the events took that this process has seen arrive: since its start as a metric, and by minute until it is saved. */
export function openFreshness(registry: Registry) {
  const seconds = new Histogram({
    registers: [registry],
    name: "ledger_visible_seconds",
    help: "Time from the acceptance of an event until lookup, report, feed or a target has it.",
    labelNames: ["destination"],
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 60, 300, 3600],
  });
  /** Numbers of events by minute, destination and time. */
  let minutes = new Map<string, FreshnessMinuteRow>();

  function add(row: FreshnessMinuteRow): void {
    const key = `${row.minute} ${row.visible_ms} ${row.destination}`;
    const known = minutes.get(key);
    if (known) known.events += row.events;
    else minutes.set(key, row);
  }
  return {
    /** Events that were accepted at these times, in milliseconds since 1970, have arrived just now. */
    arrived(destinations: string[], acceptedMs: number[]): void {
      const now = Date.now();
      const minute = new Date(Math.floor(now / minuteMs) * minuteMs).toISOString();
      const numbers = new Map<number, number>();
      for (const accepted of acceptedMs) numbers.set(accepted, (numbers.get(accepted) ?? 0) + 1);
      for (const destination of destinations) {
        const histogram = seconds.labels({ destination });
        for (const [accepted, events] of numbers) {
          const visible_ms = roundUp(now - accepted);
          for (let count = 0; count < events; count += 1) histogram.observe(visible_ms / 1000);
          add({ minute, destination, visible_ms, events });
        }
      }
    },
    /** Returns the rows since the last call. The caller saves them or puts them back. */
    take(): FreshnessMinuteRow[] {
      const rows = [...minutes.values()];
      minutes = new Map();
      return rows;
    },
    putBack(rows: FreshnessMinuteRow[]): void {
      const kept = Date.now() - minutesMax * minuteMs;
      for (const row of rows) if (Date.parse(row.minute) >= kept) add(row);
    },
  };
}
export type Freshness = ReturnType<typeof openFreshness>;
