import type { operations } from "../../../generated/ledger.ts";
import type { LimitedSql, Sql } from "../../database/database.ts";
import type { Handlers, Request, Response } from "../../http/handlers.ts";
import { changedMax, knownLedger, TooManyChanged } from "../past/known.ts";
import { arrivedEvents, notingArrived } from "../tables/known/arrived.ts";
import type { Cursors } from "./cursor.ts";
import { wrong } from "./failures.ts";
import type { Reader } from "./lanes.ts";
import {
  awaitLeast,
  firstPosition,
  knownAt,
  type NamedKnown,
  openKnown,
  writePosition,
} from "./positions.ts";

/** Where a request reads: the present, or what the ledger knew at a position. */
export interface Reading {
  /** True if the request names a position. */
  isPast: boolean;
  /** Statements of the request, with the transactions that are wanted; see `knownLedger`. */
  at(sql: LimitedSql, wanted?: Parameters<typeof knownLedger>[1]): Sql;
  /** Statements for the rest of a file, at the position of the first ones. */
  rest(...parameters: Parameters<Reading["at"]>): Promise<Sql>;
  /** The rest of a file is read as it is then, so the response has no position, unless the request names one. */
  leaveOpen(): void;
  /** The position of the first statement, or the present one if there is none yet; undefined if it has no name. */
  position(): Promise<string | undefined>;
}

interface PositionQuery {
  known_at?: string | undefined;
  at_least?: string | undefined;
  time_zone?: string | undefined;
}

type Reads<Id extends keyof operations> = (
  request: Request<operations[Id]>,
  reading: Reading,
) => Promise<Response<operations[Id]>>;

type AllReads<Ids extends keyof operations> = { [Id in Ids]: Reads<Id> };

/**
 * Handlers that can read as of a position. Each gets the `Reading` of the request, and its response the header
 * `Ledger-Position`. If the statements of a response have several positions, it is read once more, at the first of them.
 */
export const withReadings = <Ids extends keyof operations>(
  reader: Reader,
  cursors: Cursors,
  handlers: AllReads<Ids>,
) => wrapEach(reader, cursors, handlers, readAt);

/** As `withReadings`, for handlers that read the present only: the response includes everything up to its `Ledger-Position`. */
export const withPositions = <Ids extends keyof operations>(
  reader: Reader,
  cursors: Cursors,
  handlers: AllReads<Ids>,
) => wrapEach(reader, cursors, handlers, readNow);

interface AnyRequest {
  query: PositionQuery;
}
type AnyResponse = { status: unknown; headers?: object };
type AnyReads = (request: AnyRequest, reading: Reading) => Promise<AnyResponse>;
type Read = (reader: Reader, cursors: Cursors, request: AnyRequest, handle: AnyReads) => Promise<AnyResponse>;

function wrapEach<Ids extends keyof operations>(
  reader: Reader,
  cursors: Cursors,
  handlers: AllReads<Ids>,
  read: Read,
) {
  const respond = async (request: AnyRequest, handle: AnyReads) => {
    const failed = await awaitLeast(reader, cursors, request.query.at_least);
    if (failed) return failed;
    try {
      return await read(reader, cursors, request, handle);
    } catch (error) {
      if (!(error instanceof TooManyChanged)) throw error;
      return tooManyChanged;
    }
  };
  const wrapped = Object.entries(handlers).map(([id, handle]) => [
    id,
    (request: AnyRequest) => respond(request, handle as AnyReads),
  ]);
  return Object.fromEntries(wrapped) as unknown as Pick<Handlers<operations>, Ids>;
}

const readNow: Read = async (reader, cursors, request, handle) => {
  const reading = openReading(reader, cursors);
  return withPosition(await handle(request, reading), reading);
};

const readAt: Read = async (reader, cursors, request, handle) => {
  const { known_at: text, time_zone: timeZone } = request.query;
  const known =
    text === undefined ? undefined : await knownAt(reader, cursors, { name: "known_at", text, timeZone });
  if (known && "status" in known) return known;
  const reading = openReading(reader, cursors, known);
  const response = await handle(request, reading);
  if (known || reading.arrived.size < 2) return withPosition(response, reading);
  const position = firstPosition(reading.arrived);
  if (!position) return response;
  const again = openReading(reader, cursors, await openKnown(reader, cursors, position));
  return withPosition(await handle(request, again), again);
};

const tooManyChanged = wrong(
  "known_at",
  { maximum: changedMax },
  `more than ${changedMax.toLocaleString("en")} transactions of this request have changed since its position; a shorter time ` +
    "between from_date and to_date, or fewer accounts, may succeed",
);

async function withPosition(response: AnyResponse, reading: Reading): Promise<AnyResponse> {
  const position = response.status === 200 ? await reading.position() : undefined;
  return position === undefined
    ? response
    : { ...response, headers: { ...response.headers, "Ledger-Position": position } };
}

/** `arrived` has the events that had arrived for each statement. */
type OpenReading = Reading & { arrived: Set<string> };

function openReading(reader: Reader, cursors: Cursors, known?: NamedKnown): OpenReading {
  const arrived = new Set<string>();
  let name = known?.name;
  let isOpen = false;
  return {
    isPast: known !== undefined,
    arrived,
    at: (sql, wanted) =>
      known ? knownLedger({ ...known, sql }, wanted) : notingArrived(sql, arrived, reader.lastArrival),
    async rest(sql, wanted) {
      const position = firstPosition(arrived);
      const then = known ?? (position && !isOpen && (await openKnown(reader, cursors, position)));
      return then ? knownLedger({ ...then, sql }, wanted) : sql;
    },
    leaveOpen() {
      isOpen = true;
    },
    async position() {
      if (name !== undefined || isOpen) return name;
      if (arrived.size === 0) arrived.add(await arrivedEvents(reader.sql));
      const position = firstPosition(arrived);
      // Each name is another one, so it is made once.
      if (position) name = writePosition(cursors, position);
      return name;
    },
  };
}
