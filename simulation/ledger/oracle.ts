import { keyOf, type ToldEvent } from "./lives.ts";

/**
 * What the ledger must answer once it has taken in a set of events: written from the contract alone, and sharing no
 * code with the services. It remembers events and thinks anew for every question; that it is slow does no harm.
 */

type Members = Record<string, unknown>;
export type Query = Record<string, string>;

/** A transaction as its events tell it. */
interface Told {
  id: string;
  type: "PAYMENT" | "REFUND" | "DISPUTE";
  parent: string | undefined;
  account: string | undefined;
  service: string | undefined;
  live: boolean | undefined;
  state: string;
  /** UTC, six fraction digits. */
  created: string;
  /** Of each member the newest value. */
  own: Members;
  /** What of it belongs to the payment: the payment's own, or of a child its parent's, when both are of one account. */
  shown: Members;
  paidOut: string | undefined;
}

/** By the contract's order of lives: of events at one instant the later in this list is the newer. */
const statesOfEvents: [eventType: string, state: string][] = [
  ["PAYMENT_CREATED", "created"],
  ["PAYMENT_STARTED", "started"],
  ["GATEWAY_REQUIRES_3DS_AUTHORISATION", "started"],
  ["AUTHORISATION_SUCCEEDED", "submitted"],
  ["AUTHORISATION_REJECTED", "declined"],
  ["STATUS_CORRECTED_TO_AUTHORISATION_REJECTED_TO_MATCH_GATEWAY_STATUS", "declined"],
  ["AUTHORISATION_CANCELLED", "declined"],
  ["GATEWAY_ERROR_DURING_AUTHORISATION", "error"],
  ["GATEWAY_TIMEOUT_DURING_AUTHORISATION", "error"],
  ["UNEXPECTED_GATEWAY_ERROR_DURING_AUTHORISATION", "error"],
  ["STATUS_CORRECTED_TO_AUTHORISATION_ERROR_TO_MATCH_GATEWAY_STATUS", "error"],
  ["USER_APPROVED_FOR_CAPTURE_AWAITING_SERVICE_APPROVAL", "capturable"],
  ["USER_APPROVED_FOR_CAPTURE", "success"],
  ["SERVICE_APPROVED_FOR_CAPTURE", "success"],
  ["QUEUED_FOR_CAPTURE", "success"],
  ["CAPTURE_SUBMITTED", "success"],
  ["CAPTURE_CONFIRMED", "success"],
  ["CAPTURE_CONFIRMED_BY_GATEWAY_NOTIFICATION", "success"],
  ["CAPTURE_ERRORED", "error"],
  ["CAPTURE_ABANDONED_AFTER_TOO_MANY_RETRIES", "error"],
  ["PAYMENT_EXPIRED", "timedout"],
  ["CANCEL_BY_EXPIRATION_SUBMITTED", "timedout"],
  ["CANCEL_BY_EXPIRATION_FAILED", "timedout"],
  ["CANCELLED_BY_EXPIRATION", "timedout"],
  ["CANCEL_BY_USER_SUBMITTED", "cancelled by user"],
  ["CANCEL_BY_USER_FAILED", "cancelled by user"],
  ["CANCELLED_BY_USER", "cancelled by user"],
  ["CANCEL_BY_EXTERNAL_SERVICE_SUBMITTED", "cancelled by service"],
  ["CANCEL_BY_EXTERNAL_SERVICE_FAILED", "cancelled by service"],
  ["CANCELLED_BY_EXTERNAL_SERVICE", "cancelled by service"],
  ["STATUS_CORRECTED_TO_CAPTURED_TO_MATCH_GATEWAY_STATUS", "success"],
  ["PAYMENT_STATUS_CORRECTED_TO_SUCCESS_BY_ADMIN", "success"],
  ["PAYMENT_STATUS_CORRECTED_TO_ERROR_BY_ADMIN", "error"],
  ["REFUND_CREATED_BY_SERVICE", "submitted"],
  ["REFUND_CREATED_BY_USER", "submitted"],
  ["REFUND_SUBMITTED", "submitted"],
  ["REFUND_SUCCEEDED", "success"],
  ["REFUND_ERROR", "error"],
  ["REFUND_STATUS_CORRECTED_TO_SUCCESS_BY_ADMIN", "success"],
  ["REFUND_STATUS_CORRECTED_TO_ERROR_BY_ADMIN", "error"],
  ["DISPUTE_CREATED", "needs_response"],
  ["DISPUTE_EVIDENCE_SUBMITTED", "under_review"],
  ["DISPUTE_LOST", "lost"],
  ["DISPUTE_WON", "won"],
  ["PAYOUT_CREATED", "in transit"],
  ["PAYOUT_PAID", "paid out"],
  ["PAYOUT_FAILED", "failed"],
];
const placeInLife = new Map(statesOfEvents.map(([eventType], place) => [eventType, place]));
const stateOf = new Map(statesOfEvents);

