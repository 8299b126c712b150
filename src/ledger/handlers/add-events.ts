import type { operations } from "../../../generated/ledger.ts";
import type { Sql } from "../../database/database.ts";
import type { Handler, Response, WithTextBody } from "../../http/handlers.ts";
import { HttpError, unavailable } from "../../http/http-error.ts";
import { elementsOf } from "../../values/json.ts";
import { openLane } from "../../waiting/lane.ts";
import type { Owner } from "../../waiting/owner.ts";
import { mapInTurns } from "../../waiting/turns.ts";
import { withTimeout } from "../../waiting/with-timeout.ts";
import { permanentReason, rebuildsInPieces } from "../intake/ingest.ts";
import type { Intake } from "../intake/intake.ts";
import { type Message, readMessage } from "../intake/message.ts";
import type { Reader } from "../requests/lanes.ts";
import { problem } from "../requests/problem.ts";
import { eventIdsOf } from "../tables/event.ts";

export type AddEvents = WithTextBody<operations["addEvents"]>;

/** Maximum number of events in a request. */
const eventsMax = 100;
/** Maximum number of invalid events that an error names. */
const namedMax = 20;

/** Maximum number of requests that wait, of all callers together. Each holds up to 1 MiB. */
const waitingMax = 20;

/** The reader must read what the intake has committed. As many requests store events as it reads at the same time. */
export function addEventsHandler(intake: Intake, { sql, connections, limitMs }: Reader): Handler<AddEvents> {
  const lane = openLane({
    runningMax: connections,
    waitingMax,
    limitMs,
    timeout: unavailable("other requests with events took too long; try again later"),
    busy: unavailable("too many requests with events are in flight; try again later"),
  });
  const timeout = new HttpError(504, [
    `the events were not stored within ${limitMs} ms; they may be later; send them again to learn whether they are`,
  ]);

  /**
   * Resolves with the resources to rebuild after the response, too, those of each transaction. They can take long, so others
   * have turns in between.
   */
  async function add(body: string): Promise<{ response: Response<AddEvents>; rebuilds?: string[][] }> {
    const elements = elementsOf(body, eventsMax);
    if (elements && elements.length > eventsMax)
      return { response: problem(400, [`the body has more than ${eventsMax} events`]) };
    const messages = await mapInTurns(elements ?? [body], readMessage);
    const errors = errorsOf(messages, elements !== undefined);
    if (errors.length > 0) return { response: problem(400, errors) };
    const response = await store(intake, sql, messages);
    const rebuilds = messages.flatMap((message) => (message.kind === "rebuild" ? message.externalId : []));
    return { response, rebuilds: await rebuildsInPieces(sql, rebuilds) };
  }

  async function addAndRebuild(body: string, owner: Owner): Promise<Response<AddEvents>> {
    try {
      const { response, rebuilds = [] } = await lane.run(owner, () => add(body));
      for (const ids of rebuilds) await lane.run(owner, () => rebuild(intake, ids));
      return response;
    } catch (error) {
      const reason = permanentReason(error);
      if (reason === undefined) throw error;
      return problem(400, [reason]);
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

/** The errors of invalid messages. Those of a list are numbered from 1. */
function errorsOf(messages: Message[], isList: boolean): string[] {
  const errors = messages.flatMap((message, index) =>
    message.kind === "invalid" ? `${isList ? `event ${index + 1}: ` : ""}${message.reason}` : [],
  );
  const others = errors.length - namedMax;
  return others > 0 ? [...errors.slice(0, namedMax), `${others} other events are invalid`] : errors;
}

async function store(intake: Intake, sql: Sql, messages: Message[]) {
  const events = messages.flatMap((message) => (message.kind === "event" ? message.event : []));
  const { stored } = await intake.store(
    { events, rebuilds: [], deadLetters: [] },
    events.map(() => ({})),
  );
  const newIds = new Set(stored.map(({ id }) => id));
  const ids = (await eventIdsOf(sql, events)).values();
  const added = messages.map((message) => {
    if (message.kind !== "event") return { event_id: null, is_new: false };
    const event_id = ids.next().value as bigint;
    // An event that is twice in the request is new once.
    return { event_id, is_new: newIds.delete(event_id) };
  });
  return { status: 202 as const, body: { events: added } };
}
