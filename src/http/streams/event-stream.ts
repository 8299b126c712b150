import { setImmediate } from "node:timers/promises";
import type { Owner } from "../../waiting/owner.ts";

/** The owner of a loop that serves the streams of all callers. */
export const ownerOfStreams: Owner = "purpose streams";
/** Milliseconds between looks at a feed for all open streams. */
export const lookEveryMs = 200;
/** Milliseconds without an event after which something is sent. */
const heartbeatMs = 15_000;
/** Maximum number of records that are read at once. */
export const recordsMax = 300;
/** Number of streams that get something in one turn of the event loop. */
const streamsPerTurn = 25;

/** Shows that a stream is open. */
export const comment = Buffer.from(":\n\n");

/** A stream that waits for its next chunk; undefined ends it. */
export type Waiter<Chunk> = PromiseWithResolvers<Chunk | undefined>;

/** The next chunk of a stream: the heartbeat if there is none in time, and undefined when the signal aborts. */
export async function nextChunk<Chunk>(
  { promise, resolve }: Waiter<Chunk>,
  heartbeat: () => Chunk,
  signal: AbortSignal,
): Promise<Chunk | undefined> {
  const end = () => resolve(undefined);
  const timer = setTimeout(() => resolve(heartbeat()), heartbeatMs);
  signal.addEventListener("abort", end);
  try {
    return signal.aborted ? undefined : await promise;
  } finally {
    signal.removeEventListener("abort", end);
    clearTimeout(timer);
  }
}

/** Gives something to each of many streams, some in each turn of the event loop. */
export async function deliverInTurns<Stream>(
  streams: Stream[],
  deliver: (stream: Stream) => void,
): Promise<void> {
  for (let start = 0; start < streams.length; start += streamsPerTurn) {
    streams.slice(start, start + streamsPerTurn).forEach(deliver);
    await setImmediate();
  }
}
