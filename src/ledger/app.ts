import contract from "../../generated/ledger.json" with { type: "json" };
import type { operations } from "../../generated/ledger.ts";
import type { Contract } from "../service/operations.ts";
import { createService, type ServiceParts } from "../service/service.ts";
import type { Database } from "./database/database.ts";
import { eventHandlers } from "./handlers/events.ts";
import { healthHandlers } from "./handlers/health.ts";
import { problem } from "./handlers/problem.ts";
import { transactionHandlers } from "./handlers/transactions.ts";
import type { Queue } from "./queue/queue.ts";

interface Parts extends Pick<ServiceParts<operations>, "log" | "onStrayReply"> {
  database: Database;
  queue: Queue;
}

/** The payment ledger's reading API, ready to listen. */
export const ledgerApp = ({ database, queue, ...parts }: Parts) =>
  createService<operations>({
    contract: contract as unknown as Contract,
    handlers: {
      ...healthHandlers(database, queue),
      ...eventHandlers(database),
      ...transactionHandlers(database),
    },
    renderError: problem,
    ...parts,
  });