/** In version 2; `version1` where that says something else. */
interface Telling {
  status: string;
  version1?: string;
  finished: boolean;
  failure?: [code: string, message: string];
}

const goingOn = (status: string): Telling => ({ status, finished: false });
const done = (status: string, failure?: Telling["failure"], version1?: string): Telling => ({
  status,
  finished: true,
  ...(failure && { failure }),
  ...(version1 !== undefined && { version1 }),
});
const tellings: Record<string, Telling> = {
  undefined: goingOn("undefined"),
  created: goingOn("created"),
  started: goingOn("started"),
  submitted: goingOn("submitted"),
  capturable: goingOn("capturable"),
  success: done("success"),
  declined: done("declined", ["P0010", "Payment method rejected"], "failed"),
  timedout: done("timedout", ["P0020", "Payment expired"], "failed"),
  "cancelled by user": done("cancelled", ["P0030", "Payment was cancelled by the user"], "failed"),
  "cancelled by service": done("cancelled", ["P0040", "Payment was cancelled by the service"]),
  error: done("error", ["P0050", "Payment provider returned an error"]),
  needs_response: goingOn("needs_response"),
  under_review: goingOn("under_review"),
  lost: done("lost"),
  won: done("won"),
};

const statusOf = (state: string, version: string | undefined): string => {
  const { status, version1 } = tellings[state] as Telling;
  return version === "1" && version1 !== undefined ? version1 : status;
};

const tellState = (state: string, version?: string) => {
  const { finished, failure } = tellings[state] as Telling;
  return {
    status: statusOf(state, version),
    finished,
    ...(failure && { code: failure[0], message: failure[1] }),
  };
};

const bytewise = (a: string, b: string) => Buffer.compare(Buffer.from(a), Buffer.from(b));
const byText = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);

const oldestFirst = (a: ToldEvent, b: ToldEvent) =>
  byText(a.timestamp, b.timestamp) ||
  (placeInLife.get(a.event_type) ?? -1) - (placeInLife.get(b.event_type) ?? -1) ||
  byText(a.event_type, b.event_type) ||
  byText(a.resource_type, b.resource_type) ||
  byText(a.resource_external_id, b.resource_external_id);

const text = (members: Members, name: string): string | undefined => {
  const value = Object.hasOwn(members, name) ? members[name] : undefined;
  return value === undefined || typeof value === "object" ? undefined : String(value);
};
const pence = (members: Members, name: string): number | undefined => {
  const value = Number(members[name] ?? "none");
  return Number.isInteger(value) ? value : undefined;
};
const flag = (members: Members, name: string): boolean | undefined =>
  members[name] === undefined ? undefined : String(members[name]) === "true";
/** In UTC, three fraction digits. */
const instant = (members: Members, name: string): string | undefined => {
  const time = Date.parse(String(members[name]));
  return Number.isNaN(time) ? undefined : new Date(time).toISOString();
};

