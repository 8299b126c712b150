import type { ComponentChildren } from "preact";
import type { LedgerClient } from "../../client/client.ts";
import { type Column, Copied, Facts, RawJson, Table, Text, Time } from "../elements.tsx";
import { formatCount, formatMoney } from "../format.ts";
import type { Place } from "../fragment.ts";
import { Show, useKept } from "../load.tsx";
import { PagesByNumber } from "../pagination.tsx";
import { Heading } from "../view.tsx";
import { withAccount } from "./account-column.tsx";
import { type Payout, useClient } from "./client.ts";
import { payoutLink } from "./links.ts";
import { NothingFound } from "./nothing-found.tsx";
import { type Accounts, useFilters, useReadOne, useSelection } from "./selection.ts";
import { State } from "./state.tsx";
import { FoundTransactions } from "./transactions.tsx";

type PayoutFilters = Omit<NonNullable<Parameters<LedgerClient["searchPayouts"]>[0]>, "gateway_account_id">;

/** A page of payouts, with what they settle. */
export async function readPayouts(
  client: LedgerClient,
  filters: Accounts & PayoutFilters & { account_id?: string[] },
  signal: AbortSignal,
) {
  const { account_id: gateway_account_id, ...others } = filters;
  const page = await client.searchPayouts({ ...others, gateway_account_id, extended: true }, { signal });
  return { ...page, results: page.results as Payout[] };
}

const pageSize = 20;

/** `#/payouts` is the list, `#/payouts/ID` a payout. */
export const Payouts = (place: Place) =>
  place.path.length > 1 ? <PayoutView {...place} key={place.path[1]} /> : <PayoutList {...place} />;

function PayoutList(place: Place) {
  const client = useClient();
  const filters = useFilters();
  const page = Number(place.parameters.get("page") ?? 1) || 1;
  const payouts = useKept(`payouts ${page} ${JSON.stringify(filters)}`, (signal) =>
    readPayouts(client, { ...filters, page, display_size: pageSize }, signal),
  );
  return (
    <>
      <Heading>Payouts</Heading>
      <Show of={payouts} name="payouts">
        {({ results, total }) =>
          results.length === 0 ? (
            <NothingFound thing="payout" path={["payouts"]} />
          ) : (
            <>
              <p role="status">
                {formatCount(total)} {total === 1 ? "payout" : "payouts"}
              </p>
              <Table
                hasLinks
                label="Payouts"
                columns={withAccount(columns, results)}
                rows={results}
                keyOf={({ gateway_payout_id, gateway_account_id }) =>
                  `${gateway_account_id} ${gateway_payout_id}`
                }
              />
              <PagesByNumber {...place} page={page} last={Math.ceil(total / pageSize)} />
            </>
          )
        }
      </Show>
    </>
  );
}

const columns: Column<Payout>[] = [
  { name: "Created", class: "short", cell: ({ created_date }) => <Time at={created_date} isShort /> },
  {
    name: "Payout",
    isHeader: true,
    cell: ({ gateway_account_id, gateway_payout_id }) => (
      <a href={payoutLink(gateway_payout_id, gateway_account_id)}>
        <Text>{gateway_payout_id}</Text>
      </a>
    ),
  },
  { name: "State", class: "wide", cell: ({ state }) => <State status={state.status} /> },
  {
    name: "Settles",
    class: "number wide",
    cell: ({ settled_amount }) => formatMoney(settled_amount),
  },
  { name: "Paid out", class: "number", cell: ({ amount }) => formatMoney(amount) },
  { name: "Difference", class: "number", cell: ({ difference }) => <Difference of={difference} /> },
];

const Difference = ({ of: difference }: { of: number | bigint }) =>
  Number(difference) === 0 ? "–" : <strong class="bad">{formatMoney(difference)}</strong>;

