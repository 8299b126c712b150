import type { operations } from "../../../generated/ledger.ts";
import type { Sql } from "../../database/database.ts";
import type { Handlers } from "../../http/handlers.ts";
import { readInstant } from "../../values/instant.ts";
import { mapInTurns } from "../../waiting/turns.ts";
import { asOfReader } from "../past/as-of.ts";
import { stateEventTypes } from "../projection/states.ts";
import type { Cursors } from "../requests/cursor.ts";
import { pageBytesMax, quickBytesMax, type Reader } from "../requests/lanes.ts";
import { isExtended, readPage } from "../requests/page.ts";
import { problem, unknownCursor } from "../requests/problem.ts";
import {
  type AgreementFilter,
  type AgreementKey,
  countAgreements,
  type FoundAgreement,
  findAgreement,
  searchAgreements,
} from "../tables/agreement.ts";
import { listEvents, resourcesOf } from "../tables/event.ts";
import { instrumentIdsAsOf } from "../tables/payment-instrument.ts";
import { viewAgreement, viewAgreementEvent, viewAgreementFilters } from "../views/agreement.ts";
import { numbered } from "../views/event.ts";
import { viewLinkHeader, viewNextCursor } from "../views/next-cursor.ts";

type AgreementHandlers = Pick<
  Handlers<operations>,
  "searchAgreements" | "getAgreement" | "listAgreementEvents"
>;
type SearchQuery = operations["searchAgreements"]["parameters"]["query"];

const displaySizeMax = 20;
const pageLimits = { countMax: 200, bytesMax: pageBytesMax };

const restrictionMissing = problem(400, ["One of [service_id] or [account_id] fields is required"]);
const searchRestrictionMissing = problem(400, [
  "One of field [service_id] or field [account_id] are required",
]);
const notFound = (id: string) => problem(404, [`Agreement with id [${id}] not found`]);

/**
 * `primary` is read by requests that ask for consistency. It is the same reader unless the service reads from a replica.
 * `limitMs` is the limit for reading a history, in milliseconds.
 */
export const agreementHandlers = (
  reader: Reader,
  primary: Reader,
  cursors: Cursors,
  limitMs: number,
): AgreementHandlers => ({
  async searchAgreements(request) {
    const { query, owner } = request;
    const { service_id, account_id, override_account_or_service_id_restriction: isUnrestricted } = query;
    if (!service_id && !account_id && !isUnrestricted) return searchRestrictionMissing;
    const sql = reader.lanes(owner, { account_id, service_id });
    const filter = filterOf(query);
    const found = await readPage(request, cursors.page, {
      filters: viewAgreementFilters(query),
      displaySizeMax,
      rows: (after, limits) => searchAgreements(sql, { ...filter, after }, limits),
      count: () => countAgreements(sql, filter),
    });
    if ("status" in found) return found;
    const { headers, page, rows, links } = found;
    const results = await mapInTurns(rows, viewAgreement);
    return { status: 200, headers, body: { ...page, results, _links: links } };
  },

  async getAgreement({ path: { agreementExternalId: id }, query, headers, owner }) {
    const { account_id, service_id, override_account_or_service_id_restriction: isUnrestricted } = query;
    if (!account_id && !service_id && !isUnrestricted) return restrictionMissing;
    const { sql, lanes } = headers["X-Consistent"] ? primary : reader;
    const lane = lanes(owner, { account_id, service_id });
    const key = { external_id: id, gateway_account_id: account_id, service_id };
    const asOf = query.as_of && readInstant(query.as_of);
    const row = await (asOf ? asOfReader(lane, asOf, limitMs).agreement(key) : findWhole(sql, lane, key));
    return row ? { status: 200, body: viewAgreement(row) } : notFound(id);
  },

  async listAgreementEvents({ path: { agreementExternalId: id }, query, url, owner }) {
    const { account_id, service_id, cursor } = query;
    const asOf = query.as_of && readInstant(query.as_of);
    const after = cursor === undefined ? undefined : cursors.event.read(cursor);
    if (cursor !== undefined && !after) return unknownCursor;
    const lane = reader.lanes(owner, { account_id, service_id });
    const key = { external_id: id, gateway_account_id: account_id, service_id };
    const agreement = await (asOf
      ? asOfReader(lane, asOf, limitMs).agreementAlone(key)
      : findAgreement(reader.sql, key, 0));
    if (!agreement) return notFound(id);
    const instruments = await instrumentIdsAsOf(lane, id, asOf ?? "infinity");
    const resources = [
      ...resourcesOf(["agreement"], [id]),
      ...resourcesOf(["payment_instrument"], instruments),
    ];
    const { events, isLast } = await listEvents(lane, resources, stateEventTypes, {
      after,
      asOf,
      ...pageLimits,
    });
    const last = isLast ? undefined : events.at(-1);
    const links = viewNextCursor(url, query, last && cursors.event.write(last));
    const views = await mapInTurns(events, viewAgreementEvent);
    return {
      status: 200,
      headers: viewLinkHeader(links),
      body: isExtended(query) ? { events: numbered(views, events), _links: links } : { events: views },
    };
  },
});

async function findWhole(sql: Sql, lane: Sql, key: AgreementKey): Promise<FoundAgreement | undefined> {
  const row = await findAgreement(sql, key, quickBytesMax);
  return row?.is_whole === false ? findAgreement(lane, key) : row;
}

const filterOf = (query: SearchQuery): AgreementFilter => ({
  service_ids: query.service_id,
  account_ids: query.account_id,
  state: query.status,
  [query.exact_reference_match ? "exact_reference" : "reference"]: query.reference,
  live: query.live,
});
