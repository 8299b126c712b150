import {
  comment,
  deliverInTurns,
  lookEveryMs,
  nextChunk,
  ownerOfStreams,
  recordsMax,
  type Waiter,
} from "../../http/streams/event-stream.ts";
import { openLooks } from "../../waiting/news.ts";
import { inTurnsOf, letOthersRun } from "../../waiting/turns.ts";
import { type ChangeFeed, resourceKey, StoreFailure } from "../store/store.ts";

/** A stream of the events of one resource. */
interface Stream {
  /** True if there is an event that has not been sent. Several are one. */
  hasEvent: boolean;
  /** Absent while the client has not read the last chunk. */
  waiter?: Waiter<Buffer> | undefined;
}

/** The open streams, and the loop that reads the feed for them. */
interface Streams {
  feed: ChangeFeed;
  looks: ReturnType<typeof openLooks>;
  byResource: Map<string, Set<Stream>>;
  /** The cursor up to which the feed has been read; undefined until the store has responded. */
  cursor?: string | undefined;
  /** The first look of the loop, after which no change is missed; undefined while there is no loop. */
  ready?: Promise<void> | undefined;
}

/** It has no id, since the first event of each connection stands for all that a client has missed. */
const event = Buffer.from('data: {"type":"refetchEvaluation"}\n\n');

/**
 * Creates streams of server-sent events (WHATWG HTML, section 9.2). A stream sends an event at once, and one whenever a
 * change of its resource has a record in the feed. It ends when the signal aborts.
 *
 * One loop reads the feed for all streams, while there are any.
 */
export function openFlagEvents(feed: ChangeFeed) {
  const streams: Streams = { feed, looks: openLooks(lookEveryMs, feed.news), byResource: new Map() };
  return (resource: string, id: string, signal: AbortSignal) =>
    follow(streams, resourceKey({ resource, id }), signal);
}

async function* follow(streams: Streams, key: string, signal: AbortSignal): AsyncGenerator<Buffer, void> {
  const { byResource } = streams;
  const stream: Stream = { hasEvent: true };
  const group = byResource.get(key) ?? new Set();
  byResource.set(key, group.add(stream));
  if (!streams.ready) {
    streams.ready = look(streams);
    void inTurnsOf(ownerOfStreams, () => serve(streams));
  }
  try {
    // Shows the client immediately that the stream is open.
    yield comment;
    await streams.ready;
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
    if (group.size === 0) byResource.delete(key);
  }
}

/** Looks at the feed again and again, until there are no streams. */
async function serve(streams: Streams): Promise<void> {
  const { looks } = streams;
  await streams.ready;
  for (;;) {
    while (!looks.isDue()) await looks.pause();
    if (streams.byResource.size === 0) break;
    await look(streams);
  }
  streams.cursor = undefined;
  streams.ready = undefined;
}

async function look(streams: Streams): Promise<void> {
  try {
    await streams.looks.look(() => readFeed(streams));
  } catch (error) {
    // Streams stay open: browsers would reconnect, get a 500 and give up.
    if (!(error instanceof StoreFailure)) for (const { waiter } of allOf(streams)) waiter?.reject(error);
  }
}

/** Notifies the streams of the resources that have changed since the last look, or all if this is not known. */
async function readFeed(streams: Streams): Promise<void> {
  const { feed, byResource } = streams;
  const newest = await feed.newest();
  while (streams.cursor !== newest) {
    const { cursor } = streams;
    const entries = cursor === undefined ? undefined : await feed.changes(cursor, recordsMax, newest);
    const changed = new Set(entries?.map(({ record }) => resourceKey(record)));
    streams.cursor = entries?.at(-1)?.cursor ?? newest;
    const notified = entries
      ? [...changed].flatMap((key) => [...(byResource.get(key) ?? [])])
      : allOf(streams);
    await deliverInTurns(notified, (stream) => {
      stream.hasEvent = true;
      stream.waiter?.resolve(event);
    });
    await letOthersRun();
  }
}

const allOf = ({ byResource }: Streams) => [...byResource.values()].flatMap((group) => [...group]);
