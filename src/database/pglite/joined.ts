import type { FolderInUse } from "../../process/folder-lock.ts";
import { retry } from "../../waiting/retry.ts";
import { beginSnapshot, type Database, withStatementTimeout } from "../database.ts";
import { alone, sqlOver, transact } from "./pglite.ts";
import { takeServedTurn } from "./socket.ts";

/** How long a process that has the folder can take to start its engine, in milliseconds. */
const startMaxMs = 5000;

/**
 * The embedded database of the process that has its folder. Each statement takes a turn of the engine, and so does a
 * transaction. Rejects with the error if the process serves no turns.
 */
export async function joinDatabase(inUse: FolderInUse): Promise<Database> {
  const { folder } = inUse;
  await retry(() => takeServedTurn(folder, async () => {}), { forMs: startMaxMs }).catch(() => {
    throw inUse;
  });
  const sql = sqlOver((message) => takeServedTurn(folder, (turn) => turn.send(message)));
  return {
    ...alone(sql),
    within: (limitMs) =>
      withStatementTimeout(limitMs, {
        ...sql,
        snapshot: (work) => takeServedTurn(folder, (turn) => transact(turn, work, beginSnapshot)),
      }),
    transaction: (work) => takeServedTurn(folder, (turn) => transact(turn, work)),
    requestConnections: 1,
    async [Symbol.asyncDispose]() {},
  };
}
