import contract from "../../generated/ledger.json" with { type: "json" };
import type { operations } from "../../generated/ledger.ts";
import type { Contract } from "../service/operations.ts";
import { Refusal } from "../service/refusal.ts";
import { createService, type ServiceParts } from "../service/service.ts";
import { type Database, StatementTimeout } from "./database/database.ts";
import { withinAccounts } from "./handlers/accounts.ts";
import { eventHandlers } from "./handlers/events.ts";
import { healthHandlers } from "./handlers/health.ts";
import { problem } from "./handlers/problem.ts";
import { searchHandlers } from "./handlers/search.ts";
import { transactionHandlers } from "./handlers/transactions.ts";
import type { Queue } from "./queue/queue.ts";

interface Parts extends Pick<ServiceParts<operations>, "security" | "log" | "onStrayReply"> {
  database: Database;
  queue: Queue;
  /** Milliseconds after which a request's statement is given up on. */
  statementTimeoutMs: number;
}

/** What the ledger is to its callers, whoever answers them. */
export const ledgerService = {
  contract: contract as unknown as Contract,
  renderError: problem,
  publication: {
    contract: new URL("../../openapi/ledger.yaml", import.meta.url),
    queue: {
      contract: new URL("../../generated/payment-events.asyncapi.yaml", import.meta.url),
      page: new URL("../../generated/payment-events.html", import.meta.url),
    },
  },
};

/** The payment ledger's reading API, ready to listen. */
export function ledgerApp({ database, queue, statementTimeoutMs, ...parts }: Parts) {
  const sql = database.within(statementTimeoutMs);
  const handlers = {
    ...healthHandlers(database, queue),
    ...eventHandlers(sql),
    ...transactionHandlers(sql),
    ...searchHandlers(sql),
  };
  return createService<operations>({
    ...ledgerService,
    handlers: parts.security ? withinAccounts(handlers) : handlers,
    foresee,
    ...parts,
  });
}

const foresee = (error: unknown): Refusal | undefined =>
  error instanceof StatementTimeout
    ? new Refusal(504, [
        `no answer within ${error.limitMs} ms; a narrower question, for example between two dates, may get one`,
      ])
    : undefined;
