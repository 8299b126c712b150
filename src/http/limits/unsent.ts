import type { Server } from "node:http";
import type { Socket } from "node:net";
import { setImmediate } from "node:timers/promises";
import type { Logger } from "../../process/log.ts";
import { type Owner, shareOf } from "../../waiting/owner.ts";
import { repeat } from "../../waiting/repeat.ts";

/** Maximum number of bytes that wait to be sent on all connections together. */
const unsentMaxBytes = 64 * 2 ** 20;
/** A client that has taken nothing for this long is too slow while there are more. */
const stalledMs = 1000;
/** A client that has taken nothing for this long is disconnected, also if there are no more. */
const stalledMaxMs = 30_000;
const checkMs = 250;
/** Number of connections that are closed in one turn of the event loop. */
const closedPerTurn = 50;

const ownerOfRequest = Symbol("owner");

/** `_handle` has the bytes that the system has not taken yet. Node.js uses the same member for its timeouts. */
type WritingSocket = Socket & {
  _handle?: { writeQueueSize: number } | null;
  [ownerOfRequest]?: Owner;
};

/** Says whose request the next response of a connection is for. A proxy can send those of several callers. */
export function respondsTo(socket: WritingSocket, owner: Owner): void {
  socket[ownerOfRequest] = owner;
}

/** The progress of each connection: the bytes that wait in the system, and since when their number is the same. */
type Connections = Map<WritingSocket, { queued: number; since: number }>;
type Connection = [socket: WritingSocket, progress: { since: number }];

/**
 * Closes a connection whose client has read nothing of a response for 30 seconds, and bounds the memory of all responses
 * that clients do not read. Beyond the limit, the caller with the most bytes loses connections while it has more than its
 * share: those that have made no progress for the longest time, for at least a second. Beyond twice the limit it loses those
 * with the most bytes.
 */
export function limitUnsent(server: Server, log: Logger): void {
  const connections: Connections = new Map();
  server.on("connection", (socket: Socket) => {
    connections.set(socket, { queued: 0, since: 0 });
    socket.once("close", () => connections.delete(socket));
  });
  server.on("listening", () => {
    const checks = repeat(
      async () => {
        const now = performance.now();
        const unsentBytes = noteProgress(connections, now);
        const closed = unsentBytes > unsentMaxBytes ? await closeSlow(connections, now) : 0;
        if (closed > 0)
          log.warn({ connections: closed, unsentBytes }, "clients that read too slowly were disconnected");
        return checkMs;
      },
      { keepsProcess: false },
    );
    server.once("close", () => void checks[Symbol.asyncDispose]());
  });
}

/** Notes the progress of each connection, and closes those without any for too long. Returns the bytes that are not sent. */
function noteProgress(connections: Connections, now: number): number {
  let total = 0;
  for (const [socket, progress] of connections) {
    total += socket.writableLength;
    const queued = socket._handle?.writeQueueSize ?? 0;
    if (queued === 0 || queued !== progress.queued) Object.assign(progress, { queued, since: now });
    else if (now - progress.since >= stalledMaxMs) socket.destroy();
  }
  return total;
}

/** Closes connections until the responses that wait are within the limits. Returns the number of closed connections. */
async function closeSlow(connections: Connections, now: number): Promise<number> {
  const writing = [...connections].filter(([socket]) => socket.writableLength > 0);
  const stalled = writing
    .filter(([, { since }]) => now - since >= stalledMs)
    .sort(([, one], [, other]) => one.since - other.since);
  const largest = writing.toSorted(([one], [other]) => other.writableLength - one.writableLength);
  const unsent: Unsent = { total: 0, byOwner: new Map() };
  for (const [socket] of largest) add(unsent, socket[ownerOfRequest], socket.writableLength);
  const closed = await closeInOrder(stalled, unsent, unsentMaxBytes, shareOf(unsentMaxBytes));
  return closed + (await closeInOrder(largest, unsent, 2 * unsentMaxBytes, 0));
}

/** The bytes that are not sent. */
interface Unsent {
  total: number;
  byOwner: Map<Owner | undefined, number>;
}

function add(unsent: Unsent, owner: Owner | undefined, bytes: number): void {
  unsent.total += bytes;
  unsent.byOwner.set(owner, (unsent.byOwner.get(owner) ?? 0) + bytes);
}

/** Closes the first connection of the owner with the most bytes, while there are more than `max` and the owner has more than `ownMax`. */
async function closeInOrder(connections: Connection[], unsent: Unsent, max: number, ownMax: number) {
  const byOwner = Map.groupBy(connections, ([socket]) => socket[ownerOfRequest]);
  let closed = 0;
  while (unsent.total > max) {
    const [owner, bytes] = [...unsent.byOwner].reduce((one, other) => (other[1] > one[1] ? other : one));
    const [socket] = byOwner.get(owner)?.shift() ?? [];
    if (!socket || bytes <= ownMax) break;
    if (socket.destroyed) continue;
    add(unsent, owner, -socket.writableLength);
    socket.destroy();
    closed += 1;
    if (closed % closedPerTurn === 0) await setImmediate();
  }
  return closed;
}
