import type { operations } from "../../../generated/ledger.ts";
import { faultsMax, moveOperation } from "../../contract/faults.ts";
import type { Sql } from "../../database/database.ts";
import { bodyFault, type ErrorDetail, failure, type RequestFault } from "../../http/failure.ts";
import type { Handler, Response, WithTextBody } from "../../http/handlers.ts";
import { HttpError, overloaded, unavailable } from "../../http/http-error.ts";
import { elementsOf } from "../../values/json.ts";
import { openLane } from "../../waiting/lane.ts";
import type { Owner } from "../../waiting/owner.ts";
import { mapInTurns } from "../../waiting/turns.ts";
import { withTimeout } from "../../waiting/with-timeout.ts";
import { permanentReason, rebuildsInPieces } from "../intake/ingest.ts";
import type { Intake } from "../intake/intake.ts";
import type { InvalidMessage, Message } from "../intake/message.ts";
import type { Cursors } from "../requests/cursor.ts";
import type { Reader } from "../requests/lanes.ts";
import { positionHeader } from "../requests/positions.ts";
import { eventIdsOf } from "../tables/event.ts";
import { notingArrived } from "../tables/known/arrived.ts";

export type AddEvents = WithTextBody<operations["addEvents"]>;

/** Maximum number of events in a request. */
const eventsMax = 100;

/** Maximum number of requests that wait, of all callers together. Each holds up to 1 MiB. */
const waitingMax = 20;

/** The reader must read what the intake has committed. As many requests store events as it reads at the same time. */
export function addEventsHandler(
  intake: Intake,
  { sql, connections, limitMs }: Reader,
  cursors: Cursors,
): Handler<AddEvents> {
  const lane = openLane({
    runningMax: connections,
    waitingMax,
    limitMs,
    timeout: unavailable("other requests with events took too long; try again later"),
    busy: overloaded("too many requests with events are in flight; try again later"),
  });
  const timeout = new HttpError(504, [
    `the events were not stored within ${limitMs} ms; they may be later; send them again to learn whether they are`,
  ]);

  /**
   * Resolves with the resources to rebuild after the response, too, those of each transaction. They can take long, so others
   * have turns in between.
   */
  async function add(
    body: string,
    accepted_at: string,
  ): Promise<{ response: Response<AddEvents>; rebuilds?: string[][] }> {
    const elements = elementsOf(body, eventsMax);
    if (elements && elements.length > eventsMax) return { response: failure(400, tooManyEvents) };
    const messages = await mapInTurns(elements ?? [body], intake.read);
    const errors = faultsIn(messages, elements !== undefined);
    if (errors.length > 0) return { response: failure(400, ...errors) };
    const response = await store(intake, sql, cursors, messages, accepted_at);
    const rebuilds = messages.flatMap((message) => (message.kind === "rebuild" ? message.externalId : []));
    return { response, rebuilds: await rebuildsInPieces(sql, rebuilds) };
  }

  async function addAndRebuild(body: string, owner: Owner): Promise<Response<AddEvents>> {
    const acceptedAt = new Date().toISOString();
    try {
      const { response, rebuilds = [] } = await lane.run(owner, () => add(body, acceptedAt));
      for (const ids of rebuilds) await lane.run(owner, () => rebuild(intake, ids));
      return response;
    } catch (error) {
      const reason = permanentReason(error);
      if (reason === undefined) throw error;
      return failure(400, reason);
    }
  }

  // A request that takes too long keeps its place until its transaction ends.
  return ({ body, owner }) => withTimeout(addAndRebuild(body, owner), limitMs, timeout);
}

const rebuild = (intake: Intake, rebuilds: string[]) =>
  intake.store(
    { events: [], rebuilds, deadLetters: [] },
    rebuilds.map(() => ({})),
  );

const tooManyEvents = bodyFault({ maxItems: eventsMax }, `the body has more than ${eventsMax} events`);

/** The first faults of invalid messages. The events of a list are numbered from 1. */
function faultsIn(messages: Message[], isList: boolean): ErrorDetail[] {
  const all = messages.flatMap((message, index) => {
    if (message.kind !== "invalid") return [];
    const [place, name] = isList ? [`/${index}`, `event ${index + 1}: `] : ["", ""];
    return faultsOf(message, place, name).map((fault) => ({ index, fault }));
  });
  const eventsIn = (faults: typeof all) => new Set(faults.map(({ index }) => index)).size;
  const named = all.slice(0, faultsMax);
  const others = eventsIn(all) - eventsIn(named);
  return [...named.map(({ fault }) => fault), ...(others > 0 ? [`${others} other events are invalid`] : [])];
}

/** The faults of a message as those of the body that contains the message. */
function faultsOf(
  { faults, reason, place: own }: InvalidMessage,
  place: string,
  name: string,
): RequestFault[] {
  if (faults.length === 0)
    return [{ pointer: place, rule: { contentSchema: "EventMessage" }, detail: name + reason }];
  return faults.map(({ pointer, rule, detail, remedy }) => ({
    // A patch cannot change a part of a text.
    pointer: own === undefined ? place : place + own + pointer,
    rule,
    detail: name + detail,
    ...(own !== undefined &&
      remedy && { remedy: remedy.map((operation) => moveOperation(operation, place + own)) }),
  }));
}

async function store(intake: Intake, sql: Sql, cursors: Cursors, messages: Message[], accepted_at: string) {
  const events = messages.flatMap((message) =>
    message.kind === "event" ? { ...message.event, accepted_at } : [],
  );
  const { stored } = await intake.store(
    { events, rebuilds: [], deadLetters: [] },
    events.map(() => ({})),
  );
  const newIds = new Set(stored.map(({ id }) => id));
  const arrived = new Set<string>();
  const ids = (await eventIdsOf(notingArrived(sql, arrived), events)).values();
  const added = messages.map((message) => {
    if (message.kind !== "event") return { event_id: null, is_new: false };
    const event_id = ids.next().value as bigint;
    // An event that is twice in the request is new once.
    return { event_id, is_new: newIds.delete(event_id) };
  });
  return { status: 202 as const, headers: positionHeader(cursors, arrived), body: { events: added } };
}