/** `#/payouts/ID`: how a payout adds up, and the transactions that it settles. */
function PayoutView(place: Place) {
  const { path, parameters } = place;
  const [, id = ""] = path;
  const client = useClient();
  const account = parameters.get("gateway_account_id");
  const readOne = useReadOne(account);
  const { knownAt: known_at } = useSelection();
  const payout = useKept(`payout ${account} ${id} ${known_at}`, (signal) =>
    readOne(({ account_id, ...all }: { account_id?: string; override_account_id_restriction?: true }) =>
      client.getPayout({ gatewayPayoutId: id, gateway_account_id: account_id, known_at, ...all }, { signal }),
    ),
  );
  return (
    <>
      <Heading title={`Payout ${id}`}>
        {payout.value ? formatMoney(payout.value.amount) : "Payout"}{" "}
        {payout.value && <State status={payout.value.state.status} />}
      </Heading>
      <Show of={payout} name="payout">
        {(found) => (
          <>
            <p>
              Payout <Copied text={id} />
            </p>
            <Sum payout={found} />
            <Facts
              facts={[
                ["Created", <Time key="created" at={found.created_date} />],
                ["Paid out", found.paid_out_date && <Time at={found.paid_out_date} />],
                ["Account", found.gateway_account_id],
                ["Service", found.service_id],
                ["Money", found.live === null ? undefined : found.live ? "Real" : "Test"],
              ]}
            />
            <h2>Transactions</h2>
            <FoundTransactions
              place={place}
              search={{
                gateway_payout_id: id,
                known_at,
                ...(found.gateway_account_id === null
                  ? { override_account_id_restriction: true }
                  : { account_id: [found.gateway_account_id] }),
              }}
              fileName={`payout ${id}`}
            />
            <RawJson value={found} />
          </>
        )}
      </Show>
    </>
  );
}

/** The sum of a payout, line by line. */
function Sum({ payout: { settled, settled_amount, amount, difference } }: { payout: Payout }) {
  const of = (type: string) => settled.find(({ transaction_type }) => transaction_type === type);
  const [payments, refunds, disputes] = ["PAYMENT", "REFUND", "DISPUTE"].map(of);
  const minus = (value: number | bigint = 0) => -BigInt(value);
  const fees = settled.reduce((sum, { fee }) => sum + BigInt(fee), 0n);
  const lines: [ComponentChildren, number | bigint][] = [
    [counted("Payments", payments), payments?.amount ?? 0],
    ["Fees", -fees],
    [counted("Refunds", refunds), minus(refunds?.amount)],
    // What a dispute takes is more than its fee.
    [counted("Disputes", disputes), BigInt(disputes?.settled_amount ?? 0) + BigInt(disputes?.fee ?? 0)],
  ];
  const known = lines.reduce((sum, [, value]) => sum + BigInt(value), 0n);
  const others = BigInt(settled_amount) - known;
  if (others !== 0n) lines.push(["Surcharges and other amounts", others]);
  const isRight = Number(difference) === 0;
  return (
    <table class="sum">
      <caption class="unseen">How the payout adds up</caption>
      <tbody>
        {lines.map(([name, value], index) => (
          <tr key={index}>
            <th scope="row">{name}</th>
            <td class="number">{formatMoney(value)}</td>
          </tr>
        ))}
        <tr class="total">
          <th scope="row">= Settles</th>
          <td class="number">{formatMoney(settled_amount)}</td>
        </tr>
        <tr>
          <th scope="row">Paid out</th>
          <td class="number">{formatMoney(amount)}</td>
        </tr>
        <tr class={isRight ? "good" : "bad"}>
          <th scope="row">{isRight ? "It adds up" : "Difference"}</th>
          <td class="number">{formatMoney(difference)}</td>
        </tr>
      </tbody>
    </table>
  );
}

const counted = (name: string, settled: { count: number } | undefined) => (
  <>
    {name} <span class="quiet">({formatCount(settled?.count ?? 0)})</span>
  </>
);
