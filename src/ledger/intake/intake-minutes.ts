import type { Database } from "../../database/database.ts";
import type { Logger } from "../../process/log.ts";
import { watchOutage } from "../../process/outage.ts";
import { repeat } from "../../waiting/repeat.ts";
import { withTimeout } from "../../waiting/with-timeout.ts";
import { addToFreshnessMinutes } from "../tables/freshness-minute.ts";
import {
  addToIntakeMinutes,
  type IntakeMinute,
  type IntakeMinuteRow,
  noMessages,
  type Outcome,
} from "../tables/intake-minute.ts";
import type { Freshness } from "./freshness.ts";

const minuteMs = 60_000;
/** More are not kept while the database is away: those of an hour are shown. */
const minutesMax = 60;
/** A longer time is that of a wrong clock. Sums of it would exceed 64 bits. */
const lagMaxMs = 366 * 24 * 60 * minuteMs;

const saveDelayMs = 5000;
/** How long a stop waits until the last numbers are saved. */
const lastSaveMaxMs = 2000;

/** What became of the messages of this process in each minute, until it is saved. */
export function openIntakeMinutes() {
  /** By the start of the minute, in milliseconds since 1970. */
  let minutes = new Map<number, IntakeMinute>();

  function minuteAt(start: number): IntakeMinute {
    const known = minutes.get(start);
    if (known) return known;
    const made = { ...noMessages };
    minutes.set(start, made);
    const starts = [...minutes.keys()].sort((one, other) => one - other);
    for (const oldest of starts.slice(0, -minutesMax)) minutes.delete(oldest);
    return made;
  }

  return {
    /** Adds numbers of messages to the present minute, with the time since the sending of each, if it is known. */
    add(counts: Partial<Record<Outcome, number>>, lagsMs: number[] = []): void {
      const minute = minuteAt(Math.floor(Date.now() / minuteMs) * minuteMs);
      for (const [outcome, count] of Object.entries(counts)) minute[outcome as Outcome] += count;
      for (const given of lagsMs) {
        const lagMs = Math.min(Math.round(given), lagMaxMs);
        minute.lag_messages += 1;
        minute.lag_ms_sum += lagMs;
        minute.lag_ms_max = Math.max(minute.lag_ms_max, lagMs);
      }
    },
    /** Returns the rows since the last call. The caller saves them or puts them back. */
    take(): IntakeMinuteRow[] {
      const taken = minutes;
      minutes = new Map();
      return [...taken].map(([start, numbers]) => ({ minute: new Date(start).toISOString(), ...numbers }));
    },
    putBack(rows: IntakeMinuteRow[]): void {
      for (const { minute: start, lag_ms_max, ...sums } of rows) {
        const minute = minuteAt(Date.parse(start));
        for (const [name, sum] of Object.entries(sums)) minute[name as keyof IntakeMinute] += sum;
        minute.lag_ms_max = Math.max(minute.lag_ms_max, lag_ms_max);
      }
    },
  };
}

export type IntakeMinutes = ReturnType<typeof openIntakeMinutes>;

/**
 * Saves the numbers of this process every 5 seconds until it is disposed, and then once more, for which a stop waits up to 2
 * seconds. Numbers that could not be saved are saved later. If a connection breaks after the commit, they count twice.
 */
export function startSavingIntakeMinutes(
  database: Database,
  { minutes, freshness }: { minutes: IntakeMinutes; freshness?: Freshness },
  log: Logger,
  delayMs = saveDelayMs,
): AsyncDisposable {
  const outage = watchOutage(log);

  async function save(): Promise<void> {
    const rows = minutes.take();
    const times = freshness?.take() ?? [];
    if (rows.length + times.length === 0) return;
    try {
      if (times.length > 0) await addToFreshnessMinutes(database, times);
      times.length = 0;
      if (rows.length > 0) await addToIntakeMinutes(database, rows);
      outage.succeeded();
    } catch (err) {
      minutes.putBack(rows);
      freshness?.putBack(times);
      outage.failed("numbers of messages could not be saved; GET /v1/intake lacks them", { err });
    }
  }

  const saving = repeat(async () => {
    await save();
    return delayMs;
  });
  const end = async () => {
    await saving[Symbol.asyncDispose]();
    await save();
  };
  return {
    async [Symbol.asyncDispose]() {
      const timeout = new Error(`not saved within ${lastSaveMaxMs} ms`);
      await withTimeout(end(), lastSaveMaxMs, timeout).catch((err) =>
        outage.failed("the last numbers of messages were not saved", { err }),
      );
    },
  };
}
