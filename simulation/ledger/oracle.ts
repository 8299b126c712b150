import contract from "../../generated/ledger.json" with { type: "json" };
import { accountNamedBy, eventKey, type LedgerEvent } from "./messages.ts";

/**
 * The reference model of the ledger computes the expected responses for a set of events. It is written from the contract
 * alone, whose tables it reads, and shares no code with the services. It stores only events and computes the rest, which
 * is slow and simple.
 */

type Members = Record<string, unknown>;
export type Query = Record<string, string>;

/** A payout, computed from its events. */
export type Payout = NonNullable<ReturnType<Oracle["payout"]>>;

/** A transaction, computed from its events. */
export interface Transaction extends Payout {
  type: "PAYMENT" | "REFUND" | "DISPUTE";
  parent: string | undefined;
  /** The parent's details if this is a child and both have the same account; otherwise its own. */
  paymentDetails: Members;
}

/** A row of the contract's table of event types. */
interface EventTypeRow {
  event_type: string;
  state?: string;
}

/** How the contract shows a state. */
interface StateRow {
  state: string;
  status: string;
  status_version_1?: string;
  finished: boolean;
  code?: string;
  message?: string;
}

const { description, ...eventTypes } = contract["x-event-types"];
const tables = contract["x-state-machine"];
const rowsOf = (...types: (keyof typeof eventTypes)[]): EventTypeRow[] =>
  types.flatMap((type): EventTypeRow[] => eventTypes[type].rows);
const statesSetBy = (...types: (keyof typeof eventTypes)[]) =>
  new Map(rowsOf(...types).map(({ event_type, state }) => [event_type, state]));

const transactionStateOf = statesSetBy("payment", "refund", "dispute");
const payoutStateOf = statesSetBy("payout");
export const agreementStatusOf = statesSetBy("agreement");
/** Of two events with the same timestamp, the one whose type is later in the contract is newer. */
const lifeCyclePosition = new Map(
  Object.keys(eventTypes)
    .flatMap((type) => rowsOf(type as keyof typeof eventTypes))
    .filter(({ state }) => state !== undefined)
    .map(({ event_type }, position) => [event_type, position]),
);

const stateRows = new Map(tables.transaction_states.rows.map((row: StateRow) => [row.state, row]));
/** The names of the states of a transaction. */
export const transactionStates = [...stateRows.keys()];
export const stateRow = (state: string) => stateRows.get(state) as StateRow;
const csvStates: { state: string; payment?: string; refund?: string; dispute?: string }[] =
  tables.csv_states.rows;

/** How a version shows the state of a transaction. */
export function statusOf(state: string, version: string | undefined): string {
  const { status, status_version_1 = status } = stateRow(state);
  return version === "1" ? status_version_1 : status;
}

function viewState(state: string, version?: string) {
  const { finished, code, message } = stateRow(state);
  return { status: statusOf(state, version), finished, code, message };
}

/** The order of texts by code point. */
export const compareBytes = (a: string, b: string) => Buffer.compare(Buffer.from(a), Buffer.from(b));
export const compareText = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);

export const compareOldestFirst = (a: LedgerEvent, b: LedgerEvent) =>
  compareText(a.timestamp, b.timestamp) ||
  (lifeCyclePosition.get(a.event_type) ?? -1) - (lifeCyclePosition.get(b.event_type) ?? -1) ||
  compareText(a.event_type, b.event_type) ||
  compareText(a.resource_type, b.resource_type) ||
  compareText(a.resource_external_id, b.resource_external_id);

export const text = (members: Members, name: string): string | undefined => {
  const value = Object.hasOwn(members, name) ? members[name] : undefined;
  return value === undefined || typeof value === "object" ? undefined : String(value);
};
const integer = (members: Members, name: string): number | undefined => {
  const value = Number(members[name] ?? "none");
  return Number.isInteger(value) ? value : undefined;
};
export const flag = (members: Members, name: string): boolean | undefined =>
  members[name] === undefined ? undefined : String(members[name]) === "true";
/** In UTC with three fraction digits. */
const date = (members: Members, name: string): string | undefined => {
  const time = Date.parse(String(members[name]));
  return Number.isNaN(time) ? undefined : new Date(time).toISOString();
};

const transactionTypes = ["payment", "refund", "dispute"];

