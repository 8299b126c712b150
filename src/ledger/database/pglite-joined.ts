import { setTimeout as sleep } from "node:timers/promises";
import type { FolderInUse } from "../../process/folder-lock.ts";
import { type Database, withStatementTimeout } from "./database.ts";
import { sqlOver, transact } from "./pglite.ts";
import { connectTo, takeServedTurn } from "./pglite-socket.ts";

/** How long a process that has the folder can take to start its engine, in milliseconds. */
const startMaxMs = 5000;
const retryEveryMs = 100;

/**
 * The embedded database of the process that has its folder. Each statement takes a turn of the engine, and so does a
 * transaction. Rejects with the error if the process serves no turns.
 */
export async function joinDatabase(inUse: FolderInUse): Promise<Database> {
  const { folder } = inUse;
  const giveUpAt = Date.now() + startMaxMs;
  for (;;) {
    const socket = await connectTo(folder).catch(() => undefined);
    if (socket) {
      socket.destroy();
      break;
    }
    if (Date.now() > giveUpAt) throw inUse;
    await sleep(retryEveryMs);
  }
  const sql = sqlOver((message) => takeServedTurn(folder, (turn) => turn.send(message)));
  return {
    ...sql,
    within: (limitMs) => withStatementTimeout(limitMs, sql),
    exclusively: (work) => work(),
    runOutside: sql.run,
    transaction: (work) => takeServedTurn(folder, (turn) => transact(turn, work)),
    async check() {
      await sql.query("select 1");
    },
    requestConnections: 1,
    connections: () => ({}),
    async [Symbol.asyncDispose]() {},
  };
}
