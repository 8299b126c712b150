import {
  allOf,
  type Bind,
  type Conditions,
  contains,
  continuesAfter,
  equals,
  equalsInAnyCase,
  isOneOf,
  type Position,
} from "../conditions.ts";
import { isPayoutOfTransaction, type TransactionState, type TransactionType } from "../transaction.ts";

/** All given conditions must hold. Instants are in UTC. Search texts are literal. */
export interface TransactionFilter {
  account_ids?: string[] | undefined;
  transaction_type?: TransactionType | undefined;
  /** Part of the reference, case-insensitive. */
  reference?: string | undefined;
  /** The whole reference, case-insensitive. */
  exact_reference?: string | undefined;
  /** Part of the email address, case-insensitive. */
  email?: string | undefined;
  /** Part of the name, case-insensitive. */
  cardholder_name?: string | undefined;
  first_digits_card_number?: string | undefined;
  last_digits_card_number?: string | undefined;
  card_brands?: string[] | undefined;
  states?: TransactionState[] | undefined;
  /** The states of each type. Other types do not match. */
  states_by_type?: [TransactionType, TransactionState[]][] | undefined;
  created_after?: string | undefined;
  created_before?: string | undefined;
  /** Days (UTC), inclusive. */
  settled?: { from?: string | undefined; to?: string | undefined } | undefined;
  gateway_payout_id?: string | undefined;
  gateway_transaction_id?: string | undefined;
  /** Case-insensitive. */
  payment_provider?: string | undefined;
  agreement_id?: string | undefined;
  /** Value of any metadata key, case-insensitive. */
  metadata_value?: string | undefined;
  after?: Position | undefined;
}

const conditions: Conditions<TransactionFilter> = {
  account_ids: isOneOf("gateway_account_id"),
  transaction_type: equals("transaction_type"),
  reference: contains("reference"),
  exact_reference: equalsInAnyCase("reference"),
  email: contains("email"),
  cardholder_name: contains("cardholder_name"),
  first_digits_card_number: equals("first_digits_card_number"),
  last_digits_card_number: equals("last_digits_card_number"),
  card_brands: isOneOf("card_brand"),
  states: isOneOf("state"),
  states_by_type: (wanted, bind) => {
    const each = wanted.map(
      ([type, states]) => `transaction_type = ${bind(type)} and state = any(${bind(states)}::text[])`,
    );
    return `(${each.join(" or ")})`;
  },
  created_after: (instant, bind) => `created_date > ${bind(instant)}`,
  created_before: (instant, bind) => `created_date < ${bind(instant)}`,
  settled: (days, bind) => `(select ${isPaidOut(days, bind)} from payout where ${isPayoutOfTransaction})`,
  gateway_payout_id: equals("gateway_payout_id"),
  gateway_transaction_id: equals("gateway_transaction_id"),
  payment_provider: equalsInAnyCase("(details ->> 'payment_provider')"),
  agreement_id: equals("agreement_id"),
  metadata_value: (text, bind) => `metadata_values @> array[${bind(text.toLowerCase())}::text]`,
  after: continuesAfter,
};

/** A condition that a payout was paid on one of these days. */
export function isPaidOut(
  days: NonNullable<TransactionFilter["settled"]>,
  bind: Bind,
  day = (value: string, bind: Bind) => `${bind(value)}::date`,
): string {
  return `paid_out_date >= ${day(days.from ?? "-infinity", bind)}::timestamp at time zone 'UTC'
    and paid_out_date < (${day(days.to ?? "infinity", bind)} + 1)::timestamp at time zone 'UTC'`;
}

/** A condition for all of these filters. */
export const conditionsOf = (filter: TransactionFilter, bind: Bind): string =>
  allOf(conditions, filter, bind);
