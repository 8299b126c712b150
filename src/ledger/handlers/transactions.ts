import type { operations } from "../../../generated/ledger.ts";
import type { Sql } from "../../database/database.ts";
import type { Handlers } from "../../http/handlers.ts";
import { readInstant } from "../../values/instant.ts";
import { mapInTurns } from "../../waiting/turns.ts";
import { asOfReader } from "../past/as-of.ts";
import { compareNewestFirst } from "../projection/history.ts";
import { stateEventTypes } from "../projection/states.ts";
import type { Cursors } from "../requests/cursor.ts";
import { pageBytesMax, quickBytesMax, type Reader } from "../requests/lanes.ts";
import { isExtended } from "../requests/page.ts";
import { accountMissing, notFound, problem, unknownCursor } from "../requests/problem.ts";
import {
  type EventPosition,
  type EventRow,
  type FamilyEvents,
  haveEventsUntil,
  listEvents,
  listEventsQuickly,
  resourcesOf,
  transactionTypes,
} from "../tables/event.ts";
import { searchTransactions } from "../tables/search/search.ts";
import {
  amountsOf,
  familyOf,
  findTransaction,
  listChildren,
  type ReportedTransaction,
  type TransactionKey,
} from "../tables/transaction.ts";
import { eventTypesOfState, firstOfEachState, numbered, viewTransactionEvents } from "../views/event.ts";
import { viewLinkHeader, viewNextCursor } from "../views/next-cursor.ts";
import type { StatusVersion } from "../views/state.ts";
import { viewPayment, viewTransaction } from "../views/transaction.ts";

type TransactionHandlers = Pick<
  Handlers<operations>,
  | "getTransaction"
  | "getTransactionByGatewayTransactionId"
  | "listTransactionEvents"
  | "listChildTransactions"
>;

/** The limits of a page of events or children. */
const pageLimits = { countMax: 200, bytesMax: pageBytesMax };

/** `limitMs` is the limit for reading a history, in milliseconds. */
export const transactionHandlers = (
  { sql, lanes }: Reader,
  cursors: Cursors,
  limitMs: number,
): TransactionHandlers => ({
  async getTransaction({ path: { transactionExternalId }, query, owner }) {
    if (!query.account_id && !query.override_account_id_restriction) return accountMissing;
    const wanted = {
      external_id: transactionExternalId,
      gateway_account_id: query.account_id,
      transaction_type: query.transaction_type,
      parent_external_id: query.parent_external_id,
    };
    const lane = () => lanes(owner, query.account_id);
    const row = await (query.as_of === undefined
      ? findWhole(sql, lane, wanted)
      : findAsOf(asOfReader(lane(), readInstant(query.as_of) as string, limitMs), wanted));
    return row
      ? { status: 200, body: viewTransaction(row, query.status_version) }
      : notFound(transactionExternalId);
  },

  async getTransactionByGatewayTransactionId({ query, owner }) {
    const filter = { ...query, transaction_type: "PAYMENT" } as const;
    const limits = { countMax: 1, bytesMax: pageBytesMax };
    const [row] = (await searchTransactions(lanes(owner), filter, limits)).rows;
    return row
      ? { status: 200, body: viewPayment(row, 2) }
      : problem(404, [`Payment with gateway transaction id [${query.gateway_transaction_id}] not found`]);
  },

  async listTransactionEvents({ path: { transactionExternalId: id }, query, url, owner }) {
    const { gateway_account_id: account, status_version: version, cursor } = query;
    const asOf = query.as_of && readInstant(query.as_of);
    const after = cursor === undefined ? undefined : cursors.event.read(cursor);
    if (cursor !== undefined && !after) return unknownCursor;
    const lane = lanes(owner, account);
    const isWhole = asOf === undefined && after === undefined;
    const page =
      (isWhole && (await listAllQuickly(sql, id, account))) ||
      (await listFamilyEvents(lane, id, account, { after, asOf, limitMs }));
    if (!page) return notFound(id);

    const last = page.isLast ? undefined : page.events.at(-1);
    const events = query.include_all_events
      ? page.events
      : await firstOfStates(lane, page.events, version, after);
    const links = viewNextCursor(url, query, last && cursors.event.write(last));
    const views = viewTransactionEvents(page.family, events, version);
    return {
      status: 200,
      headers: viewLinkHeader(links),
      body: isExtended(query)
        ? { transaction_id: id, events: numbered(views, events), _links: links }
        : { transaction_id: id, events: views },
    };
  },

  async listChildTransactions({ path: { parentTransactionExternalId: id }, query, url, owner }) {
    const { gateway_account_id: account, cursor } = query;
    const after = cursor === undefined ? undefined : cursors.child.read(cursor);
    if (cursor !== undefined && !after) return unknownCursor;
    const [parent, { children, isLast }] = await Promise.all([
      findTransaction(sql, { external_id: id, gateway_account_id: account }, 0),
      listChildren(lanes(owner, account), id, account, {
        type: query.transaction_type,
        after,
        ...pageLimits,
      }),
    ]);
    if (!parent) return notFound(id);
    const last = isLast ? undefined : children.at(-1);
    const links = viewNextCursor(url, query, last && cursors.child.write(last));
    const transactions = await mapInTurns(children, (row) => viewTransaction(row, 2));
    return {
      status: 200,
      headers: viewLinkHeader(links),
      body: { parent_transaction_id: id, transactions, _links: isExtended(query) ? links : undefined },
    };
  },
});

