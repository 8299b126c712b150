import { effectiveMaxima } from "../../../generated/ledger.maxima.ts";
import type { components, operations } from "../../../generated/ledger.ts";
import { failure } from "../../http/failure.ts";
import type { Handlers } from "../../http/handlers.ts";
import { missing, pageMissing } from "../requests/failures.ts";
import type { Reader } from "../requests/lanes.ts";
import { findPayout, searchPayouts, settledBy } from "../tables/payout.ts";
import { viewPageLinks } from "../views/links.ts";
import { payoutStateShownAs, viewPayout, viewPayoutDetail, viewPayoutFilters } from "../views/payout.ts";

/** These links always include the last page. */
type PayoutLinks = components["schemas"]["PayoutLinks"];

const accountMissing = missing("gateway_account_id");

const { display_size: displaySizeMax } = effectiveMaxima.searchPayouts;

export const payoutHandlers = ({ sql, lanes }: Reader) =>
  ({
    async searchPayouts({ query, url, owner }) {
      const { gateway_account_id: accounts, state, page } = query;
      if (!accounts && !query.override_account_id_restriction) return accountMissing;
      const displaySize = Math.min(query.display_size, displaySizeMax);
      const shown = { offset: (page - 1) * displaySize, countMax: displaySize };
      const wanted = state && payoutStateShownAs(state);
      const { rows, total } = await searchPayouts(lanes(owner, accounts), accounts, wanted, shown);
      const count = rows.length;
      if (count === 0 && total > 0) return pageMissing;
      const filters = viewPayoutFilters(query);
      const links = viewPageLinks({ url, filters, page, displaySize, count, total }) as PayoutLinks;
      return { status: 200, body: { total, count, page, results: rows.map(viewPayout), _links: links } };
    },

    async getPayout({ path: { gatewayPayoutId }, query, owner }) {
      const { gateway_account_id: account } = query;
      if (!account && !query.override_account_id_restriction) return accountMissing;
      const payout = await findPayout(sql, gatewayPayoutId, account);
      if (!payout) return failure(404, `Payout with id [${gatewayPayoutId}] not found`);
      // Only now, since it reads everything that the payout settles.
      const settled = await settledBy(lanes(owner, account), gatewayPayoutId);
      return { status: 200, body: viewPayoutDetail(payout, settled) };
    },
  }) satisfies Partial<Handlers<operations>>;
