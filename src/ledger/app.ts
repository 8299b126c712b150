import { Registry } from "prom-client";
import type { operations } from "../../generated/ledger.ts";
import { ledgerContract } from "../contract/contracts.ts";
import { type Database, DatabaseUnavailable, StatementTimeout } from "../database/database.ts";
import type { PageValues } from "../http/documents/page.ts";
import { HttpError, unavailable } from "../http/http-error.ts";
import type { HttpOptions, ServiceOptions } from "../http/options.ts";
import { createService } from "../http/service.ts";
import { shareOf } from "../waiting/owner.ts";
import { type AddEvents, addEventsHandler } from "./handlers/add-events.ts";
import { agreementHandlers } from "./handlers/agreements.ts";
import { eventHandlers } from "./handlers/events.ts";
import { feedHandlers } from "./handlers/feed.ts";
import { healthHandlers, type ReceiverState } from "./handlers/health.ts";
import { intakeHandlers } from "./handlers/intake.ts";
import { metricsHandlers } from "./handlers/metrics.ts";
import { payoutHandlers } from "./handlers/payouts.ts";
import { reportHandlers } from "./handlers/reports.ts";
import { searchHandlers } from "./handlers/search.ts";
import { transactionHandlers } from "./handlers/transactions.ts";
import type { Intake } from "./intake/intake.ts";
import { defaultAddress } from "./queue/address.ts";
import type { Queue, QueueAddress } from "./queue/queue.ts";
import { withinAccounts } from "./requests/accounts.ts";
import { openBacklog } from "./requests/backlog.ts";
import { openCursors } from "./requests/cursor.ts";
import { openLanes } from "./requests/lanes.ts";
import { problem } from "./requests/problem.ts";
import { openPublications } from "./requests/publications.ts";

/** `addEvents` is optional in the contract. */
type Operations = Omit<operations, "addEvents"> & { addEvents?: AddEvents };

interface LedgerOptions
  extends HttpOptions,
    Pick<ServiceOptions<Operations>, "log" | "metrics" | "onViolation"> {
  /** The id of the ledger. */
  ledgerId: string;
  /** The key of its cursors, which all its processes share. */
  cursorKey: Uint8Array;
  database: Database;
  /** A replica for requests to read from. Default: they read from the database. */
  replica?: Database | undefined;
  queue: Queue;
  /** The receiver of this process, if it has one. */
  receiver?: ReceiverState | undefined;
  /** The names of the targets to which this process publishes. Default: none. */
  targets?: string[];
  /** Where events are stored that callers add. Default: callers can only read. */
  intake?: Intake | undefined;
  /** Limit for a statement of a request, in milliseconds. */
  statementTimeoutMs: number;
  /** The claim of a token that lists the accounts of the caller. */
  accountsClaim?: string;
}

const generated = (name: string) => new URL(`../../generated/${name}`, import.meta.url);

/** The contract of the service, its error format and its documents. */
export const ledgerService = {
  contract: ledgerContract,
  renderError: problem,
  documents: {
    contract: generated("ledger.yaml"),
    console: { script: generated("ledger.console.js") },
    prefilled: ["account_id"],
    queue: {
      contract: generated("payment-events.asyncapi.yaml"),
      page: generated("payment-events.html"),
      values: defaultAddress,
    },
  },
};

/** The API of the payment ledger. It does not listen yet. */
export function ledgerApp({
  ledgerId,
  cursorKey,
  database,
  replica,
  queue,
  receiver,
  targets = [],
  intake,
  statementTimeoutMs,
  accountsClaim = "accounts",
  metrics = new Registry(),
  ...parts
}: LedgerOptions) {
  const openReader = (of: Database) => {
    const sql = of.within(statementTimeoutMs);
    return { sql, lanes: openLanes(sql, of.requestConnections, statementTimeoutMs) };
  };
  const reader = openReader(replica ?? database);
  const primary = replica ? openReader(database) : reader;
  const { sql, lanes } = reader;
  const databases = { DATABASE_URL: database, ...(replica && { DATABASE_READ_URL: replica }) };
  const cursors = openCursors(cursorKey);
  const backlog = openBacklog(sql, queue);
  const publications = targets.length > 0 ? openPublications(database, targets) : undefined;
  const checked = { ledgerId, databases: Object.values(databases), queue, receiver, publications };
  const handlers = {
    ...healthHandlers({ ...checked, log: parts.log }),
    ...metricsHandlers(metrics, { sql, databases, backlog, receiver, publications }),
    ...eventHandlers(sql, lanes, cursors),
    ...feedHandlers(sql, lanes, cursors),
    ...transactionHandlers(reader, cursors, statementTimeoutMs),
    ...searchHandlers(lanes, cursors),
    ...reportHandlers(sql, lanes, cursors),
    ...payoutHandlers(sql, lanes),
    ...agreementHandlers(reader, primary, cursors, statementTimeoutMs),
  };
  const { documents } = ledgerService;
  return createService<Operations>({
    ...ledgerService,
    documents: {
      ...documents,
      console: {
        ...documents.console,
        claims: parts.security && { scopeClaim: parts.scopeClaim ?? "scope", accountsClaim },
      },
      queue: { ...documents.queue, values: shownAddress(queue.address, parts.security !== undefined) },
    },
    handlers: {
      ...(parts.security ? withinAccounts(handlers, accountsClaim) : handlers),
      ...intakeHandlers({
        ...reader,
        cursors,
        backlog,
        publications,
        runningMax: shareOf((replica ?? database).requestConnections),
        limitMs: statementTimeoutMs,
      }),
      ...(intake && {
        addEvents: addEventsHandler({
          intake,
          sql: primary.sql,
          runningMax: database.requestConnections,
          limitMs: statementTimeoutMs,
        }),
      }),
    },
    mapError,
    metrics,
    ...parts,
  });
}

/** The address on the page of the queue. The page needs no token, so a service with tokens shows names instead. */
function shownAddress(address: QueueAddress = defaultAddress, isHidden: boolean): PageValues {
  if (!isHidden) return address;
  const values = Object.keys(address).map((name) => [
    name,
    name === "kind" ? address.kind : name.toUpperCase(),
  ]);
  return Object.fromEntries(values);
}

function mapError(error: unknown): HttpError | undefined {
  if (error instanceof DatabaseUnavailable)
    return unavailable("the database is unavailable; try again later");
  if (!(error instanceof StatementTimeout)) return undefined;
  const advice = "a narrower request, for example between two dates, may succeed";
  return new HttpError(504, [`no answer within ${error.limitMs} ms; ${advice}`]);
}
