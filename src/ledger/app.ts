import { Registry } from "prom-client";
import contract from "../../generated/ledger.json" with { type: "json" };
import type { operations } from "../../generated/ledger.ts";
import type { Contract } from "../contract/operations.ts";
import { Refusal, unavailable } from "../http/http-error.ts";
import { createService, type ServiceParts } from "../http/service.ts";
import { type Database, DatabaseUnavailable, StatementTimeout } from "./database/database.ts";
import { withinAccounts } from "./handlers/accounts.ts";
import { eventHandlers } from "./handlers/events.ts";
import { healthHandlers, type ReceiverState } from "./handlers/health.ts";
import { metricsHandlers } from "./handlers/metrics.ts";
import { problem } from "./handlers/problem.ts";
import { searchHandlers } from "./handlers/search.ts";
import { transactionHandlers } from "./handlers/transactions.ts";
import type { Queue } from "./queue/queue.ts";

interface Parts extends Pick<ServiceParts<operations>, "security" | "log" | "metrics" | "onStrayReply"> {
  database: Database;
  /** A copy of the database for the requests to read from. */
  replica?: Database | undefined;
  queue: Queue;
  /** What takes messages from the queue in this process, if anything does. */
  receiver?: ReceiverState | undefined;
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
export function ledgerApp({
  database,
  replica,
  queue,
  receiver,
  statementTimeoutMs,
  metrics = new Registry(),
  ...parts
}: Parts) {
  const sql = (replica ?? database).within(statementTimeoutMs);
  const databases = { DATABASE_URL: database, ...(replica && { DATABASE_READ_URL: replica }) };
  const handlers = {
    ...healthHandlers({ databases: Object.values(databases), queue, receiver }),
    ...metricsHandlers(metrics, { sql, databases, queue, receiver }),
    ...eventHandlers(sql),
    ...transactionHandlers(sql),
    ...searchHandlers(sql),
  };
  return createService<operations>({
    ...ledgerService,
    handlers: parts.security ? withinAccounts(handlers) : handlers,
    foresee,
    metrics,
    ...parts,
  });
}

function foresee(error: unknown): Refusal | undefined {
  if (error instanceof DatabaseUnavailable) {
    return unavailable("the database cannot be reached; trying again later may help");
  }
  if (!(error instanceof StatementTimeout)) return undefined;
  const advice = "a narrower question, for example between two dates, may get one";
  return new Refusal(504, [`no answer within ${error.limitMs} ms; ${advice}`]);
}
