import type { operations } from "../../../../generated/ledger.ts";
import {
  allConditions,
  type Bind,
  type Condition,
  type Conditions,
  contains,
  createdAfter,
  createdBefore,
  equals,
  equalsInAnyCase,
  oneOf,
} from "../conditions.ts";
import { continuationCondition, type Position } from "../page.ts";
import { payoutCondition } from "../payout.ts";
import type { TransactionState, TransactionType } from "../transaction.ts";

export type SearchQuery = operations["searchTransactions"]["parameters"]["query"];

/** A parameter that is a part of another condition, changes only what the response shows, or selects a page or a file. */
type Part = keyof CombinedFilter | "card_brands" | "shown" | "page";

/**
 * What each parameter of a search means: the condition for its value, or a part. The order is the order of links, in which
 * alphagov/pay-ledger writes the parameters.
 */
export const searchParameters = {
  account_id: oneOf("gateway_account_id"),
  from_date: createdAfter,
  to_date: createdBefore,
  email: contains("email"),
  reference: contains("reference"),
  cardholder_name: contains("cardholder_name"),
  first_digits_card_number: equals("first_digits_card_number"),
  last_digits_card_number: equals("last_digits_card_number"),
  payment_states: "states_by_type",
  refund_states: "states_by_type",
  dispute_states: "states_by_type",
  card_brands: oneOf("card_brand"),
  // A consumer of alphagov/pay-ledger names the parameter so, as the links of that service do.
  card_brand: "card_brands",
  state: oneOf("state"),
  transaction_type: equals("transaction_type"),
  gateway_payout_id: equals("gateway_payout_id"),
  from_settled_date: "settled",
  to_settled_date: "settled",
  metadata_value: (text: string, bind: Bind) => `metadata_values @> array[${bind(text.toLowerCase())}::text]`,
  agreement_id: equals("agreement_id"),
  gateway_transaction_id: equals("gateway_transaction_id"),
  exact_reference_match: "exact_reference",
  override_account_id_restriction: "shown",
  status_version: "shown",
  limit_total: "shown",
  limit_total_size: "shown",
  live: equals("live"),
  page: "page",
  display_size: "page",
  cursor: "page",
  known_at: "shown",
  at_least: "page",
  position_line: "page",
  extended: "page",
  format: "page",
  fee_headers: "page",
  moto_header: "page",
  currency_header: "page",
  columns: "page",
  separator: "page",
  byte_order_mark: "page",
} as const satisfies Record<keyof SearchQuery, Condition<never> | Part>;

type Meanings = typeof searchParameters;
/** The parameters that have this meaning. */
type Meaning<Wanted> = {
  [Name in keyof Meanings]: Meanings[Name] extends Wanted ? Name : never;
}[keyof Meanings];

/** The parameters that are a condition by themselves. */
export type ConditionParameter = Meaning<Condition<never>>;

/** The type of transaction of which a parameter selects the states. */
export const typesOfStates = {
  payment_states: "PAYMENT",
  refund_states: "REFUND",
  dispute_states: "DISPUTE",
} as const satisfies Record<Meaning<"states_by_type">, TransactionType>;

/** Conditions that several parameters make together, or other requests. */
interface CombinedFilter {
  /** The whole reference, case-insensitive. */
  exact_reference?: string | undefined;
  /** The states of each type. Other types do not match. */
  states_by_type?: [TransactionType, TransactionState[]][] | undefined;
  /** Days (UTC), inclusive. */
  settled?: { from?: string | undefined; to?: string | undefined } | undefined;
  /** Case-insensitive. */
  payment_provider?: string | undefined;
  after?: Position | undefined;
}

/**
 * All given conditions must hold. They have the names of the parameters. Instants are in UTC, and states are those that are
 * stored. Search texts are literal.
 */
export type TransactionFilter = CombinedFilter & {
  [Name in Exclude<ConditionParameter, "state">]?: SearchQuery[Name] | undefined;
} & { state?: TransactionState[] | undefined };

const combinedConditions: Conditions<CombinedFilter> = {
  exact_reference: equalsInAnyCase("reference"),
  states_by_type: (wanted, bind) => {
    const each = wanted.map(
      ([type, states]) => `transaction_type = ${bind(type)} and state = any(${bind(states)}::text[])`,
    );
    return `(${each.join(" or ")})`;
  },
  settled: (days, bind) => `(select ${paidOutCondition(days, bind)} from payout where ${payoutCondition})`,
  payment_provider: equalsInAnyCase("(details ->> 'payment_provider')"),
  after: continuationCondition,
};

/** A condition that a payout was paid on one of these days. */
export function paidOutCondition(
  days: NonNullable<TransactionFilter["settled"]>,
  bind: Bind,
  day = (value: string, bind: Bind) => `${bind(value)}::date`,
): string {
  return `paid_out_date >= ${day(days.from ?? "-infinity", bind)}::timestamp at time zone 'UTC'
    and paid_out_date < (${day(days.to ?? "infinity", bind)} + 1)::timestamp at time zone 'UTC'`;
}

const conditions = { ...searchParameters, ...combinedConditions } as unknown as Conditions<TransactionFilter>;

/** A condition for all members of the filter. */
export const filterCondition = (filter: TransactionFilter, bind: Bind): string =>
  allConditions(conditions, filter, bind);
