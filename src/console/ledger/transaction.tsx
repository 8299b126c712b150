import type { LedgerClient } from "../../client/client.ts";
import { Copied, RawJson, Time } from "../elements.tsx";
import { formatInstant, formatMoney, formatName } from "../format.ts";
import type { Place } from "../fragment.ts";
import { Show, useKept } from "../load.tsx";
import { Heading } from "../view.tsx";
import { cursorIn, type Transaction, useClient } from "./client.ts";
import { transactionLink } from "./links.ts";
import { referenceOf, signedAmount } from "./payer.ts";
import { linkTo, useReadOne, useSelection } from "./selection.ts";
import { State, statusName } from "./state.tsx";
import { Timeline } from "./timeline.tsx";
import { TransactionFacts } from "./transaction-facts.tsx";
import { TransactionTable } from "./transaction-table.tsx";

/** `#/transactions/ID`: one transaction, with its account and, for an earlier state, `as_of`. */
export function TransactionView({ path, parameters }: Place) {
  const client = useClient();
  const [, id = ""] = path;
  const as_of = parameters.get("as_of") ?? undefined;
  const account = parameters.get("gateway_account_id");
  const readOne = useReadOne(account);
  const { knownAt: known_at } = useSelection();
  const transaction = useKept(`transaction ${id} ${account} ${as_of} ${known_at}`, (signal) =>
    readOne((ofAccount) =>
      client.getTransaction({ transactionExternalId: id, ...ofAccount, as_of, known_at }, { signal }),
    ),
  );
  const { value: found, error } = transaction;
  const past = as_of && `as of ${formatInstant(as_of)}`;
  const name = found ? `${formatName(found.transaction_type)} ${referenceOf(found)}` : `Transaction ${id}`;
  return (
    <>
      <Heading title={[name, past].filter(Boolean).join(" ")}>
        {found?.amount === undefined ? name : formatMoney(signedAmount(found))}{" "}
        {found && <State status={found.state.status} />}
      </Heading>
      {past && (
        <p class="notice past" role="status">
          This is the transaction {past}. <a href={transactionLink(id, account)}>Show it as it is now</a>
        </p>
      )}
      <Show of={transaction} name="transaction">
        {(found) => <TransactionDetails transaction={found} asOf={as_of} />}
      </Show>
      {error !== undefined && <OtherKinds text={id} />}
    </>
  );
}

/** An id that leads to no transaction may be something else. */
const OtherKinds = ({ text }: { text: string }) => (
  <p>
    Look for it as <a href={linkTo(["transactions"], { reference: text })}>a reference</a>,{" "}
    <a href={linkTo(["transactions"], { gateway_transaction_id: text })}>an id of the provider</a> or{" "}
    <a href={linkTo(["payouts", text])}>a payout</a>.
  </p>
);

interface DetailsProps {
  transaction: Transaction;
  /** The instant as of which the transaction is shown; undefined for now. */
  asOf: string | undefined;
}

type EventPage = Awaited<ReturnType<LedgerClient["listTransactionEvents"]>>;

/** What the ledger knows of a transaction, and of what belongs to it if its account is known. */
function TransactionDetails({ transaction, asOf }: DetailsProps) {
  const { transaction_id: id, transaction_type, gateway_account_id: account, created_date } = transaction;
  const client = useClient();
  const { knownAt: known_at } = useSelection();
  const search = {
    transactionExternalId: id,
    gateway_account_id: account ?? "",
    include_all_events: true,
    known_at,
  };
  const readEvents = (cursor?: string, signal?: AbortSignal) =>
    client.listTransactionEvents({ ...search, extended: true, cursor }, { signal });
  const events = useKept<EventPage | undefined>(`events ${account} ${id} ${known_at}`, async (signal) =>
    account === undefined ? undefined : readEvents(undefined, signal),
  );
  return (
    <>
      <p>
        {formatName(transaction_type)} <Copied text={referenceOf(transaction)} />, <Time at={created_date} />
      </p>
      <FailureBanner transaction={transaction} events={events.value?.events ?? []} />
      <TransactionFacts transaction={transaction} />
      {account !== undefined && transaction_type === "PAYMENT" && (
        <RefundsAndDisputes parent={id} account={account} isPast={asOf !== undefined} />
      )}
      <Show of={events} name="events">
        {(first) =>
          first && <Timeline id={id} account={account} asOf={asOf} first={first} readPage={readEvents} />
        }
      </Show>
      <RawJson value={transaction} />
    </>
  );
}

/** Why a transaction failed, in the words of the provider where an event has them. */
function FailureBanner({
  transaction: { state },
  events,
}: {
  transaction: Transaction;
  events: EventPage["events"];
}) {
  if (!state.message && !["declined", "error", "lost"].includes(state.status)) return null;
  const words = events.flatMap(({ data }) => providersWords(data)).at(-1);
  return (
    <p class="notice failed">
      <strong>
        {statusName(state.status)}
        {words && (
          <>
            : <bdi>{words}</bdi>
          </>
        )}
      </strong>
      {state.message && (
        <>
          {" "}
          {state.message} ({state.code}).
        </>
      )}
    </p>
  );
}

/** The members of an event's data with the provider's words about a failure. */
const wordMembers = ["gateway_rejection_reason", "failure_message", "gateway_error_message", "error_message"];

const providersWords = (data: Record<string, unknown>): string[] =>
  wordMembers.flatMap((name) => (typeof data[name] === "string" && data[name] !== "" ? [data[name]] : []));

interface ChildrenProps {
  parent: string;
  account: string;
  isPast: boolean;
}

/** What belongs to a payment, which can be shown as of an earlier instant. */
function RefundsAndDisputes({ parent, account, isPast }: ChildrenProps) {
  const client = useClient();
  const { knownAt: known_at } = useSelection();
  const children = useKept(`children ${account} ${parent} ${known_at}`, (signal) =>
    client.listChildTransactions(
      { parentTransactionExternalId: parent, gateway_account_id: account, extended: true, known_at },
      { signal },
    ),
  );
  return (
    <Show of={children} name="refunds and disputes">
      {({ transactions, _links }) =>
        transactions.length > 0 && (
          <>
            <h2>
              Refunds and disputes
              {isPast && (known_at === undefined ? ", as they are now" : ", with all events known then")}
            </h2>
            <TransactionTable label="Refunds and disputes" transactions={transactions} isShort />
            {cursorIn(_links) !== undefined && <p>There are more than these {transactions.length}.</p>}
          </>
        )
      }
    </Show>
  );
}