async function findWhole(
  sql: Sql,
  lane: () => Sql,
  wanted: TransactionKey,
): Promise<ReportedTransaction | undefined> {
  const row = await findTransaction(sql, wanted, quickBytesMax);
  return row?.is_whole === false ? findTransaction(lane(), wanted) : row;
}

async function findAsOf(
  reader: ReturnType<typeof asOfReader>,
  wanted: TransactionKey,
): Promise<ReportedTransaction | undefined> {
  const row = await reader.transaction(wanted.external_id, wanted.gateway_account_id);
  const matches = Object.entries(wanted).every(
    ([name, value]) => value === undefined || row?.[name as keyof TransactionKey] === value,
  );
  return matches ? row : undefined;
}

/** All events of a transaction and its children that belong to the account, if they are few and small. */
async function listAllQuickly(sql: Sql, id: string, account: string): Promise<FamilyEvents | undefined> {
  const all = await listEventsQuickly(sql, id, account);
  all?.events.sort(compareNewestFirst).reverse();
  return all;
}

/**
 * A page of the events of a transaction and its children that belong to the account, and the amounts of these. Undefined if
 * the account has no such transaction.
 */
async function listFamilyEvents(
  lane: Sql,
  id: string,
  account: string,
  { after, asOf, limitMs }: { after: EventPosition | undefined; asOf: string | undefined; limitMs: number },
): Promise<FamilyEvents | undefined> {
  const familyThen = asOf ? await asOfReader(lane, asOf, limitMs).family(id, account) : undefined;
  const ids = familyThen
    ? familyThen.map(({ external_id }) => external_id)
    : await familyOf(lane, id, account);
  if (!ids.includes(id)) return undefined;
  const resources = resourcesOf(transactionTypes, ids);
  const { events, isLast } = await listEvents(lane, resources, stateEventTypes, {
    after,
    asOf,
    ...pageLimits,
  });
  const shown = new Set(events.map((event) => event.resource_external_id));
  return { events, isLast, family: familyThen ?? (await amountsOf(lane, [...shown])) };
}

/** The first event of each transaction that sets each state, without the states that the list up to `after` has. */
async function firstOfStates(
  sql: Sql,
  events: EventRow[],
  version: StatusVersion,
  after: EventPosition | undefined,
): Promise<EventRow[]> {
  const firsts = firstOfEachState(events, version);
  if (after === undefined || firsts.length === 0) return firsts;
  const states = firsts.map((event) => ({
    resource_external_id: event.resource_external_id,
    resource_type: event.resource_type,
    event_types: eventTypesOfState(event, version),
  }));
  const areKnown = await haveEventsUntil(sql, states, stateEventTypes, after);
  return firsts.filter((_, index) => !areKnown[index]);
}
