import { setTimeout } from "node:timers/promises";
import {
  comment,
  giveInTurns,
  lookEveryMs,
  nextChunk,
  ownerOfStreams,
  recordsMax,
  type Waiter,
} from "../../http/streams/event-stream.ts";
import { inTurnsOf, letOthersRun } from "../../waiting/turns.ts";
import { type FeatureStore, StoreFailure } from "../store/store.ts";

/** A stream of the events of one resource. */
interface Stream {
  /** Whether there is an event that has not been sent. Several are one. */
  hasEvent: boolean;
  /** Absent while the client has not read the last chunk. */
  waiter?: Waiter<Buffer> | undefined;
}

/** It has no id, since the first event of each connection stands for all that a client has missed. */
const event = Buffer.from('data: {"type":"refetchEvaluation"}\n\n');

const keyOf = ({ resource, id }: { resource: string; id: string }) => JSON.stringify([resource, id]);

/**
 * Creates streams of server-sent events (WHATWG HTML, section 9.2). A stream sends an event at once, and one whenever a
 * change of its resource has a record in the feed. It ends when the signal aborts.
 *
 * One loop reads the feed for all streams, while there are any.
 */
export function openFlagEvents(store: FeatureStore) {
  const streams = new Map<string, Set<Stream>>();
  /** The cursor up to which the feed has been read; undefined until the store has responded. */
  let cursor: string | undefined;
  /** The first look of the loop, after which no change is missed; undefined while there is no loop. */
  let ready: Promise<void> | undefined;

  const all = () => [...streams.values()].flatMap((group) => [...group]);

  const notify = (notified: Stream[]) =>
    giveInTurns(notified, (stream) => {
      stream.hasEvent = true;
      stream.waiter?.resolve(event);
    });

  async function serve(firstLook: Promise<void>): Promise<void> {
    await firstLook;
    for (;;) {
      await setTimeout(lookEveryMs);
      if (streams.size === 0) break;
      await look();
    }
    cursor = undefined;
    ready = undefined;
  }

  async function look(): Promise<void> {
    try {
      await readFeed();
    } catch (error) {
      // Streams stay open: browsers would reconnect, get a 500 and give up.
      if (!(error instanceof StoreFailure)) for (const { waiter } of all()) waiter?.reject(error);
    }
  }

  /** Notifies the streams of the resources that have changed since the last look, or all if this is not known. */
  async function readFeed(): Promise<void> {
    const newest = await store.newest();
    while (cursor !== newest) {
      const entries = cursor === undefined ? undefined : await store.changes(cursor, recordsMax, newest);
      const changed = new Set(entries?.map(({ record }) => keyOf(record)));
      cursor = entries?.at(-1)?.cursor ?? newest;
      await notify(entries ? [...changed].flatMap((key) => [...(streams.get(key) ?? [])]) : all());
      await letOthersRun();
    }
  }

  return async function* follow(
    resource: string,
    id: string,
    signal: AbortSignal,
  ): AsyncGenerator<Buffer, void, void> {
    const key = keyOf({ resource, id });
    const stream: Stream = { hasEvent: true };
    const group = streams.get(key) ?? new Set();
    streams.set(key, group.add(stream));
    if (!ready) {
      ready = look();
      void inTurnsOf(ownerOfStreams, () => serve(ready as Promise<void>));
    }
    try {
      // Shows the client immediately that the stream is open.
      yield comment;
      await ready;
      while (!signal.aborted) {
        if (stream.hasEvent) {
          stream.hasEvent = false;
          yield event;
          continue;
        }
        stream.waiter = Promise.withResolvers();
        const chunk = await nextChunk(stream.waiter, () => comment, signal);
        stream.waiter = undefined;
        if (chunk === comment) yield comment;
      }
    } finally {
      group.delete(stream);
      if (group.size === 0) streams.delete(key);
    }
  };
}
