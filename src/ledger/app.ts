import { Registry } from "prom-client";
import type { operations } from "../../generated/ledger.ts";
import { ledgerContract } from "../contract/contracts.ts";
import { type Place, withValues } from "../contract/served-contract.ts";
import { type Database, DatabaseUnavailable, StatementTimeout } from "../database/database.ts";
import { consoleAuthentication, type Documents } from "../http/documents/documents.ts";
import { HttpError, unavailable } from "../http/http-error.ts";
import type { HttpOptions, ServiceOptions } from "../http/options.ts";
import { createService } from "../http/service.ts";
import type { Currency } from "../values/currency.ts";
import type { News } from "../waiting/news.ts";
import { accessRecordHandlers } from "./handlers/access-records.ts";
import { type AddEvents, addEventsHandler } from "./handlers/add-events.ts";
import { agreementHandlers } from "./handlers/agreements.ts";
import { eventHandlers } from "./handlers/events.ts";
import { feedHandlers } from "./handlers/feed.ts";
import { healthHandlers, type ReceiverState } from "./handlers/health.ts";
import { intakeHandlers } from "./handlers/intake.ts";
import { metricsHandlers } from "./handlers/metrics.ts";
import { payoutHandlers } from "./handlers/payouts.ts";
import { reportChangesHandlers } from "./handlers/report-changes.ts";
import { performanceHandlers, summaryHandlers, transactionReportHandlers } from "./handlers/reports.ts";
import { searchHandlers, transactionHandlers } from "./handlers/transactions.ts";
import { serveLog } from "./handlers/transparency-log.ts";
import type { Intake } from "./intake/intake.ts";
import { defaultAddress } from "./queue/address.ts";
import type { Queue, QueueAddress } from "./queue/queue.ts";
import { withinAccounts } from "./requests/accounts.ts";
import { openBacklog, openLogState, openPublications } from "./requests/backlog.ts";
import { openCursors } from "./requests/cursor.ts";
import { renderError } from "./requests/failures.ts";
import { openReader } from "./requests/lanes.ts";

/** `addEvents` is optional in the contract. `searchTransactions` handles `queryTransactions`, too. */
type Operations = Omit<operations, "addEvents" | "queryTransactions"> & { addEvents?: AddEvents };

interface LedgerOptions
  extends HttpOptions,
    Pick<ServiceOptions<Operations>, "log" | "metrics" | "onViolation"> {
  /** The id of the ledger. */
  ledgerId: string;
  /** The currency of all its amounts. */
  currency: Currency;
  /** The key of its cursors, which all its processes share. */
  cursorKey: Uint8Array;
  database: Database;
  /** A replica for requests to read from. Default: they read from the database. */
  replica?: Database | undefined;
  queue: Queue;
  /** The receiver of this process, if it has one. */
  receiver?: ReceiverState | undefined;
  /** What is wrong with the transparency log, if this process seals it. */
  sealing?: { problem: () => string | undefined } | undefined;
  /** True to serve the transparency log. Default: false. */
  publishesLog?: boolean;
  /** The names of the targets to which this process publishes. Default: none. */
  targets?: string[];
  /** News of events that were stored. Default: the feed finds them at its next look. */
  news?: News;
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
  name: "ledger",
  contract: ledgerContract,
  renderError,
  documents: {
    contract: generated("ledger.yaml"),
    console: {
      script: generated("ledger.console.js"),
      style: new URL("../console/ledger/ledger.css", import.meta.url),
    },
    prefilled: ["account_id"],
    queue: {
      contract: generated("payment-events.asyncapi.yaml"),
      page: generated("payment-events.html"),
      markdown: generated("payment-events.md"),
      values: defaultAddress,
    },
  },
};

/** The API of the payment ledger. It does not listen yet. */
export async function ledgerApp({
  ledgerId,
  currency,
  cursorKey,
  database,
  replica,
  queue,
  receiver,
  sealing,
  publishesLog = false,
  targets = [],
  news,
  intake,
  statementTimeoutMs,
  accountsClaim = "accounts",
  metrics = new Registry(),
  ...parts
}: LedgerOptions) {
  const primary = openReader(database, statementTimeoutMs);
  const reader = replica ? openReader(replica, statementTimeoutMs) : primary;
  const databases = { DATABASE_URL: database, ...(replica && { DATABASE_READ_URL: replica }) };
  const cursors = openCursors(cursorKey);
  const backlog = openBacklog(reader.sql, queue);
  const publications = targets.length > 0 ? openPublications(database, targets) : undefined;
  const logState = sealing && openLogState(reader.sql, sealing.problem);
  const checked = { ledgerId, databases: Object.values(databases), queue, receiver, publications, logState };
  const handlers = {
    ...healthHandlers({ ...checked, log: parts.log }),
    ...metricsHandlers(metrics, { sql: reader.sql, databases, backlog, receiver, publications, logState }),
    ...eventHandlers(reader, cursors),
    ...feedHandlers(reader, cursors, news),
    ...transactionHandlers(reader, cursors),
    ...searchHandlers(reader, cursors, currency),
    ...transactionReportHandlers(reader, cursors, currency),
    ...reportChangesHandlers(reader, cursors, currency),
    ...summaryHandlers(reader, cursors),
    ...performanceHandlers(reader, cursors),
    ...payoutHandlers(reader, cursors),
    ...agreementHandlers(reader, primary, cursors),
  };
  const { contract, values } = withValues(ledgerContract, valuesOf(currency));
  const app = await createService<Operations>({
    ...ledgerService,
    contract,
    documents: { ...documentsOf(parts, accountsClaim, currency, queue.address), values },
    handlers: {
      ...(parts.security ? withinAccounts(handlers, accountsClaim) : handlers),
      ...accessRecordHandlers(primary, cursors),
      ...intakeHandlers(reader, cursors, backlog, publications, currency),
      ...(intake && { addEvents: addEventsHandler(intake, primary, cursors) }),
    },
    mapError,
    metrics,
    ...parts,
  });
  if (publishesLog) serveLog(app, reader);
  return app;
}

const consoleScopes = ["ledger:read", "ledger:read:all", "ledger:operate"];

/**
 * The published documents. The page of the queue needs no token, so a service with tokens shows names there instead of the
 * address.
 */
function documentsOf(
  http: HttpOptions,
  accountsClaim: string,
  currency: Currency,
  address: QueueAddress = defaultAddress,
): Documents {
  const { documents } = ledgerService;
  const names = Object.keys(address).map((name) => [
    name,
    name === "kind" ? address.kind : name.toUpperCase(),
  ]);
  return {
    ...documents,
    console: {
      ...documents.console,
      authentication: consoleAuthentication(http, consoleScopes, accountsClaim),
      currency,
    },
    queue: { ...documents.queue, values: http.security ? Object.fromEntries(names) : address },
  };
}

/** Where the contract says in which currency the amounts are. */
const valuesOf = ({ code, digits }: Currency): [Place, unknown][] => [
  [["x-currency", "code"], code],
  [["x-currency", "decimals"], digits],
  [
    ["info", "summary"],
    ledgerContract.info.summary?.replace("GBP, which has 2", `${code}, which has ${digits}`),
  ],
];

function mapError(error: unknown): HttpError | undefined {
  if (error instanceof DatabaseUnavailable)
    return unavailable("the database is unavailable; try again later");
  if (!(error instanceof StatementTimeout)) return undefined;
  const advice = "a narrower request, for example between two dates, may succeed";
  return new HttpError(504, [`no answer within ${error.limitMs} ms; ${advice}`]);
}
