import type { defaults } from "../../generated/features.defaults.ts";
import type { components, operations } from "../../generated/features.ts";
import type { openCalls } from "./calls.ts";
import { openEventParser } from "./event-stream.ts";
import type { CallOptions } from "./options.ts";

export type ChangeRecord = components["schemas"]["ChangeRecord"];

/** The calls of the feature storage. */
export type FeatureCalls = ReturnType<typeof openCalls<operations, typeof defaults>>;

/** The service sends a comment every 15 seconds. */
const silenceMaxMs = 60_000;

/**
 * The data of the events of a stream, piece by piece: those that each piece completes, none if it is a comment. It has no
 * end and no timeout, unless `options` have one, and throws a `ConnectionError` when it breaks or is silent. `read` parses
 * the data of an event.
 */
export async function* eventPieces<Data>(
  readText: FeatureCalls["readText"],
  operationId: "listChanges" | "followFlags" | "listEvents",
  search: object,
  { timeoutMs = Number.POSITIVE_INFINITY, ...options }: CallOptions = {},
  read = (text: string) => JSON.parse(text) as Data,
): AsyncGenerator<Data[], void, void> {
  const pieces = readText(operationId, search, "text/event-stream", { ...options, timeoutMs }, silenceMaxMs);
  const parse = openEventParser();
  for await (const piece of pieces) yield parse(piece).map(read);
}

/** The data of each event of a stream, which comes in pieces. */
export async function* eachStreamed<Data>(
  pieces: AsyncIterable<Data[]>,
  options: CallOptions | undefined,
): AsyncGenerator<Data, void, void> {
  for await (const events of pieces) {
    for (const event of events) {
      options?.signal?.throwIfAborted();
      yield event;
    }
  }
}