const addTo = (sets: Map<string, Set<string>>, key: string, value: string) =>
  sets.set(key, (sets.get(key) ?? new Set()).add(value));

export class Oracle {
  readonly #events = new Map<string, LedgerEvent>();
  readonly #eventsByResource = new Map<string, LedgerEvent[]>();
  readonly #childrenOf = new Map<string, Set<string>>();
  readonly #instrumentsOf = new Map<string, Set<string>>();
  readonly #cache = new Map<string, Transaction | undefined>();

  constructor(events: Iterable<LedgerEvent> = []) {
    for (const event of events) this.add(event);
  }

  get events(): LedgerEvent[] {
    return [...this.#events.values()];
  }

  has = (event: LedgerEvent) => this.#events.has(eventKey(event));

  /** The first version of an event wins. */
  add(event: LedgerEvent): void {
    if (this.has(event)) return;
    this.#events.set(eventKey(event), event);
    const { resource_external_id: id, parent_resource_external_id: parent } = event;
    const events = this.#eventsByResource.get(id) ?? [];
    events.push(event);
    this.#eventsByResource.set(id, events);
    if (parent !== null) addTo(this.#childrenOf, parent, id);
    const agreement = text(event.event_details, "agreement_external_id");
    if (event.resource_type === "payment_instrument" && agreement !== undefined)
      addTo(this.#instrumentsOf, agreement, id);
    this.#cache.clear();
  }

  resourceIds = (): string[] => [...this.#eventsByResource.keys()];

  /** The payment instruments of which an event has ever named this agreement. */
  instrumentsEverOf = (agreement: string): string[] => [...(this.#instrumentsOf.get(agreement) ?? [])];

  /** All events that can change a response about these transactions, their children, or these agreements. */
  eventsAbout(ids: Iterable<string>): LedgerEvent[] {
    const family = new Set(
      [...ids].flatMap((id) => [id, ...(this.#childrenOf.get(id) ?? []), ...this.instrumentsEverOf(id)]),
    );
    const referenced = [...family].flatMap((id) =>
      (this.#eventsByResource.get(id) ?? []).flatMap(
        ({ parent_resource_external_id: parent, event_details }) => [
          parent ?? id,
          text(event_details, "gateway_payout_id") ?? id,
        ],
      ),
    );
    return [...new Set([...family, ...referenced])].flatMap((id) => this.#eventsByResource.get(id) ?? []);
  }

  /** The events of a resource, oldest first. */
  eventsOf = (id: string, types: string[]): LedgerEvent[] =>
    (this.#eventsByResource.get(id) ?? [])
      .filter(({ resource_type }) => types.includes(resource_type))
      .sort(compareOldestFirst);

  #transactionOf(id: string): Transaction | undefined {
    if (!this.#cache.has(id)) this.#cache.set(id, this.#fold(id));
    return this.#cache.get(id);
  }

  #fold(id: string): Transaction | undefined {
    const events = this.eventsOf(id, transactionTypes);
    const newest = events.at(-1);
    if (newest === undefined) return undefined;
    const columns = commonColumns(events);
    const { account, details } = columns;
    const type = newest.resource_type.toUpperCase() as Transaction["type"];
    const parent = newestOf(events, (event) => event.parent_resource_external_id);
    const parentEvents =
      type === "PAYMENT" || parent === undefined ? [] : this.eventsOf(parent, transactionTypes);
    const parentDetails = mergeDetails(parentEvents);
    const isSameAccount = account !== undefined && text(parentDetails, "gateway_account_id") === account;
    return {
      id,
      type,
      parent,
      ...columns,
      state: newestOf(events, ({ event_type }) => transactionStateOf.get(event_type)) ?? "UNDEFINED",
      paymentDetails: isSameAccount ? parentDetails : details,
      paidOutDate: this.#paidOutDate(text(details, "gateway_payout_id"), account),
    };
  }

  /** A payout settles only transactions of its own account. */
  #paidOutDate(payoutId: string | undefined, account: string | undefined): string | undefined {
    if (payoutId === undefined || account === undefined) return undefined;
    const payout = this.payout(payoutId);
    return payout?.account === account ? payout.paidOutDate : undefined;
  }

  /** Undefined if the payout has no event. */
  payout(id: string) {
    const events = this.eventsOf(id, ["payout"]);
    if (events.length === 0) return undefined;
    const columns = commonColumns(events);
    return {
      id,
      ...columns,
      state: newestOf(events, ({ event_type }) => payoutStateOf.get(event_type)) ?? "UNDEFINED",
      paidOutDate: date(columns.details, "paid_out_date"),
    };
  }

  /** Every payout with an event. */
  payouts = (): Payout[] => this.resourceIds().flatMap((id) => this.payout(id) ?? []);

  /** An oracle with the events up to `until` that concern these transactions. */
  asOf = (ids: string[], until: string): Oracle =>
    new Oracle(this.eventsAbout(ids).filter(({ timestamp }) => timestamp <= until));

  /** Undefined if there is no such transaction or it has no account. */
  accountOf = (id: string): string | undefined => this.#transactionOf(id)?.account;

  /** The body of a lookup; undefined for 404. */
  transaction(id: string, { as_of, ...query }: Query = {}): object | undefined {
    if (as_of !== undefined) return this.asOf([id], as_of).transaction(id, query);
    const transaction = this.#transactionOf(id);
    const matches =
      transaction !== undefined &&
      (query.account_id === undefined || transaction.account === query.account_id) &&
      (query.transaction_type === undefined || transaction.type === query.transaction_type.toUpperCase()) &&
      (query.parent_external_id === undefined || transaction.parent === query.parent_external_id);
    return matches ? viewOf(transaction, query.status_version) : undefined;
  }

  #childrenIn(parent: string, account: string): Transaction[] {
    return [...(this.#childrenOf.get(parent) ?? [])]
      .flatMap((id) => this.#transactionOf(id) ?? [])
      .filter((child) => child.parent === parent && child.account === account)
      .sort((a, b) => compareText(a.createdDate, b.createdDate) || compareBytes(a.id, b.id));
  }

  /** The body of a list of children; undefined for 404. */
  children(id: string, account: string, query: Query = {}): object | undefined {
    if (this.#transactionOf(id)?.account !== account) return undefined;
    const type = query.transaction_type?.toUpperCase();
    const transactions = this.#childrenIn(id, account).filter(
      (child) => type === undefined || child.type === type,
    );
    return { parent_transaction_id: id, transactions: transactions.map((child) => viewOf(child)) };
  }

  /** The body of a list of events without the event ids, which the ledger assigns; undefined for 404. */
  eventList(id: string, account: string, { as_of, ...query }: Query = {}): object | undefined {
    if (as_of !== undefined) return this.asOf([id], as_of).eventList(id, account, query);
    const parent = this.#transactionOf(id);
    if (parent?.account !== account) return undefined;
    const family = [parent, ...this.#childrenIn(id, account).filter((child) => child.id !== id)];
    const events = family
      .flatMap((transaction) =>
        this.eventsOf(transaction.id, transactionTypes).map((event) => ({ transaction, event })),
      )
      .sort((a, b) => compareOldestFirst(a.event, b.event))
      .map(({ transaction, event }) => {
        const state = transactionStateOf.get(event.event_type);
        return {
          amount: integer(transaction.details, "amount") ?? null,
          state: state === undefined ? null : viewState(state, query.status_version),
          resource_type: event.resource_type.toUpperCase(),
          event_type: event.event_type,
          timestamp: milliseconds(event.timestamp),
          data: event.event_details,
          owner: transaction.id,
        };
      });
    const seenStates = new Set<string>();
    const listed =
      query.include_all_events === "true"
        ? events
        : events.filter(({ owner, resource_type, state }) => {
            const key = JSON.stringify([owner, resource_type, state]);
            return state !== null && !seenStates.has(key) && seenStates.add(key);
          });
    return { transaction_id: id, events: listed.map(({ owner, ...event }) => event) };
  }

  /** Every match of a search, in order. */
  matches(query: Query): object[] {
    return this.matching(query).map((transaction) => viewOf(transaction, query.status_version));
  }

  /** Every transaction that matches a search, in order. */
  matching(query: Query): Transaction[] {
    return this.resourceIds()
      .flatMap((id) => this.#transactionOf(id) ?? [])
      .filter((transaction) =>
        Object.entries(query).every(([name, value]) => filters[name]?.(transaction, value, query) ?? true),
      )
      .sort((a, b) => compareText(b.createdDate, a.createdDate) || compareBytes(b.id, a.id));
  }

  /** The cells of the CSV export of a search: the header and one row for each match. */
  csvRows(query: Query): string[][] {
    const accounts = (query.account_id ?? "").split(",");
    const keys = new Set(
      [...this.#eventsByResource.keys()].flatMap((id) => {
        const events = this.eventsOf(id, ["payment"]);
        const hasAccount = events.some((event) => accounts.includes(accountNamedBy(event) ?? ""));
        return hasAccount ? events.flatMap((event) => Object.keys(metadataOf(event.event_details))) : [];
      }),
    );
    const inOrder = [...keys].sort(compareBytes);
    const ofKeys = inOrder
      .slice(0, metadataColumnsMax)
      .map((key): [string, Cell] => [
        `${key} (metadata)`,
        ofPayments((details) => text(metadataOf(details), key)),
      ]);
    const others = inOrder.slice(metadataColumnsMax);
    const ofOthers: [string, Cell][] = others.length > 0 ? [["Other metadata", otherMetadata(others)]] : [];
    const all = [...columnsOf(query), ...ofKeys, ...ofOthers];
    return [
      all.map(([header]) => escapeFormula(header)),
      ...this.matching(query).map((transaction) => all.map(([, cell]) => cell(transaction) ?? "")),
    ];
  }
}

const metadataColumnsMax = 100;

const otherMetadata = (keys: string[]) =>
  ofPayments((details) => {
    const members = Object.entries(metadataOf(details)).filter(([key]) => keys.includes(key));
    return members.length > 0 ? JSON.stringify(Object.fromEntries(members)) : undefined;
  });

/** The newest value of each member. The account beside the details is that of the resource if no details name one. */
const mergeDetails = (events: LedgerEvent[]): Members => {
  const beside = newestOf(
    events,
    ({ other_members }) => text(other_members ?? {}, "gateway_account_id") ?? null,
  );
  return {
    ...(beside !== undefined && { gateway_account_id: beside }),
    ...Object.fromEntries(events.flatMap(({ event_details }) => Object.entries(event_details))),
  };
};

/** What all resources have in common. */
export function commonColumns(events: LedgerEvent[]) {
  const details = mergeDetails(events);
  return {
    account: text(details, "gateway_account_id"),
    service: newestOf(events, (event) => event.service_id),
    live: newestOf(events, (event) => event.live) ?? flag(details, "live"),
    /** In UTC with six fraction digits. */
    createdDate: (events[0] as LedgerEvent).timestamp,
    /** The newest value of each detail. */
    details,
  };
}

export function newestOf<Value>(
  events: LedgerEvent[],
  read: (event: LedgerEvent) => Value | null | undefined,
) {
  const value = events
    .toReversed()
    .map(read)
    .find((candidate) => candidate !== null && candidate !== undefined);
  return value ?? undefined;
}

export const milliseconds = (timestamp: string) => `${timestamp.slice(0, 23)}Z`;
const metadataOf = (members: Members) => (members.external_metadata ?? {}) as Members;

type Filter = (transaction: Transaction, value: string, query: Query) => boolean;
const contains =
  (name: string): Filter =>
  ({ paymentDetails }, value) =>
    (text(paymentDetails, name) ?? "").toLowerCase().includes(value.toLowerCase());
const equals =
  (source: "details" | "paymentDetails", name: string): Filter =>
  (transaction, value) =>
    text(transaction[source], name) === value;
const isInState = ({ state }: Transaction, value: string, { status_version }: Query) =>
  value.split(",").includes(statusOf(state, status_version));
/** If a query has such a parameter for any type, only types with their own parameter match. */
const typedStates: Filter = (transaction, _value, query) => {
  const states = query[`${transaction.type.toLowerCase()}_states`];
  return states !== undefined && isInState(transaction, states, query);
};

const filters: Record<string, Filter> = {
  account_id: ({ account }, value) => account !== undefined && value.split(",").includes(account),
  from_date: ({ createdDate }, value) => createdDate > `${value.slice(0, -1)}000Z`,
  to_date: ({ createdDate }, value) => createdDate < `${value.slice(0, -1)}000Z`,
  email: contains("email"),
  cardholder_name: contains("cardholder_name"),
  reference: (transaction, value, query) =>
    query.exact_reference_match === "true"
      ? text(transaction.paymentDetails, "reference")?.toLowerCase() === value.toLowerCase()
      : contains("reference")(transaction, value, query),
  first_digits_card_number: equals("paymentDetails", "first_digits_card_number"),
  last_digits_card_number: equals("paymentDetails", "last_digits_card_number"),
  payment_states: typedStates,
  refund_states: typedStates,
  dispute_states: typedStates,
  card_brands: ({ paymentDetails }, value) =>
    value.split(",").includes(text(paymentDetails, "card_brand") ?? ""),
  state: isInState,
  transaction_type: ({ type }, value) => type === value.toUpperCase(),
  gateway_payout_id: equals("details", "gateway_payout_id"),
  gateway_transaction_id: equals("details", "gateway_transaction_id"),
  agreement_id: equals("details", "agreement_id"),
  live: ({ live }, value) => live === (value === "true"),
  from_settled_date: ({ paidOutDate }, value) =>
    paidOutDate !== undefined && paidOutDate.slice(0, 10) >= value,
  to_settled_date: ({ paidOutDate }, value) => paidOutDate !== undefined && paidOutDate.slice(0, 10) <= value,
  metadata_value: ({ type, details }, value) =>
    type === "PAYMENT" &&
    Object.values(metadataOf(details)).some(
      (member) =>
        typeof member !== "object" &&
        String(member).length <= 255 &&
        String(member).toLowerCase() === value.toLowerCase(),
    ),
};

/** The contract's TransactionView of a transaction. Members without a value are undefined. */
function viewOf(transaction: Transaction, version?: string): object {
  return transaction.type === "PAYMENT" ? viewPayment(transaction, version) : viewChild(transaction, version);
}

const texts = (members: Members, names: Record<string, string>) =>
  Object.fromEntries(Object.entries(names).map(([shownName, name]) => [shownName, text(members, name)]));
const amounts = (members: Members, names: Record<string, string>) =>
  Object.fromEntries(Object.entries(names).map(([shownName, name]) => [shownName, integer(members, name)]));
const sameNames = (...names: string[]) => Object.fromEntries(names.map((name) => [name, name]));
const isEmpty = (members: object) => Object.values(members).every((value) => value === undefined);

function viewPayment({ details, ...transaction }: Transaction, version?: string) {
  const result = text(details, "exemption3ds");
  const requestedExemption = text(details, "exemption_3ds_requested");
  const outcomes: Record<string, string> = {
    EXEMPTION_HONOURED: "honoured",
    EXEMPTION_REJECTED: "rejected",
    EXEMPTION_OUT_OF_SCOPE: "out of scope",
  };
  const exemption =
    result === "EXEMPTION_NOT_REQUESTED"
      ? { requested: false }
      : {
          requested: true,
          ...(requestedExemption === "CORPORATE" && { type: "corporate" }),
          ...(result !== undefined && { outcome: { result: outcomes[result] } }),
        };
  const refunds: Record<string, unknown> = {
    status: text(details, "refund_status"),
    ...amounts(details, {
      amount_available: "refund_amount_available",
      amount_refunded: "refund_amount_refunded",
    }),
  };
  const isNotRefundable = ["epdq", "smartpay"].includes(
    (text(details, "payment_provider") ?? "").toLowerCase(),
  );
  return {
    transaction_id: transaction.id,
    transaction_type: "PAYMENT",
    gateway_account_id: transaction.account,
    service_id: transaction.service,
    live: transaction.live,
    created_date: milliseconds(transaction.createdDate),
    state: { ...viewState(transaction.state, version), can_retry: flag(details, "can_retry") },
    ...texts(details, {
      ...sameNames("credential_external_id", "description", "reference", "language", "return_url", "email"),
      ...sameNames("payment_provider", "gateway_transaction_id", "source", "gateway_payout_id"),
      ...sameNames("agreement_id", "agreement_payment_type"),
      wallet_type: "wallet",
    }),
    ...amounts(details, {
      ...sameNames("amount", "total_amount", "fee", "net_amount"),
      corporate_card_surcharge: "corporate_surcharge",
    }),
    authorisation_mode: text(details, "authorisation_mode") ?? "web",
    delayed_capture: flag(details, "delayed_capture") ?? false,
    moto: flag(details, "moto") ?? false,
    disputed: flag(details, "disputed") ?? false,
    metadata: details.external_metadata,
    card_details: viewCard(details, "card_brand_label", true),
    exemption: result === undefined && requestedExemption === undefined ? undefined : exemption,
    refund_summary: isEmpty(refunds)
      ? undefined
      : {
          status: isNotRefundable ? "unavailable" : (refunds.status ?? null),
          user_external_id: null,
          amount_available: refunds.amount_available ?? null,
          amount_submitted: refunds.amount_refunded ?? null,
          amount_refunded: refunds.amount_refunded ?? null,
        },
    settlement_summary: {
      capture_submit_time: date(details, "capture_submitted_date") ?? null,
      // The day in the time zone of the event.
      captured_date:
        date(details, "captured_date") === undefined ? null : String(details.captured_date).slice(0, 10),
      settled_date: transaction.paidOutDate?.slice(0, 10),
    },
    authorisation_summary:
      details.requires_3ds === undefined && details.version_3ds === undefined
        ? undefined
        : {
            three_d_secure: {
              required: flag(details, "requires_3ds") ?? false,
              version: text(details, "version_3ds"),
            },
          },
  };
}

const knownReasons = [
  ...["credit_not_processed", "duplicate", "fraudulent", "general", "product_not_received"],
  ...["product_unacceptable", "subscription_canceled"],
];

function viewChild({ details, paymentDetails, type, ...transaction }: Transaction, version?: string) {
  const isRefund = type === "REFUND";
  const reason = text(details, "reason")?.trim();
  const shownReason = reason === "unrecognized" ? "unrecognised" : "other";
  return {
    transaction_id: transaction.id,
    transaction_type: type,
    parent_transaction_id: transaction.parent,
    gateway_account_id: transaction.account,
    service_id: transaction.service,
    live: transaction.live,
    created_date: milliseconds(transaction.createdDate),
    state: viewState(transaction.state, version),
    amount: integer(details, "amount"),
    gateway_transaction_id: text(details, "gateway_transaction_id"),
    settlement_summary: { settled_date: transaction.paidOutDate?.slice(0, 10) },
    payment_details: {
      ...texts(paymentDetails, sameNames("description", "reference", "email")),
      card_details: viewCard(paymentDetails, "card_brand_label", false) ?? { card_brand: "" },
      ...(isRefund && { wallet_type: text(paymentDetails, "wallet") }),
      transaction_type: "PAYMENT",
    },
    ...(isRefund
      ? texts(details, {
          refunded_by: "refunded_by",
          refunded_by_user_email: "user_email",
          ...sameNames("gateway_payout_id"),
        })
      : {
          ...amounts(details, sameNames("fee", "net_amount")),
          evidence_due_date: date(details, "evidence_due_date"),
          reason: !reason ? undefined : knownReasons.includes(reason) ? reason : shownReason,
        }),
  };
}

const addressNames = Object.fromEntries(
  ["line1", "line2", "postcode", "city", "county", "country"].map((name) => [name, `address_${name}`]),
);

export function viewCard(members: Members, brandName: string, hasAddress: boolean): object | undefined {
  const billingAddress = hasAddress ? texts(members, addressNames) : {};
  const type = text(members, "card_type")?.toLowerCase() ?? "";
  const card = {
    ...texts(
      members,
      sameNames("cardholder_name", "last_digits_card_number", "first_digits_card_number", "expiry_date"),
    ),
    billing_address: isEmpty(billingAddress) ? undefined : billingAddress,
    card_type: ["credit", "debit"].includes(type) ? type : undefined,
  };
  const brand = text(members, brandName);
  return isEmpty({ ...card, brand }) ? undefined : { ...card, card_brand: brand ?? "" };
}

/** Prefixes a cell that a spreadsheet would evaluate as a formula. */
const escapeFormula = (cell: string) =>
  [..."=+-@\t\r\n＝＋－＠"].some((start) => cell.startsWith(start)) ? `'${cell}` : cell;
const pounds = (amount: number) =>
  new Intl.NumberFormat("en-GB", { minimumFractionDigits: 2, maximumFractionDigits: 2 })
    .format(amount / 100)
    .replace(/^-0\.00$/, "0.00");

type Cell = (transaction: Transaction) => string | undefined;

const isPayment = ({ type }: Transaction) => type === "PAYMENT";
const isRefund = ({ type }: Transaction) => type === "REFUND";
const escaped = (value: string | undefined) => value && escapeFormula(value);
const money = (value: number | undefined) => (value === undefined ? undefined : pounds(value));
const negative = (value: number | undefined) => (value === undefined ? undefined : -value);
const totalOf = ({ details }: Transaction) => integer(details, "total_amount") ?? integer(details, "amount");

const ofPayments =
  (cell: (details: Members) => string | undefined): Cell =>
  (one) =>
    isPayment(one) ? cell(one.details) : undefined;
const shared =
  (name: string): Cell =>
  ({ paymentDetails }) =>
    escaped(text(paymentDetails, name));
const feePart = (feeType: string) =>
  ofPayments(({ fee_breakdown = [] }) => {
    const parts = fee_breakdown as { fee_type: string; amount: number }[];
    return money(parts.find(({ fee_type }) => fee_type === feeType)?.amount);
  });

function amountCell(transaction: Transaction) {
  const own = integer(transaction.details, "amount");
  return money(isPayment(transaction) || transaction.state === "WON" ? own : negative(own));
}

function totalAmountCell(transaction: Transaction) {
  if (transaction.type === "DISPUTE") return undefined;
  if (isRefund(transaction)) return money(negative(totalOf(transaction)));
  if (transaction.state === "SUCCESS") return money(totalOf(transaction));
  return stateRow(transaction.state).finished ? "0.00" : undefined;
}

function netCell(transaction: Transaction) {
  const own = integer(transaction.details, "net_amount");
  if (transaction.type === "DISPUTE") return money(own);
  if (isRefund(transaction)) return money(negative(own ?? totalOf(transaction)));
  return money(own ?? (transaction.state === "SUCCESS" ? totalOf(transaction) : 0));
}

function dayCell({ createdDate }: Transaction) {
  const month = new Date(createdDate).toLocaleString("en", { month: "short", timeZone: "UTC" });
  return `${createdDate.slice(8, 10)} ${month} ${createdDate.slice(0, 4)}`;
}

/** The columns in the order of the contract, except for those of metadata. */
const columns: Record<string, Cell> = {
  Reference: shared("reference"),
  Description: shared("description"),
  Email: shared("email"),
  Amount: amountCell,
  "Card Brand": shared("card_brand_label"),
  "Cardholder Name": shared("cardholder_name"),
  "Card Expiry Date": shared("expiry_date"),
  "Card Number": shared("last_digits_card_number"),
  State: ({ type, state }) =>
    csvStates.find((row) => row.state === state)?.[type.toLowerCase() as "payment" | "refund" | "dispute"],
  Finished: ({ state }) => String(stateRow(state).finished),
  "Error Code": ({ state }) => stateRow(state).code,
  "Error Message": ({ state }) => stateRow(state).message,
  "Provider ID": ({ details }) => escaped(text(details, "gateway_transaction_id")),
  "GOV.UK Payment ID": (one) => (isPayment(one) ? one.id : one.parent),
  "Issued By": (one) => (isRefund(one) ? text(one.details, "user_email") : undefined),
  "Date Created": dayCell,
  "Time Created": ({ createdDate }) => createdDate.slice(11, 19),
  "Corporate Card Surcharge": ofPayments((details) => money(integer(details, "corporate_surcharge") ?? 0)),
  "Total Amount": totalAmountCell,
  "Wallet Type": ({ paymentDetails }) =>
    ({ APPLE_PAY: "Apple Pay", GOOGLE_PAY: "Google Pay" })[text(paymentDetails, "wallet") ?? ""],
  Fee: (one) => (isRefund(one) ? undefined : money(integer(one.details, "fee"))),
  Net: netCell,
  "Fee (transaction)": feePart("transaction"),
  "Fee (3DS)": feePart("three_ds"),
  "Fee (fraud protection)": feePart("radar"),
  "Card Type": ({ paymentDetails }) => text(paymentDetails, "card_type")?.toLowerCase(),
  MOTO: ofPayments((details) => String(flag(details, "moto") ?? false)),
  "Payment Provider": ofPayments((details) => text(details, "payment_provider")),
  "3-D Secure Required": ofPayments((details) => (flag(details, "requires_3ds") ? "true" : undefined)),
};

const columnsOf = ({ fee_headers, moto_header }: Query): [header: string, Cell][] =>
  Object.entries(columns).filter(
    ([header]) =>
      (fee_headers === "true" || !/^(Fee|Net)\b/.test(header)) &&
      (moto_header === "true" || header !== "MOTO"),
  );
