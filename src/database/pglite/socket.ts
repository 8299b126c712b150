import { once } from "node:events";
import { chmod, rm } from "node:fs/promises";
import { connect, createServer, type Socket } from "node:net";
import { join, relative } from "node:path";
import { deserialize, serialize } from "node:v8";
import { DatabaseUnavailable } from "../database.ts";
import type { Engine } from "./engine.ts";
import { type Message, type Outcome, resultOf, settle } from "./message.ts";

// A Unix socket in the folder of an embedded database, by which commands use the engine of the process that has the folder.
// Each connection gets one turn of the engine: it sends messages and gets the outcome of each, and its end ends the turn.
// Only the user of the process may connect, who may read the files of the database as well.

/** The sending side of an engine. */
export type Turn = Pick<Engine, "send">;

/** How long a turn waits for the next message of its client, since everybody else waits for the turn. */
const idleMaxMs = 10_000;
/** The system has a limit for the path of a socket. */
const pathBytesMax = 100;

/** The shortest path of the socket; undefined if it is too long, or if the system has no such sockets. */
function socketPath(folder: string): string | undefined {
  const path = join(folder, "commands.sock");
  const inWorkingFolder = relative(process.cwd(), path);
  const shortest = inWorkingFolder.length < path.length ? inWorkingFolder : path;
  return process.platform === "win32" || Buffer.byteLength(shortest) > pathBytesMax ? undefined : shortest;
}

/** Serves turns of the engine until disposal, and does not keep the process alive for that. */
export async function serveTurns(
  folder: string,
  takeTurn: (work: (turn: Turn) => Promise<void>) => Promise<void>,
): Promise<AsyncDisposable> {
  const path = socketPath(folder);
  if (path === undefined) return { async [Symbol.asyncDispose]() {} };
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(
      socket
        .unref()
        .on("error", () => {})
        .on("close", () => sockets.delete(socket)),
    );
    takeTurn((turn) => serve(socket, turn)).catch(() => socket.destroy());
  });
  // A process that was killed leaves its socket.
  await rm(path, { force: true });
  await once(server.listen(path), "listening");
  server.unref();
  await chmod(path, 0o600);
  return {
    async [Symbol.asyncDispose]() {
      const closed = once(server.close(), "close");
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}

async function serve(socket: Socket, turn: Turn): Promise<void> {
  const awaitMessage = () => socket.setTimeout(idleMaxMs);
  socket.on("timeout", () => socket.destroy());
  awaitMessage();
  try {
    for await (const message of framesOf(socket)) {
      socket.setTimeout(0);
      writeFrame(socket, await settle(turn.send(message as Message)));
      awaitMessage();
    }
  } finally {
    socket.destroy();
    // Has no effect unless the client has left within a transaction.
    await turn.send({ script: "rollback" }).catch(() => {});
  }
}

/** Takes a turn of the engine of the process that has the folder. Rejects if no process serves turns there. */
export async function takeServedTurn<Result>(folder: string, work: (turn: Turn) => Promise<Result>) {
  const path = socketPath(folder);
  if (path === undefined) throw new Error(`the folder ${folder} has no socket`);
  const socket = connect(path).on("error", () => {});
  await once(socket, "connect");
  const frames = framesOf(socket);
  try {
    return await work({
      async send(message) {
        writeFrame(socket, message);
        const { value } = await frames.next();
        if (!value) throw new DatabaseUnavailable(new Error("the process of the embedded database has left"));
        return resultOf(value as Outcome);
      },
    });
  } finally {
    socket.destroy();
  }
}

/** A frame is the length of a serialized value and the value. */
function writeFrame(socket: Socket, value: unknown): void {
  const bytes = serialize(value);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(bytes.length);
  socket.write(Buffer.concat([length, bytes]));
}

async function* framesOf(socket: Socket): AsyncGenerator<unknown, undefined> {
  let pieces: Buffer[] = [];
  let received = 0;
  let wanted = 4;
  let isLength = true;
  for await (const piece of socket as AsyncIterable<Buffer>) {
    pieces.push(piece);
    received += piece.length;
    while (received >= wanted) {
      const bytes = Buffer.concat(pieces);
      const frame = bytes.subarray(0, wanted);
      pieces = [bytes.subarray(wanted)];
      received -= wanted;
      wanted = isLength ? frame.readUInt32BE() : 4;
      if (!isLength) yield deserialize(frame);
      isLength = !isLength;
    }
  }
  return undefined;
}
