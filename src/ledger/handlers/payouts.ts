import { effectiveMaxima } from "../../../generated/ledger.maxima.ts";
import type { components, operations } from "../../../generated/ledger.ts";
import type { LimitedSql } from "../../database/database.ts";
import { failure } from "../../http/failure.ts";
import { ceilInstant, readInstant } from "../../values/instant.ts";
import type { Cursors } from "../requests/cursor.ts";
import { missing, pageMissing } from "../requests/failures.ts";
import type { Reader } from "../requests/lanes.ts";
import { type Reading, withReadings } from "../requests/reading.ts";
import {
  type FoundPayout,
  findPayout,
  type PayoutFilter,
  searchPayouts,
  settledBy,
} from "../tables/payout.ts";
import { viewPageLinks } from "../views/links.ts";
import { payoutStateShownAs, viewPayout, viewPayoutDetail, viewPayoutFilters } from "../views/payout.ts";

type Schemas = components["schemas"];
/** These links always include the last page. */
type PayoutLinks = Schemas["PayoutLinks"];

const accountMissing = missing("gateway_account_id");

const { display_size: displaySizeMax } = effectiveMaxima.searchPayouts;
/** Each payout of an extended page reads everything that it settles. */
const extendedSizeMax = 100;

const payoutFilterOf = (query: operations["searchPayouts"]["parameters"]["query"]): PayoutFilter => ({
  gateway_account_id: query.gateway_account_id,
  state: query.state && payoutStateShownAs(query.state),
  from_date: query.from_date && readInstant(query.from_date),
  to_date: query.to_date && ceilInstant(query.to_date),
  live: query.live,
});

/** The payouts with what they settle. */
async function withSettled(
  lane: LimitedSql,
  reading: Reading,
  payouts: FoundPayout[],
): Promise<Schemas["PayoutDetail"][]> {
  const ids = payouts.map(({ gateway_payout_id }) => gateway_payout_id);
  const settled = await settledBy(reading.at(lane, { settledBy: ids }), ids);
  return payouts.map((payout) => viewPayoutDetail(payout, settled.get(payout.gateway_payout_id) ?? []));
}

export const payoutHandlers = (reader: Reader, cursors: Cursors) =>
  withReadings(reader, cursors, {
    async searchPayouts({ query, url, owner }, reading) {
      const { gateway_account_id: accounts, page, extended } = query;
      if (!accounts && !query.override_account_id_restriction) return accountMissing;
      const displaySize = Math.min(query.display_size, extended ? extendedSizeMax : displaySizeMax);
      const shown = { offset: (page - 1) * displaySize, countMax: displaySize };
      const lane = reader.lanes(owner, accounts);
      const { rows, total } = await searchPayouts(reading.at(lane), payoutFilterOf(query), shown);
      const count = rows.length;
      if (count === 0 && total > 0) return pageMissing;
      const filters = viewPayoutFilters(query);
      const links = viewPageLinks({ url, filters, page, displaySize, count, total }) as PayoutLinks;
      const results = extended ? await withSettled(lane, reading, rows) : rows.map(viewPayout);
      return { status: 200, body: { total, count, page, results, _links: links } };
    },

    async getPayout({ path: { gatewayPayoutId }, query, owner }, reading) {
      const { gateway_account_id: account } = query;
      if (!account && !query.override_account_id_restriction) return accountMissing;
      const lane = reader.lanes(owner, account);
      const sql = reading.at(reading.isPast ? lane : reader.sql);
      const payout = await findPayout(sql, gatewayPayoutId, account);
      if (!payout) return failure(404, `Payout with id [${gatewayPayoutId}] not found`);
      // Only now, since it reads everything that the payout settles.
      const [body] = await withSettled(lane, reading, [payout]);
      return { status: 200, body: body as Schemas["PayoutDetail"] };
    },
  });
