import { setTimeout as sleep } from "node:timers/promises";
import type { Sql } from "../../database/database.ts";
import { type Failure, failure, parameterFault } from "../../http/failure.ts";
import { unavailable } from "../../http/http-error.ts";
import { namesOfTimeZone } from "../../values/time-zone.ts";
import type { Known } from "../past/known.ts";
import { feedStart } from "../tables/feed/feed.ts";
import { arrivedEvents, positionOfArrived } from "../tables/known/arrived.ts";
import {
  endOfDay,
  type KnownPosition,
  type KnownState,
  positionAfter,
  positionOf,
  stateAt,
} from "../tables/known/position.ts";
import { knownTimeZone } from "../tables/summary/summary.ts";
import type { Cursors } from "./cursor.ts";
import { timeZoneUnknown, wrong } from "./failures.ts";
import type { Reader } from "./lanes.ts";

/** How long a replica that is behind is awaited, and the first delay until it is read again, in milliseconds. */
const behindMaxMs = 2000;
const behindFirstMs = 5;

/** What the ledger knew at a position, and the text that names it. */
export type NamedKnown = Omit<Known, "sql"> & { name: string };

/** The position of the first of these statements, by what had arrived for each; undefined if it has no name. */
export const firstPosition = ([first = ""]: ReadonlySet<string>): KnownPosition | undefined =>
  positionOfArrived(first);

/** The header for the position of the first of these statements, if it has a name. */
export function positionHeader(
  cursors: Cursors,
  arrived: ReadonlySet<string>,
): { "Ledger-Position"?: string } {
  const position = firstPosition(arrived);
  return position ? { "Ledger-Position": writePosition(cursors, position) } : {};
}

/** The position of a text: of a response, or directly after an event. */
function readPosition(cursors: Cursors, text: string): KnownPosition | undefined {
  const position = cursors.position.read(text);
  if (position) {
    const { before, behind, event_id } = position;
    return {
      ...positionOf(before, behind),
      ...(event_id !== null && { upTo: { event_id } }),
    };
  }
  const event = cursors.feed.read(text);
  // No event is before the start of the feed.
  if (event?.event_id === feedStart.event_id) return { before: 0n, also: [] };
  return event ? positionAfter(event) : undefined;
}

export const writePosition = (cursors: Cursors, { before, also, upTo }: KnownPosition): string =>
  cursors.position.write({
    before,
    behind: also.map((one) => one - before).join(),
    event_id: upTo?.event_id ?? null,
  });

const unknownPosition = (parameter: string): Failure<410> => ({
  ...failure(
    410,
    parameterFault(
      parameter,
      { from: "Ledger-Position" },
      `the ledger has no such position; ${parameter} must be ${parameter === "at_least" ? "" : "a day, or "}the position or cursor of a response of this ledger`,
    ),
  ),
  problem: "position-unknown",
});

/** Waits for the position in `at_least`. Resolves with the failure of the request, if it fails. */
export async function awaitLeast({ sql }: Reader, cursors: Cursors, text: string | undefined) {
  if (text === undefined) return undefined;
  const position = readPosition(cursors, text);
  const state = position && (await stateWhen(sql, position, ({ is_included }) => is_included));
  return !state || state.is_unknown ? unknownPosition("at_least") : undefined;
}

/** The state at a position, as soon as it meets a condition. Throws a 503 if that takes too long. */
async function stateWhen(sql: Sql, position: KnownPosition, isReady: (state: KnownState) => boolean) {
  const startedAt = performance.now();
  for (let delayMs = behindFirstMs; ; delayMs *= 2) {
    const state = await stateAt(sql, position);
    if (state.is_unknown || isReady(state)) return state;
    const leftMs = startedAt + behindMaxMs - performance.now();
    if (leftMs <= 0) throw unavailable("the database is behind the position of the request; try again later");
    await sleep(Math.min(delayMs, leftMs));
  }
}

export async function openKnown(
  { sql, limitMs }: Reader,
  cursors: Cursors,
  position: KnownPosition,
  name = writePosition(cursors, position),
): Promise<NamedKnown> {
  const state = await stateWhen(sql, position, ({ is_included, is_complete }) => is_included && is_complete);
  return { position: state.is_within ? position : wholeOf(position), state, limitMs, name };
}

/** The position after the last event of an SQL transaction is that after the SQL transaction. */
const wholeOf = ({ before, also, upTo }: KnownPosition): KnownPosition =>
  upTo ? { before: before + 1n, also } : { before, also };

/** A parameter that names a position: its name and its value, and the time zone of its days. */
interface PositionParameter {
  name: "known_at" | "since" | "until";
  text: string;
  timeZone?: string | undefined;
}

/** What the ledger knew at the position of a parameter, or the failure of the request. */
export async function knownAt(reader: Reader, cursors: Cursors, parameter: PositionParameter) {
  const { name, text } = parameter;
  const isDay = text.length === 10;
  const position = isDay ? await positionOfDay(reader.sql, parameter) : readPosition(cursors, text);
  if (!position) return unknownPosition(name);
  if ("status" in position) return position;
  const known = await openKnown(reader, cursors, position, isDay ? undefined : text);
  const { first, first_instant, is_unknown } = known.state;
  if (is_unknown) return unknownPosition(name);
  if (known.position.before >= first) return known;
  const minimum = writePosition(cursors, { before: first, also: [] });
  return wrong(
    name,
    { minimum },
    `${name} must not be before ${minimum}, the position of ${first_instant}, which is the first`,
  );
}

/** What the ledger knew at its first position. */
export async function knownFirst(reader: Reader, cursors: Cursors) {
  const { first } = await stateAt(reader.sql, { before: 0n, also: [] });
  return openKnown(reader, cursors, { before: first, also: [] });
}

/** What the ledger knows now; up to the end of the feed if the present position has no name. */
export async function knownNow(reader: Reader, cursors: Cursors) {
  const named = positionOfArrived(await arrivedEvents(reader.sql));
  const { feed_end } = await stateAt(reader.sql, { before: 0n, also: [] });
  return openKnown(reader, cursors, named ?? { before: feed_end, also: [] });
}

async function positionOfDay(
  sql: Sql,
  { name, text: day, timeZone: given = "UTC" }: PositionParameter,
): Promise<KnownPosition | Failure<400>> {
  const timeZone = await knownTimeZone(sql, namesOfTimeZone(given));
  if (timeZone === undefined) return timeZoneUnknown;
  // The database has no year 0.
  const isDay = day > "0001" && !Number.isNaN(Date.parse(day)) && new Date(day).toISOString().startsWith(day);
  if (!isDay) return wrong(name, { format: "date" }, `${name} must be a day that exists; ${day} does not`);
  const end = await endOfDay(sql, day, timeZone);
  const first = end.first_instant.slice(0, 10);
  if (!end.is_quarter)
    return wrong(
      name,
      { format: "date" },
      `${name} must be a position, since days in ${timeZone} do not begin with a quarter of an hour`,
    );
  if (end.is_future)
    return wrong(
      name,
      { maximum: "yesterday" },
      `${name} must be a day that is over; ${day} is not in ${timeZone}`,
    );
  if (end.is_before_first)
    return wrong(name, { minimum: first }, `${name} must not be before ${first}, which is the first day`);
  if (end.sql_transaction === null)
    throw unavailable("the end of this day is not recorded yet; try again later");
  return { before: end.sql_transaction, also: [] };
}
