import { EventEmitter } from "node:events";
import type { Server } from "node:http";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { openLog } from "../../process/log.ts";
import type { Owner } from "../../waiting/owner.ts";
import { limitUnsent, respondsTo } from "./unsent.ts";

// The waits between its looks are those of the clock of the test.
vi.mock("node:timers/promises", async (original) => ({
  ...(await original<object>()),
  setTimeout: (milliseconds: number) => new Promise((resolve) => setTimeout(resolve, milliseconds)),
}));
beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] }));
afterEach(() => void vi.useRealTimers());

const mebibyte = 2 ** 20;

/** A server with connections whose bytes the test sets. */
function openServer() {
  const server = new EventEmitter();
  const logged: string[] = [];
  limitUnsent(server as Server, openLog("warn", { write: (line) => logged.push(line) }));
  server.emit("listening");
  return {
    logged,
    connect(mebibytes: number, caller: Owner = "address 127.0.0.1") {
      const socket = Object.assign(new EventEmitter(), {
        destroyed: false,
        writableLength: mebibytes * mebibyte,
        _handle: { writeQueueSize: mebibytes * mebibyte },
        destroy() {
          socket.destroyed = true;
          socket.emit("close");
        },
        /** The client takes a byte. */
        progress: () => void socket._handle.writeQueueSize--,
      });
      server.emit("connection", socket);
      respondsTo(socket as never, caller);
      return socket;
    },
  };
}

test("a connection is closed whose client has read nothing of a response for 30 seconds", async () => {
  const { connect, logged } = openServer();
  const [stalled, slow, idle] = [connect(1), connect(1), connect(0)];
  await vi.advanceTimersByTimeAsync(250);
  const isOpen = () => [stalled, slow, idle].map(({ destroyed }) => !destroyed);
  for (let second = 0; second < 29; second++) {
    slow.progress();
    await vi.advanceTimersByTimeAsync(1_000);
  }
  expect(isOpen()).toEqual([true, true, true]);
  slow.progress();
  await vi.advanceTimersByTimeAsync(1_000);
  expect([...isOpen(), logged]).toEqual([false, true, true, []]);
});

test("beyond 64 MiB, clients that have read nothing for a second are disconnected, the stalest first", async () => {
  const { connect, logged } = openServer();
  const sockets = [connect(20), connect(10)];
  const look = async () => {
    sockets[0]?.progress();
    await vi.advanceTimersByTimeAsync(250);
    return sockets.map(({ destroyed }) => destroyed);
  };
  await look();
  sockets.push(connect(30));
  for (let count = 0; count < 8; count++) expect(await look()).toEqual([false, false, false]);
  sockets.push(connect(10));
  expect(await look()).toEqual([false, true, false, false]);
  sockets.push(connect(30));
  expect(await look()).toEqual([false, true, true, false, false]);
  sockets.push(connect(20));
  expect(await look()).toEqual([false, true, true, false, false, false]);
  expect(logged.map((line) => JSON.parse(line).connections)).toEqual([1, 1]);
});

test("the caller with most unsent bytes is disconnected first, and one below its share not at all", async () => {
  const { connect } = openServer();
  // Those of the first caller take a byte now and then.
  const busy = [30, 20].map((mebibytes) => connect(mebibytes, "subject many"));
  const slow = connect(20, "subject one");
  const look = async () => {
    for (const socket of busy) socket.progress();
    await vi.advanceTimersByTimeAsync(250);
    return [...busy, slow].map(({ destroyed }) => destroyed);
  };
  for (let count = 0; count < 8; count++) expect(await look()).toEqual([false, false, false]);
  const stalled = connect(10, "subject many");
  for (let count = 0; count < 8; count++) expect(await look()).toEqual([false, false, false]);
  expect(stalled.destroyed).toBe(true);
});

test("a client that has gone does not count any more", async () => {
  const { connect } = openServer();
  for (let count = 0; count < 10; count++) connect(50).destroy();
  const slow = connect(50);
  for (let count = 0; count < 8; count++) await vi.advanceTimersByTimeAsync(250);
  expect(slow.destroyed).toBe(false);
});

test("beyond 128 MiB, those with the most bytes are disconnected too", async () => {
  const { connect } = openServer();
  const sockets = [50, 70, 60].map((mebibytes) => connect(mebibytes));
  await vi.advanceTimersByTimeAsync(250);
  expect(sockets.map(({ destroyed }) => destroyed)).toEqual([false, true, false]);
});
