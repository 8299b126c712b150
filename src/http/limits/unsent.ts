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

const callerOfRequest = Symbol("caller");

/** `_handle` has the bytes that the system has not taken yet. Node.js uses the same member for its timeouts. */
type WritingSocket = Socket & {
  _handle?: { writeQueueSize: number } | null;
  [callerOfRequest]?: Owner;
};

/** Says whose request the next response of a connection is for. A proxy can send those of several callers. */
export function respondsTo(socket: WritingSocket, caller: Owner): void {
  socket[callerOfRequest] = caller;
}

/** The progress of a connection: the bytes that wait in the system, and since when their number is the same. */
interface Progress {
  queued: number;
  since: number;
}

/**
 * Closes a connection whose client has read nothing of a response for 30 seconds, and bounds the memory of all responses
 * that clients do not read. Beyond the limit, the caller with the most bytes loses connections while it has more than its
 * share: those that have made no progress for the longest time, for at least a second. Beyond twice the limit it loses those
 * with the most bytes.
 */
export function limitUnsent(server: Server, log: Logger): void {
  const connections = new Map<WritingSocket, Progress>();
  server.on("connection", (socket: Socket) => {
    connections.set(socket, { queued: 0, since: 0 });
    socket.once("close", () => connections.delete(socket));
  });

  async function check(): Promise<number> {
    const now = performance.now();
    let total = 0;
    for (const [socket, progress] of connections) {
      total += socket.writableLength;
      const queued = socket._handle?.writeQueueSize ?? 0;
      if (queued === progress.queued && queued > 0) {
        if (now - progress.since >= stalledMaxMs) socket.destroy();
        continue;
      }
      progress.queued = queued;
      progress.since = now;
    }
    if (total > unsentMaxBytes) await drop(total, now);
    return checkMs;
  }

  async function drop(total: number, now: number): Promise<void> {
    const writing = [...connections].filter(([socket]) => socket.writableLength > 0);
    const stalled = writing
      .filter(([, { since }]) => now - since >= stalledMs)
      .sort(([, one], [, other]) => one.since - other.since);
    const largest = writing.toSorted(([one], [other]) => other.writableLength - one.writableLength);
    const unsent = new Map<Owner | undefined, number>();
    for (const [socket] of writing) add(unsent, socket[callerOfRequest], socket.writableLength);
    let [left, dropped] = [total, 0];
    const close = async (sockets: WritingSocket[], max: number, ownMax: number) => {
      const own = Map.groupBy(sockets, (socket) => socket[callerOfRequest]);
      while (left > max) {
        const [caller, bytes] = [...unsent].reduce((one, other) => (other[1] > one[1] ? other : one));
        const socket = own.get(caller)?.shift();
        if (!socket || bytes <= ownMax) return;
        if (socket.destroyed) continue;
        add(unsent, caller, -socket.writableLength);
        left -= socket.writableLength;
        dropped += 1;
        socket.destroy();
        if (dropped % closedPerTurn === 0) await setImmediate();
      }
    };
    await close(socketsOf(stalled), unsentMaxBytes, shareOf(unsentMaxBytes));
    await close(socketsOf(largest), 2 * unsentMaxBytes, 0);
    if (dropped > 0) {
      log.warn(
        { connections: dropped, unsentBytes: total },
        "clients that read too slowly were disconnected",
      );
    }
  }

  server.on("listening", () => {
    const checking = repeat(check, { keepsProcess: false });
    server.once("close", () => void checking[Symbol.asyncDispose]());
  });
}

const socketsOf = (entries: [WritingSocket, Progress][]) => entries.map(([socket]) => socket);

function add<Key>(sums: Map<Key, number>, key: Key, value: number): void {
  sums.set(key, (sums.get(key) ?? 0) + value);
}
