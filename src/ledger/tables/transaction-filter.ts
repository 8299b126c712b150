import { isPayoutOfTransaction, type TransactionState, type TransactionType } from "./transaction.ts";

/** A position in a search: after a row, without the transactions that arrived after an event. */
export interface Position {
  created_date: string;
  external_id: string;
  newest_event_id: bigint;
}

/** All given conditions must hold. Instants are in UTC. Search texts are literal. */
export interface TransactionFilter {
  gateway_account_id?: string | undefined;
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

/** Adds a value to the statement and returns its placeholder. */
export type Bind = (value: unknown) => string;

export function binding(): { values: unknown[]; bind: Bind } {
  const values: unknown[] = [];
  return { values, bind: (value) => `$${values.push(value)}` };
}

/** True if a text has trigrams: three letters or digits in a row, or fewer at the edge of a word. */
export const hasTrigrams = (text: string) =>
  /[\p{L}\p{N}]{3}|[^\p{L}\p{N}][\p{L}\p{N}]|[\p{L}\p{N}]{2}[^\p{L}\p{N}]/u.test(text);

/** A pattern that matches only this text. */
export const literally = (text: string) => text.replaceAll(/[\\%_]/g, "\\$&");
export const somewhere = (text: string) => `%${literally(text)}%`;

type Conditions<Filter> = {
  [Name in keyof Filter]-?: (value: NonNullable<Filter[Name]>, bind: Bind) => string;
};

const equals =
  (column: string) =>
  (value: string, bind: Bind): string =>
    `${column} = ${bind(value)}`;

/** A pattern, for which the trigram index is used. For a text without trigrams the index would be read completely. */
const contains =
  (column: string) =>
  (text: string, bind: Bind): string =>
    hasTrigrams(text)
      ? `lower(${column}) like lower(${bind(somewhere(text))})`
      : `strpos(lower(${column}), lower(${bind(text)})) > 0`;

const conditions: Conditions<TransactionFilter> = {
  gateway_account_id: equals("gateway_account_id"),
  account_ids: (ids, bind) => `gateway_account_id = any(${bind(ids)}::text[])`,
  transaction_type: equals("transaction_type"),
  reference: contains("reference"),
  exact_reference: (text, bind) => `lower(reference) = lower(${bind(text)})`,
  email: contains("email"),
  cardholder_name: contains("cardholder_name"),
  first_digits_card_number: equals("first_digits_card_number"),
  last_digits_card_number: equals("last_digits_card_number"),
  card_brands: (brands, bind) => `card_brand = any(${bind(brands)}::text[])`,
  states: (states, bind) => `state = any(${bind(states)}::text[])`,
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
  payment_provider: (provider, bind) => `lower(details ->> 'payment_provider') = lower(${bind(provider)})`,
  agreement_id: equals("agreement_id"),
  metadata_value: (text, bind) => `metadata_values @> array[${bind(text.toLowerCase())}::text]`,
  after: (position, bind) =>
    `${isAfter(position, bind)} and first_event_id <= ${bind(position.newest_event_id)}`,
};

export const isAfter = ({ created_date, external_id }: Position, bind: Bind): string =>
  `(created_date, external_id) < (${bind(created_date)}, ${bind(external_id)})`;

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
export function conditionsOf(filter: TransactionFilter, bind: Bind): string {
  const given = Object.entries(filter).filter(([, value]) => value !== undefined);
  const clauses = given.map(([name, value]) =>
    (conditions[name as keyof TransactionFilter] as (value: unknown, bind: Bind) => string)(value, bind),
  );
  return ["true", ...clauses].join(" and ");
}
