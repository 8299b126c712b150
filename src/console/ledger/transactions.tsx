import { CopyButton } from "../elements.tsx";
import { formatCount, formatMoney } from "../format.ts";
import type { Place } from "../fragment.ts";
import { Show, useKept } from "../load.tsx";
import { Pagination } from "../pagination.tsx";
import { Heading } from "../view.tsx";
import { Changes } from "./changes.tsx";
import { cursorIn, type Report, type Search, useClient } from "./client.ts";
import { CsvDownload } from "./csv-download.tsx";
import { filtersIn, isReported } from "./filters.ts";
import { NothingFound } from "./nothing-found.tsx";
import { amountOf, figuresOf, readReport } from "./reports.ts";
import { SearchBox } from "./search-box.tsx";
import { SearchFilters } from "./search-filters.tsx";
import { useFilters, useSelection } from "./selection.ts";
import { TransactionView } from "./transaction.tsx";
import { TransactionTable } from "./transaction-table.tsx";

const pageSize = 50;
/** Counting more would take long. */
const totalMax = 10_000;

/** `#/transactions` is a search, `#/transactions/ID` a transaction. */
export const Transactions = (place: Place) =>
  place.path.length > 1 ? (
    <TransactionView {...place} key={place.path[1]} />
  ) : (
    <TransactionSearch {...place} />
  );

function TransactionSearch(place: Place) {
  const filters = filtersIn(place.parameters);
  const selected = useFilters();
  const { accounts, period } = useSelection();
  const report = isReported(filters) ? { ...(filters as Report), ...selected } : undefined;
  const days = period?.bounds.map((bound) => bound.replace(":", "")).join(" to ");
  return (
    <>
      <Heading>Transactions</Heading>
      <SearchBox place={place} key={String(place.parameters)} />
      <SearchFilters place={place} />
      <FoundTransactions
        place={place}
        search={{ ...filters, ...selected }}
        report={report}
        fileName={["transactions", accounts.slice(0, 3).join(" "), days].filter(Boolean).join(" ")}
      />
      {report && <Changes place={place} report={report} />}
    </>
  );
}

interface FoundProps {
  place: Place;
  search: Search;
  /** The report on the same transactions, if there is one. */
  report?: Report | undefined;
  /** The name of the CSV, without its date. */
  fileName: string;
}

/** The transactions of a search by pages, with their number, their sums and their CSV. */
export function FoundTransactions({ place, search, report, fileName }: FoundProps) {
  const client = useClient();
  const cursor = place.parameters.get("cursor") ?? undefined;
  const counting = { limit_total: true, limit_total_size: totalMax };
  const key = JSON.stringify(search);
  const results = useKept(`search ${cursor} ${key}`, (signal) =>
    client.searchTransactions(
      { ...search, ...counting, cursor, display_size: pageSize, extended: true },
      { signal },
    ),
  );
  return (
    <Show of={results} name="transactions">
      {({ results: found, total, _links }) =>
        found.length === 0 ? (
          <NothingFound thing="transaction" path={["transactions"]} />
        ) : (
          <>
            <div class="above">
              <p role="status">
                {report ? (
                  <Sums report={report} />
                ) : (
                  <strong>
                    {total >= totalMax ? `${formatCount(totalMax)} or more` : formatCount(total)}{" "}
                    {total === 1 ? "transaction" : "transactions"}
                  </strong>
                )}
              </p>
              <CsvDownload search={search} fileName={fileName} />
            </div>
            <TransactionTable label="Transactions" transactions={found} />
            <Pagination {...place} next={cursorIn(_links)} />
          </>
        )
      }
    </Show>
  );
}

/** The number and the sums of all matches, from the report on them. */
function Sums({ report }: { report: Report }) {
  const client = useClient();
  const read = useKept(`sums ${JSON.stringify(report)}`, (signal) =>
    readReport(client, { ...report, group_by: ["type", "state"] }, signal),
  );
  return (
    <Show of={read} name="sums">
      {({ groups: found, position }) => {
        const count = found.reduce((sum, group) => sum + group.count, 0);
        const { received, refunded, fees, net } = figuresOf(found);
        const sums = { received, refunded, fees, net };
        const isMoney = Object.values(sums).some((sum) => sum !== 0n);
        return (
          <>
            <strong>
              {formatCount(count)} {count === 1 ? "transaction" : "transactions"}
            </strong>
            <span class="quiet">
              {Object.entries(isMoney ? sums : { amount: amountOf(found) }).map(
                ([name, sum]) => ` · ${name} ${formatMoney(sum)}`,
              )}
            </span>{" "}
            {position && <CopyButton text={position}>Copy position</CopyButton>}
          </>
        );
      }}
    </Show>
  );
}
