import type { defaults } from "../../generated/features.defaults.ts";
import type { components, operations } from "../../generated/features.ts";
import type { openCalls } from "./calls.ts";
import { openEventParser } from "./event-stream.ts";
import type { CallOptions } from "./options.ts";

export type ChangeRecord = components["schemas"]["ChangeRecord"];

/** The calls of the feature storage. */
export type FeatureCalls = ReturnType<typeof openCalls<operations, typeof defaults>>;

/** The calls of a service that has streams. */
interface StreamCalls {
  readText(
    operationId: never,
    parameters: object,
    accept: string,
    options: CallOptions,
    endless: { silenceMaxMs: number },
  ): AsyncGenerator<string, void, void>;
}

/** The service sends a comment every 15 seconds. */
const silenceMaxMs = 60_000;

/** The operations that have a stream of server-sent events. */
export type StreamOperation = "listChanges" | "followFlags" | "listEvents";

/**
 * The data of the events of a stream, piece by piece: those that each piece completes, none if it is a comment. It has no
 * end and no timeout, unless `options` have one, and throws a `ConnectionError` when it breaks or is silent. `read` parses
 * the data of an event.
 */
export async function* eventPieces<Data>(
  { readText }: StreamCalls,
  operationId: StreamOperation,
  search: object,
  { timeoutMs = Number.POSITIVE_INFINITY, ...options }: CallOptions,
  read = (text: string) => JSON.parse(text) as Data,
): AsyncGenerator<Data[], void, void> {
  const streamOptions = { ...options, timeoutMs };
  const pieces = readText(operationId as never, search, "text/event-stream", streamOptions, { silenceMaxMs });
  const parse = openEventParser();
  for await (const piece of pieces) yield parse(piece).map(read);
}

/** The data of each event of a stream. */
export async function* eachStreamed<Data>(
  calls: StreamCalls,
  operationId: StreamOperation,
  search: object,
  options: CallOptions = {},
  read?: (text: string) => Data,
): AsyncGenerator<Data, void, void> {
  for await (const events of eventPieces<Data>(calls, operationId, search, options, read)) {
    for (const event of events) {
      options.signal?.throwIfAborted();
      yield event;
    }
  }
}
