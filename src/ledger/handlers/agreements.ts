import { effectiveMaxima } from "../../../generated/ledger.maxima.ts";
import { failure } from "../../http/failure.ts";
import { bodyOf, listBody } from "../../http/json-body.ts";
import { readInstant } from "../../values/instant.ts";
import { pastAgreement, pastAgreementRow } from "../past/agreement.ts";
import { pastAsOf } from "../past/past.ts";
import { stateEventTypes } from "../projection/states.ts";
import type { Cursors } from "../requests/cursor.ts";
import { missing, unknownCursor } from "../requests/failures.ts";
import { findWhole, type Reader } from "../requests/lanes.ts";
import { isExtended, listLimits, pageBody, readPage } from "../requests/page.ts";
import { withPositions } from "../requests/reading.ts";
import {
  type AgreementFilter,
  countAgreements,
  findAgreement,
  searchAgreements,
} from "../tables/agreement.ts";
import { resourcesOf } from "../tables/event.ts";
import { listEvents } from "../tables/event-list.ts";
import { instrumentIdsAsOf } from "../tables/payment-instrument.ts";
import { agreementEventWriter, agreementWriter, viewAgreementFilters } from "../views/agreement.ts";
import { viewNextPage } from "../views/links.ts";

const { display_size: displaySizeMax } = effectiveMaxima.searchAgreements;

const restrictionMissing = missing("account_id", "One of [service_id] or [account_id] fields is required");
const searchRestrictionMissing = missing(
  "account_id",
  "One of field [service_id] or field [account_id] are required",
);
const notFound = (id: string) => failure(404, `Agreement with id [${id}] not found`);

/**
 * `primary` is read by requests that ask for consistency. It is the same reader unless the service reads from a replica.
 */
export const agreementHandlers = (reader: Reader, primary: Reader, cursors: Cursors) =>
  withPositions(reader, cursors, {
    async searchAgreements(request, reading) {
      const { query, owner } = request;
      const { service_id, account_id, override_account_or_service_id_restriction: isUnrestricted } = query;
      if (!service_id && !account_id && !isUnrestricted) return searchRestrictionMissing;
      const sql = reading.at(reader.lanes(owner, { account_id, service_id }));
      const filter: AgreementFilter = {
        service_ids: service_id,
        account_ids: account_id,
        state: query.status,
        [query.exact_reference_match ? "exact_reference" : "reference"]: query.reference,
        live: query.live,
      };
      const found = await readPage(request, cursors.page, {
        filters: viewAgreementFilters(query),
        displaySizeMax,
        rows: (after, limits) => searchAgreements(sql, { ...filter, after }, limits),
        count: () => countAgreements(sql, filter),
      });
      if ("status" in found) return found;
      return { status: 200, headers: found.headers, ...(await pageBody(found, agreementWriter)) };
    },

    async getAgreement({ path: { agreementExternalId: id }, query, headers, owner }, reading) {
      const { account_id, service_id, override_account_or_service_id_restriction: isUnrestricted } = query;
      if (!account_id && !service_id && !isUnrestricted) return restrictionMissing;
      const from = headers["X-Consistent"] ? primary : reader;
      const named = { account_id, service_id };
      const key = { external_id: id, gateway_account_id: account_id, service_id };
      const asOf = query.as_of && readInstant(query.as_of);
      const row = await (asOf
        ? pastAgreement(pastAsOf(reading.at(from.lanes(owner, named)), asOf, from.limitMs), key)
        : findWhole(
            from,
            async (sql, bytesMax) => findAgreement(reading.at(sql), key, bytesMax),
            owner,
            named,
          ));
      return row ? { status: 200, body: bodyOf(agreementWriter, row) } : notFound(id);
    },

    async listAgreementEvents({ path: { agreementExternalId: id }, query, url, owner }, reading) {
      const { account_id, service_id } = query;
      const asOf = query.as_of && readInstant(query.as_of);
      const after = cursors.event.read(query.cursor);
      if (after === null) return unknownCursor;
      const lane = reading.at(reader.lanes(owner, { account_id, service_id }));
      const key = { external_id: id, gateway_account_id: account_id, service_id };
      const agreement = await (asOf
        ? pastAgreementRow(pastAsOf(lane, asOf, reader.limitMs), key)
        : findAgreement(reading.at(reader.sql), key, 0));
      if (!agreement) return notFound(id);
      const instruments = await instrumentIdsAsOf(lane, id, asOf ?? "infinity");
      const resources = [
        ...resourcesOf(["agreement"], [id]),
        ...resourcesOf(["payment_instrument"], instruments),
      ];
      const page = { after, asOf, ...listLimits };
      const { events, isLast } = await listEvents(lane, resources, stateEventTypes, page);
      const last = isLast ? undefined : events.at(-1);
      const { links, headers } = viewNextPage(url, query, last && cursors.event.write(last));
      const write = agreementEventWriter(isExtended(query));
      const _links = isExtended(query) ? links : undefined;
      const body = await listBody({}, "events", { elements: events, write }, { _links });
      return { status: 200, headers, body };
    },
  });