const transactionTypes = ["payment", "refund", "dispute"];

export class Oracle {
  readonly #events = new Map<string, ToldEvent>();
  readonly #ofResource = new Map<string, ToldEvent[]>();
  readonly #childrenOf = new Map<string, Set<string>>();
  readonly #thought = new Map<string, Told | undefined>();

  constructor(events: Iterable<ToldEvent> = []) {
    for (const event of events) this.accept(event);
  }

  get events(): ToldEvent[] {
    return [...this.#events.values()];
  }

  has = (event: ToldEvent) => this.#events.has(keyOf(event));

  /** The first telling stays. */
  accept(event: ToldEvent): void {
    if (this.has(event)) return;
    this.#events.set(keyOf(event), event);
    const { resource_external_id: id, parent_resource_external_id: parent } = event;
    const own = this.#ofResource.get(id);
    if (own) own.push(event);
    else this.#ofResource.set(id, [event]);
    if (parent !== null) {
      const children = this.#childrenOf.get(parent);
      if (children) children.add(id);
      else this.#childrenOf.set(parent, new Set([id]));
    }
    this.#thought.clear();
  }

  /** All events that have a say in what is told of these transactions and of their children. */
  about(ids: Iterable<string>): ToldEvent[] {
    const family = new Set([...ids].flatMap((id) => [id, ...(this.#childrenOf.get(id) ?? [])]));
    const named = [...family].flatMap((id) =>
      (this.#ofResource.get(id) ?? []).flatMap(({ parent_resource_external_id: parent, event_details }) => [
        parent ?? id,
        text(event_details, "gateway_payout_id") ?? id,
      ]),
    );
    return [...new Set([...family, ...named])].flatMap((id) => this.#ofResource.get(id) ?? []);
  }

  #movesOf = (id: string, types: string[]): ToldEvent[] =>
    (this.#ofResource.get(id) ?? [])
      .filter(({ resource_type }) => types.includes(resource_type))
      .sort(oldestFirst);

  #told(id: string): Told | undefined {
    if (!this.#thought.has(id)) this.#thought.set(id, this.#think(id));
    return this.#thought.get(id);
  }

  #think(id: string): Told | undefined {
    const events = this.#movesOf(id, transactionTypes);
    const newest = events.at(-1);
    if (newest === undefined) return undefined;
    const own = mergedOf(events);
    const type = newest.resource_type.toUpperCase() as Told["type"];
    const parent = newestOf(events, (event) => event.parent_resource_external_id);
    const ofParent =
      type === "PAYMENT" || parent === undefined ? [] : this.#movesOf(parent, transactionTypes);
    const account = text(own, "gateway_account_id");
    const payment = mergedOf(ofParent);
    const isOfAccount = account !== undefined && text(payment, "gateway_account_id") === account;
    return {
      id,
      type,
      parent,
      account,
      service: newestOf(events, (event) => event.service_id),
      live: newestOf(events, (event) => event.live) ?? flag(own, "live"),
      state: newestOf(events, ({ event_type }) => ledgerState(event_type)) ?? "undefined",
      created: (events[0] as ToldEvent).timestamp,
      own,
      shown: isOfAccount ? payment : own,
      paidOut: this.#paidOut(text(own, "gateway_payout_id"), account),
    };
  }

  /** A payout settles only what is of its own account. */
  #paidOut(payoutId: string | undefined, account: string | undefined): string | undefined {
    if (payoutId === undefined || account === undefined) return undefined;
    const members = mergedOf(this.#movesOf(payoutId, ["payout"]));
    return text(members, "gateway_account_id") === account ? instant(members, "paid_out_date") : undefined;
  }

  /** As if nothing were known that is dated later; only for questions about these transactions. */
  asOf = (ids: string[], until: string): Oracle =>
    new Oracle(this.about(ids).filter(({ timestamp }) => timestamp <= until));

  /** The account of a transaction, when there is one and it has one. */
  accountOf = (id: string): string | undefined => this.#told(id)?.account;

  /** The body of a lookup; undefined where that is 404. */
  transaction(id: string, query: Query = {}): object | undefined {
    if (query.as_of !== undefined) {
      const { as_of, ...others } = query;
      return this.asOf([id], as_of).transaction(id, others);
    }
    const told = this.#told(id);
    const fits =
      told !== undefined &&
      (query.account_id === undefined || told.account === query.account_id) &&
      (query.transaction_type === undefined || told.type === query.transaction_type.toUpperCase()) &&
      (query.parent_external_id === undefined || told.parent === query.parent_external_id);
    return fits ? viewOf(told, query.status_version) : undefined;
  }

  #childrenIn(parent: string, account: string): Told[] {
    return [...(this.#childrenOf.get(parent) ?? [])]
      .flatMap((id) => this.#told(id) ?? [])
      .filter((told) => told.parent === parent && told.account === account)
      .sort((a, b) => byText(a.created, b.created) || bytewise(a.id, b.id));
  }

  /** The body of a list of children; undefined where that is 404. */
  children(id: string, account: string, query: Query = {}): object | undefined {
    if (this.#told(id)?.account !== account) return undefined;
    const type = query.transaction_type?.toUpperCase();
    const transactions = this.#childrenIn(id, account).filter(
      (told) => type === undefined || told.type === type,
    );
    return { parent_transaction_id: id, transactions: transactions.map((told) => viewOf(told)) };
  }

  /** The body of a list of events without their numbers, which the ledger chooses; undefined where that is 404. */
  eventList(id: string, account: string, query: Query = {}): object | undefined {
    if (query.as_of !== undefined) {
      const { as_of, ...others } = query;
      return this.asOf([id], as_of).eventList(id, account, others);
    }
    const parent = this.#told(id);
    if (parent?.account !== account) return undefined;
    const family = [parent, ...this.#childrenIn(id, account).filter((child) => child.id !== id)];
    const events = family
      .flatMap((told) => this.#movesOf(told.id, transactionTypes).map((event) => ({ told, event })))
      .sort((a, b) => oldestFirst(a.event, b.event))
      .map(({ told, event }) => {
        const state = ledgerState(event.event_type);
        return {
          amount: pence(told.own, "amount") ?? null,
          state: state === undefined ? null : tellState(state, query.status_version),
          resource_type: event.resource_type.toUpperCase(),
          event_type: event.event_type,
          timestamp: milliseconds(event.timestamp),
          data: event.event_details,
          of: told.id,
        };
      });
    const told = new Set<string>();
    const listed =
      query.include_all_events === "true"
        ? events
        : events.filter(({ of, resource_type, state }) => {
            const telling = JSON.stringify([of, resource_type, state]);
            return state !== null && !told.has(telling) && told.add(telling);
          });
    return { transaction_id: id, events: listed.map(({ of, ...event }) => event) };
  }

  /** Every match of a search, in the order of its pages. */
  matches(query: Query): object[] {
    return this.#found(query).map((told) => viewOf(told, query.status_version));
  }

  #found(query: Query): Told[] {
    return [...this.#ofResource.keys()]
      .flatMap((id) => this.#told(id) ?? [])
      .filter((told) =>
        Object.entries(query).every(([name, value]) => filters[name]?.(told, value, query) ?? true),
      )
      .sort((a, b) => byText(b.created, a.created) || bytewise(b.id, a.id));
  }

  /** The table of a search: its first line and one for each match, in cells. */
  table(query: Query): string[][] {
    const accounts = (query.account_id ?? "").split(",");
    const keys = new Set(
      [...this.#ofResource.keys()].flatMap((id) => {
        const events = this.#movesOf(id, ["payment"]);
        const isOfAccount = events.some(({ event_details }) =>
          accounts.includes(text(event_details, "gateway_account_id") ?? ""),
        );
        return isOfAccount ? events.flatMap((event) => Object.keys(metadataOf(event.event_details))) : [];
      }),
    );
    const columns: [string, (told: Told) => string | undefined][] = [
      ...columnsOf(query),
      ...[...keys]
        .sort(bytewise)
        .map((key): [string, (told: Told) => string | undefined] => [
          `${key} (metadata)`,
          ({ type, own }) => (type === "PAYMENT" ? text(metadataOf(own), key) : undefined),
        ]),
    ];
    return [
      columns.map(([header]) => harmless(header)),
      ...this.#found(query).map((told) => columns.map(([, cell]) => cell(told) ?? "")),
    ];
  }
}

const mergedOf = (events: ToldEvent[]): Members =>
  Object.fromEntries(events.flatMap(({ event_details }) => Object.entries(event_details)));

function newestOf<Value>(events: ToldEvent[], read: (event: ToldEvent) => Value | null | undefined) {
  const value = events
    .toReversed()
    .map(read)
    .find((one) => one !== null && one !== undefined);
  return value ?? undefined;
}

/** Payouts' states are not shown. */
const ledgerState = (eventType: string) => {
  const state = stateOf.get(eventType);
  return state !== undefined && Object.hasOwn(tellings, state) ? state : undefined;
};

const milliseconds = (timestamp: string) => `${timestamp.slice(0, 23)}Z`;
const metadataOf = (members: Members) => (members.external_metadata ?? {}) as Members;

type Filter = (told: Told, value: string, query: Query) => boolean;
const contains =
  (name: string): Filter =>
  ({ shown }, value) =>
    (text(shown, name) ?? "").toLowerCase().includes(value.toLowerCase());
const equals =
  (members: "own" | "shown", name: string): Filter =>
  (told, value) =>
    text(told[members], name) === value;
const isInState = ({ state }: Told, value: string, { status_version }: Query) =>
  value.split(",").includes(statusOf(state, status_version));
/** Of a type whose own states are not named nothing is found once those of another are. */
const typedStates: Filter = (told, _value, query) => {
  const wanted = query[`${told.type.toLowerCase()}_states`];
  return wanted !== undefined && isInState(told, wanted, query);
};

const filters: Record<string, Filter> = {
  account_id: ({ account }, value) => account !== undefined && value.split(",").includes(account),
  from_date: ({ created }, value) => created > `${value.slice(0, -1)}000Z`,
  to_date: ({ created }, value) => created < `${value.slice(0, -1)}000Z`,
  email: contains("email"),
  cardholder_name: contains("cardholder_name"),
  reference: (told, value, query) =>
    query.exact_reference_match === "true"
      ? text(told.shown, "reference")?.toLowerCase() === value.toLowerCase()
      : contains("reference")(told, value, query),
  first_digits_card_number: equals("shown", "first_digits_card_number"),
  last_digits_card_number: equals("shown", "last_digits_card_number"),
  payment_states: typedStates,
  refund_states: typedStates,
  dispute_states: typedStates,
  card_brands: ({ shown }, value) => value.split(",").includes(text(shown, "card_brand") ?? ""),
  state: isInState,
  transaction_type: ({ type }, value) => type === value.toUpperCase(),
  gateway_payout_id: equals("own", "gateway_payout_id"),
  gateway_transaction_id: equals("own", "gateway_transaction_id"),
  agreement_id: equals("own", "agreement_id"),
  from_settled_date: ({ paidOut }, value) => paidOut !== undefined && paidOut.slice(0, 10) >= value,
  to_settled_date: ({ paidOut }, value) => paidOut !== undefined && paidOut.slice(0, 10) <= value,
  metadata_value: ({ type, own }, value) =>
    type === "PAYMENT" &&
    Object.values(metadataOf(own)).some(
      (one) =>
        typeof one !== "object" &&
        String(one).length <= 255 &&
        String(one).toLowerCase() === value.toLowerCase(),
    ),
};

/** A transaction as the contract's TransactionView has it; what is not known is undefined. */
function viewOf(told: Told, version?: string): object {
  return told.type === "PAYMENT" ? viewPayment(told, version) : viewChild(told, version);
}

const texts = (members: Members, names: Record<string, string>) =>
  Object.fromEntries(Object.entries(names).map(([shownAs, name]) => [shownAs, text(members, name)]));
const amounts = (members: Members, names: Record<string, string>) =>
  Object.fromEntries(Object.entries(names).map(([shownAs, name]) => [shownAs, pence(members, name)]));
const same = (...names: string[]) => Object.fromEntries(names.map((name) => [name, name]));
const isEmpty = (members: object) => Object.values(members).every((value) => value === undefined);

function viewPayment({ own, ...told }: Told, version?: string) {
  const exempted = text(own, "exemption3ds");
  const asked = text(own, "exemption_3ds_requested");
  const results: Record<string, string> = {
    EXEMPTION_HONOURED: "honoured",
    EXEMPTION_REJECTED: "rejected",
    EXEMPTION_OUT_OF_SCOPE: "out of scope",
  };
  const exemption =
    exempted === "EXEMPTION_NOT_REQUESTED"
      ? { requested: false }
      : {
          requested: true,
          ...(asked === "CORPORATE" && { type: "corporate" }),
          ...(exempted !== undefined && { outcome: { result: results[exempted] } }),
        };
  const refunds: Record<string, unknown> = {
    status: text(own, "refund_status"),
    ...amounts(own, {
      amount_available: "refund_amount_available",
      amount_refunded: "refund_amount_refunded",
    }),
  };
  const cannotRefund = ["epdq", "smartpay"].includes((text(own, "payment_provider") ?? "").toLowerCase());
  return {
    transaction_id: told.id,
    transaction_type: "PAYMENT",
    gateway_account_id: told.account,
    service_id: told.service,
    live: told.live,
    created_date: milliseconds(told.created),
    state: { ...tellState(told.state, version), can_retry: flag(own, "can_retry") },
    ...texts(own, {
      ...same("credential_external_id", "description", "reference", "language", "return_url", "email"),
      ...same("payment_provider", "gateway_transaction_id", "source", "gateway_payout_id", "agreement_id"),
      ...same("agreement_payment_type"),
      wallet_type: "wallet",
    }),
    ...amounts(own, {
      ...same("amount", "total_amount", "fee", "net_amount"),
      corporate_card_surcharge: "corporate_surcharge",
    }),
    authorisation_mode: text(own, "authorisation_mode") ?? "web",
    delayed_capture: flag(own, "delayed_capture") ?? false,
    moto: flag(own, "moto") ?? false,
    disputed: flag(own, "disputed") ?? false,
    metadata: own.external_metadata,
    card_details: viewCard(own, {
      line1: "address_line1",
      line2: "address_line2",
      postcode: "address_postcode",
      city: "address_city",
      county: "address_county",
      country: "address_country",
    }),
    exemption: exempted === undefined && asked === undefined ? undefined : exemption,
    refund_summary: isEmpty(refunds)
      ? undefined
      : {
          status: cannotRefund ? "unavailable" : (refunds.status ?? null),
          user_external_id: null,
          amount_available: refunds.amount_available ?? null,
          amount_submitted: refunds.amount_refunded ?? null,
          amount_refunded: refunds.amount_refunded ?? null,
        },
    settlement_summary: {
      capture_submit_time: instant(own, "capture_submitted_date") ?? null,
      // The day in the zone in which it was written.
      captured_date:
        instant(own, "captured_date") === undefined ? null : String(own.captured_date).slice(0, 10),
      settled_date: told.paidOut?.slice(0, 10),
    },
    authorisation_summary:
      own.requires_3ds === undefined && own.version_3ds === undefined
        ? undefined
        : {
            three_d_secure: {
              required: flag(own, "requires_3ds") ?? false,
              version: text(own, "version_3ds"),
            },
          },
  };
}

const reasonsKept = [
  ...["credit_not_processed", "duplicate", "fraudulent", "general", "product_not_received"],
  ...["product_unacceptable", "subscription_canceled"],
];

function viewChild({ own, shown, type, ...told }: Told, version?: string) {
  const isRefund = type === "REFUND";
  const reason = text(own, "reason")?.trim();
  const spelt = reason === "unrecognized" ? "unrecognised" : "other";
  return {
    transaction_id: told.id,
    transaction_type: type,
    parent_transaction_id: told.parent,
    gateway_account_id: told.account,
    service_id: told.service,
    live: told.live,
    created_date: milliseconds(told.created),
    state: tellState(told.state, version),
    amount: pence(own, "amount"),
    gateway_transaction_id: text(own, "gateway_transaction_id"),
    settlement_summary: { settled_date: told.paidOut?.slice(0, 10) },
    payment_details: {
      ...texts(shown, same("description", "reference", "email")),
      card_details: viewCard(shown, {}),
      ...(isRefund && { wallet_type: text(shown, "wallet") }),
      transaction_type: "PAYMENT",
    },
    ...(isRefund
      ? texts(own, {
          refunded_by: "refunded_by",
          refunded_by_user_email: "user_email",
          ...same("gateway_payout_id"),
        })
      : {
          ...amounts(own, same("fee", "net_amount")),
          evidence_due_date: instant(own, "evidence_due_date"),
          reason: !reason ? undefined : reasonsKept.includes(reason) ? reason : spelt,
        }),
  };
}

function viewCard(members: Members, address: Record<string, string>): object | undefined {
  const parts = texts(members, address);
  const type = text(members, "card_type")?.toLowerCase() ?? "";
  const known = {
    ...texts(
      members,
      same("cardholder_name", "last_digits_card_number", "first_digits_card_number", "expiry_date"),
    ),
    billing_address: isEmpty(parts) ? undefined : parts,
    card_type: ["credit", "debit"].includes(type) ? type : undefined,
  };
  const brand = text(members, "card_brand_label");
  return isEmpty({ ...known, brand }) ? undefined : { ...known, card_brand: brand ?? "" };
}

const namesInTables: Record<Told["type"], Record<string, string>> = {
  PAYMENT: {
    created: "In progress",
    started: "In progress",
    submitted: "In progress",
    capturable: "In progress",
    success: "Success",
    declined: "Declined",
    timedout: "Timed out",
    "cancelled by user": "Cancelled",
    "cancelled by service": "Cancelled",
    error: "Error",
  },
  REFUND: {
    created: "Refund submitted",
    submitted: "Refund submitted",
    success: "Refund success",
    error: "Refund error",
  },
  DISPUTE: {
    needs_response: "Dispute awaiting evidence",
    under_review: "Dispute under review",
    lost: "Dispute lost to customer",
    won: "Dispute won in your favour",
  },
};

/** A text that a spreadsheet would take for a formula is made one. */
const harmless = (cell: string) =>
  [..."=+-@\t\r\n＝＋－＠"].some((begin) => cell.startsWith(begin)) ? `'${cell}` : cell;
const pounds = (amount: number) =>
  new Intl.NumberFormat("en-GB", { minimumFractionDigits: 2 })
    .format(amount / 100)
    .replace(/^-0\.00$/, "0.00");

function columnsOf(query: Query): [string, (told: Told) => string | undefined][] {
  const isOf =
    (...types: Told["type"][]) =>
    (told: Told) =>
      types.includes(told.type);
  const isPayment = isOf("PAYMENT");
  const safe = (value: string | undefined) => value && harmless(value);
  const money = (value: number | undefined) => (value === undefined ? undefined : pounds(value));
  const negative = (value: number | undefined) => (value === undefined ? undefined : -value);
  const shown = (name: string) => (told: Told) => safe(text(told.shown, name));
  const telling = ({ state }: Told) => tellings[state] as Telling;
  const total = ({ own }: Told) => pence(own, "total_amount") ?? pence(own, "amount");
  const part = (kind: string) => (told: Told) => {
    const parts = (told.own.fee_breakdown ?? []) as { fee_type: string; amount: number }[];
    return isPayment(told) ? money(parts.find(({ fee_type }) => fee_type === kind)?.amount) : undefined;
  };
  const fees: [string, (told: Told) => string | undefined][] = [
    ["Fee", (told) => (isOf("REFUND")(told) ? undefined : money(pence(told.own, "fee")))],
    [
      "Net",
      (told) => {
        const net = pence(told.own, "net_amount");
        if (told.type === "DISPUTE") return money(net);
        if (told.type === "REFUND") return money(negative(net ?? total(told)));
        return money(told.state === "success" ? (net ?? total(told)) : (net ?? 0));
      },
    ],
    ["Fee (transaction)", part("transaction")],
    ["Fee (3DS)", part("three_ds")],
    ["Fee (fraud protection)", part("radar")],
  ];
  return [
    ["Reference", shown("reference")],
    ["Description", shown("description")],
    ["Email", shown("email")],
    [
      "Amount",
      (told) => {
        const amount = pence(told.own, "amount");
        const isKept = isPayment(told) || told.state === "won";
        return money(isKept ? amount : negative(amount));
      },
    ],
    ["Card Brand", shown("card_brand_label")],
    ["Cardholder Name", shown("cardholder_name")],
    ["Card Expiry Date", shown("expiry_date")],
    ["Card Number", shown("last_digits_card_number")],
    ["State", ({ type, state }) => namesInTables[type][state]],
    ["Finished", (told) => String(telling(told).finished)],
    ["Error Code", (told) => telling(told).failure?.[0]],
    ["Error Message", (told) => telling(told).failure?.[1]],
    ["Provider ID", ({ own }) => safe(text(own, "gateway_transaction_id"))],
    ["GOV.UK Payment ID", (told) => (isPayment(told) ? told.id : told.parent)],
    ["Issued By", (told) => (isOf("REFUND")(told) ? text(told.own, "user_email") : undefined)],
    [
      "Date Created",
      ({ created }) =>
        `${created.slice(8, 10)} ${new Date(created).toLocaleString("en", { month: "short", timeZone: "UTC" })} ${created.slice(0, 4)}`,
    ],
    ["Time Created", ({ created }) => created.slice(11, 19)],
    [
      "Corporate Card Surcharge",
      (told) => (isPayment(told) ? money(pence(told.own, "corporate_surcharge") ?? 0) : undefined),
    ],
    [
      "Total Amount",
      (told) => {
        if (told.type === "DISPUTE") return undefined;
        if (told.type === "REFUND") return money(negative(total(told)));
        if (told.state === "success") return money(total(told));
        return telling(told).finished ? "0.00" : undefined;
      },
    ],
    [
      "Wallet Type",
      ({ shown }) => ({ APPLE_PAY: "Apple Pay", GOOGLE_PAY: "Google Pay" })[text(shown, "wallet") ?? ""],
    ],
    ...(query.fee_headers === "true" ? fees : []),
    ["Card Type", ({ shown }) => text(shown, "card_type")?.toLowerCase()],
    ...(query.moto_header === "true"
      ? ([
          ["MOTO", (told) => (isPayment(told) ? String(flag(told.own, "moto") ?? false) : undefined)],
        ] satisfies [string, (told: Told) => string | undefined][])
      : []),
    ["Payment Provider", (told) => (isPayment(told) ? text(told.own, "payment_provider") : undefined)],
    [
      "3-D Secure Required",
      (told) => (isPayment(told) && flag(told.own, "requires_3ds") ? "true" : undefined),
    ],
  ];
}
