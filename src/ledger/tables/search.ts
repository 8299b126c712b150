import { stateMachine } from "../../../generated/ledger.state-machine.ts";
import type { Sql } from "../database/database.ts";
import {
  isPayoutOfTransaction,
  type ReportedTransaction,
  reported,
  reportedColumns,
  type TransactionRow,
  type TransactionState,
  type TransactionType,
} from "./transaction.ts";

/** Where a search goes on: behind a row, without the transactions that arrived after an event. */
export interface Position {
  created_date: string;
  external_id: string;
  newest_event_id: bigint;
}

/** A transaction that was found, and so a place to go on from. */
export type FoundTransaction = ReportedTransaction & Position;

/** All that are given must hold. Instants are in UTC. Texts that are looked for are taken literally. */
export interface TransactionFilter {
  gateway_account_id?: string | undefined;
  account_ids?: string[] | undefined;
  transaction_type?: TransactionType | undefined;
  /** Text the reference contains, letter case aside. */
  reference?: string | undefined;
  /** The whole reference, letter case aside. */
  exact_reference?: string | undefined;
  /** Text the email address contains, letter case aside. */
  email?: string | undefined;
  /** Text the name contains, letter case aside. */
  cardholder_name?: string | undefined;
  first_digits_card_number?: string | undefined;
  last_digits_card_number?: string | undefined;
  card_brands?: string[] | undefined;
  states?: TransactionState[] | undefined;
  /** For each type that may be found the states it may be in. */
  states_by_type?: [TransactionType, TransactionState[]][] | undefined;
  created_after?: string | undefined;
  created_before?: string | undefined;
  /** Days in UTC, themselves included. */
  settled?: { from?: string | undefined; to?: string | undefined } | undefined;
  gateway_payout_id?: string | undefined;
  gateway_transaction_id?: string | undefined;
  /** Letter case aside. */
  payment_provider?: string | undefined;
  agreement_id?: string | undefined;
  /** Value of any metadata key, letter case aside. */
  metadata_value?: string | undefined;
  after?: Position | undefined;
}

/**
 * Those that fit the filter, newest first; ties by id, so that the order is total. To go on from one is to stay
 * within the transactions that had arrived when the first of them was read.
 */
export async function searchTransactions(
  sql: Sql,
  filter: TransactionFilter,
  { offset = 0, limit }: { offset?: number; limit: number },
): Promise<FoundTransaction[]> {
  const attempts = attemptsFor(filter, offset + limit);
  const rows = await firstKnown<FoundTransaction>(sql, attempts, (attempt, bind) => {
    const newest = filter.after
      ? bind(filter.after.newest_event_id)
      : "(select coalesce(max(id), 0) from event)";
    // The page is joined to whether it is known, since an empty page and one that is not known both have no rows.
    return `
      with found as materialized (
        select * from (${attempt(pageColumns, bind)} offset 0) as found
        ${newestFirst} limit ${bind(offset + limit)}
      )
      select * from (select coalesce(bool_and(not is_edge), true) as is_known from found) as answer
      left join lateral (
        select ${reported}, ${newest}::bigint as newest_event_id
        from (select * from found ${newestFirst} limit ${bind(limit)} offset ${bind(offset)}) as transaction
        where is_known
      ) as page on true
      ${newestFirst}`;
  });
  return rows.filter(({ external_id }) => external_id !== null);
}

/** How many fit the filter; counting stops at `max`. */
export async function countTransactions(
  sql: Sql,
  filter: TransactionFilter,
  max = Number.POSITIVE_INFINITY,
): Promise<number> {
  const isExact = max === Number.POSITIVE_INFINITY;
  const attempts = isExact ? [readAll(filter)] : attemptsFor(filter, max);
  const [row] = await firstKnown<{ count: bigint }>(sql, attempts, (attempt, bind) => {
    const matching = attempt([], bind);
    return isExact
      ? `select count(*), true as is_known from (${matching}) as found`
      : `select count(*), coalesce(bool_and(not is_edge), true) as is_known
         from (${matching} limit ${bind(max)}) as found`;
  });
  return Number(row?.count);
}

/** Makes each attempt in turn, with a statement that also gives `is_known`; resolves with the rows of the first that is. */
async function firstKnown<Row>(
  sql: Sql,
  attempts: Attempt[],
  statementOf: (attempt: Attempt, bind: Bind) => string,
): Promise<Row[]> {
  for (const attempt of attempts) {
    const { values, bind } = binding();
    const rows = await sql.query<Row & { is_known: boolean }>(statementOf(attempt, bind), values, "once");
    if (rows[0]?.is_known) return rows;
  }
  throw new Error("the last attempt leaves nothing unknown");
}

type Column = keyof TransactionRow;
const pageColumns: Column[] = [...reportedColumns, "gateway_payout_id"];

/** Keeps a value for the statement and answers the placeholder that stands for it. */
type Bind = (value: unknown) => string;

function binding(): { values: unknown[]; bind: Bind } {
  const values: unknown[] = [];
  return { values, bind: (value) => `$${values.push(value)}` };
}

/**
 * Makes a statement that gives these columns of transactions that fit, and `is_edge`: whether others may fit that are
 * older than this one. Only an edge need not fit.
 */
type Attempt = (columns: Column[], bind: Bind) => string;

/** How many matches of one condition are read, in whatever order. */
const few = 5000;
/** Rows that are looked at before the conditions that many may fit are looked up. */
const shortWalk = (enough: number) => 2000 + 4 * enough;
/** Rows that are looked at before all matches are read. */
const longWalk = (enough: number) => 50_000 + 20 * enough;

/**
 * What to try in turn, until the page is known. What an attempt reads is bounded by its statement, not by the plan of it:
 * a planner that expects a match soon, by statistics that are old or missing or know nothing of values that go
 * together, reads a table through.
 */
function attemptsFor(filter: TransactionFilter, enough: number): Attempt[] {
  const given = Object.keys(filter).filter((name) => filter[name as keyof TransactionFilter] !== undefined);
  if (given.every((name) => namesOfRanges.has(name))) return [walk(filter, enough)];
  const texts = lookupByText(filter);
  return [
    ...lookupsByRareIds(filter).map((lookup) => lookUp(filter, lookup, few)),
    walk(filter, enough, shortWalk(enough)),
    ...[...lookupsByCommonValues(filter), ...texts].map((lookup) => lookUp(filter, lookup, few)),
    ...lookUpByPayout(filter, few),
    walk(filter, enough, longWalk(enough)),
    texts[0] ? lookUp(filter, texts[0]) : readAll(filter),
  ];
}

const newestFirst = "order by created_date desc, external_id desc";
/** The same, since each has a date and an id, in words that only the indexes by type and state fit. */
const newestFirstOfKind = "order by created_date desc nulls last, external_id desc nulls last";

/** Filters that say which ranges of an index are walked. */
const namesOfRanges: ReadonlySet<string> = new Set<keyof TransactionFilter>([
  "gateway_account_id",
  "account_ids",
  "transaction_type",
  "states",
  "states_by_type",
  "created_after",
  "created_before",
  "after",
]);

/**
 * Goes through the transactions of each account, and of each type and state, newest first, in an index that has them in
 * this order. When `rows` is given, so many are looked at for what else is asked, evenly in all ranges, of which each
 * ends with an edge; otherwise nothing else is asked.
 */
const walk =
  (filter: TransactionFilter, enough: number, rows?: number): Attempt =>
  (columns, bind) => {
    const { created_after, created_before, after } = filter;
    const accounts = accountsOf(filter);
    const kinds = kindsOf(filter);
    const ranges = ["(select) as everything"];
    const conditions = [conditionsOf({ created_after, created_before }, bind)];
    // Of what is looked at for more, the last row is found in the index alone, which does not know what arrived when.
    if (after) conditions.push(rows === undefined ? conditionsOf({ after }, bind) : isBehind(after, bind));
    if (accounts) {
      ranges.push(`unnest(${bind(accounts)}::text[]) as account (wanted_account)`);
      conditions.push(only("gateway_account_id", "wanted_account"));
    }
    if (kinds) {
      const arrays = [kinds.map(({ type }) => type), kinds.map(({ state }) => state)];
      const unnested = arrays.map((array) => `${bind(array)}::text[]`);
      ranges.push(`unnest(${unnested}) as kind (wanted_type, wanted_state)`);
      conditions.push("transaction_type = wanted_type and state = wanted_state");
    }
    const inOrder = kinds ? newestFirstOfKind : newestFirst;
    // Of a limit that is a subquery the planner assumes a tenth of the rows, so that it never sorts all of them instead.
    const range = (what: string, max: string) => `
      select ${what} from transaction where ${conditions.join(" and ")} ${inOrder} limit (select ${max}::bigint)`;
    const rangeCount = Math.max(1, (accounts?.length ?? 1) * (kinds?.length ?? 1));
    const fittingOf = (rowsOfRange: number) => `
      select * from (
        select *, coalesce(external_id = (${range("external_id", "1")} offset ${bind(rowsOfRange - 1)}), false) as is_edge
        from (${range("*", bind(rowsOfRange))}) as looked_at offset 0
      ) as transaction
      where is_edge or ${conditionsOf(filter, bind)}
      ${inOrder} limit ${bind(enough)}`;
    const fitting =
      rows === undefined
        ? range("*, false as is_edge", bind(enough))
        : fittingOf(Math.ceil(rows / rangeCount));
    return `
      select ${[...columns.map((column) => `transaction.${column}`), "is_edge"]}
      from ${ranges.join(" cross join ")} cross join lateral (${fitting}) as transaction`;
  };

/** The accounts a search is bound to, each once; undefined when there is no such bound. */
function accountsOf({ gateway_account_id, account_ids }: TransactionFilter): string[] | undefined {
  if (gateway_account_id === undefined) return account_ids && [...new Set(account_ids)];
  return account_ids && !account_ids.includes(gateway_account_id) ? [] : [gateway_account_id];
}

const types: TransactionType[] = ["PAYMENT", "REFUND", "DISPUTE"];
const allKinds = types.flatMap((type) =>
  stateMachine.transaction_states.map(({ state }) => ({ type, state })),
);

/** The types and states that may be found; undefined when all may. */
function kindsOf({ transaction_type, states, states_by_type }: TransactionFilter) {
  if (!transaction_type && !states && !states_by_type) return undefined;
  return allKinds.filter(
    ({ type, state }) =>
      (!transaction_type || type === transaction_type) &&
      (!states || states.includes(state)) &&
      (!states_by_type || states_by_type.some((wanted) => wanted[0] === type && wanted[1].includes(state))),
  );
}

/** What stands behind `from` to find, by an index, the transactions that fit one condition. */
type Lookup = (bind: Bind) => string;

/**
 * Reads the transactions that fit one condition, for what else is asked; when there are more than `max`, so many, each of
 * which is an edge.
 */
const lookUp =
  (filter: TransactionFilter, lookup: Lookup, max?: number): Attempt =>
  (columns, bind) => {
    const [isEdge, limit] =
      max === undefined ? ["false", "offset 0"] : [`count(*) over () > ${max}`, `limit ${max + 1}`];
    return `
      select ${[...columns, "is_edge"]} from (
        select *, ${isEdge} as is_edge
        from (select transaction.* from ${lookup(bind)} ${limit}) as transaction
      ) as transaction
      where is_edge or ${conditionsOf(filter, bind)}`;
  };

/** Ids that a few transactions share. */
const lookupsByRareIds = (filter: TransactionFilter): Lookup[] => [
  ...lookupByValue("gateway_transaction_id", filter.gateway_transaction_id),
  ...lookupByValue("agreement_id", filter.agreement_id),
  ...lookupByValue("gateway_payout_id", filter.gateway_payout_id),
];

const lookupsByCommonValues = (filter: TransactionFilter): Lookup[] => [
  ...lookupByValue("last_digits_card_number", filter.last_digits_card_number),
  ...lookupByValue("first_digits_card_number", filter.first_digits_card_number),
  ...lookupByValue("card_brand", filter.card_brands),
];

const lookupByValue = (column: Column, values: string | string[] | undefined): Lookup[] =>
  values === undefined
    ? []
    : [
        (bind) => `unnest(${bind([...new Set([values].flat())])}::text[]) as wanted (value)
          cross join lateral (select * from transaction where ${only(column, "value")} offset 0) as transaction`,
      ];

/** Reads the transactions in the payouts of a search by settled date, which is not compared again; none of another. */
function lookUpByPayout({ settled, ...others }: TransactionFilter, max?: number): Attempt[] {
  if (!settled) return [];
  const accounts = accountsOf(others);
  const day = (value: string, bind: Bind) => hidden(bind(value), "date");
  const lookup: Lookup = (bind) => `
    ${accounts ? `unnest(${bind(accounts)}::text[]) as account (wanted_account) cross join` : ""} lateral (
      select gateway_payout_id as settled_payout, gateway_account_id as settled_account from payout
      where ${accounts ? only("gateway_account_id", "wanted_account") : "true"} and ${isPaidOut(settled, bind, day)}
      offset 0
    ) as settled cross join lateral (
      select * from transaction
      where ${only("gateway_payout_id", "settled_payout")} and gateway_account_id = settled_account offset 0
    ) as transaction`;
  return [lookUp(others, lookup, max)];
}

/** A text of three letters or digits in a row, or of fewer at the edge of a word, has trigrams, by which it is found. */
const hasTrigrams = (text: string) =>
  /[\p{L}\p{N}]{3}|[^\p{L}\p{N}][\p{L}\p{N}]|[\p{L}\p{N}]{2}[^\p{L}\p{N}]/u.test(text);

/** A pattern that fits just this text. */
const literally = (text: string) => text.replaceAll(/[\\%_]/g, "\\$&");
const somewhere = (text: string) => `%${literally(text)}%`;

/** All texts and the metadata value at a time: what an index has of each is compared before a row is read. */
function lookupByText({
  reference,
  exact_reference,
  email,
  cardholder_name,
  metadata_value,
}: TransactionFilter) {
  const patterns = Object.entries({ reference, email, cardholder_name })
    .filter((text): text is [string, string] => text[1] !== undefined && hasTrigrams(text[1]))
    .map(([column, text]) => [column, somewhere(text)]);
  if (exact_reference !== undefined) patterns.push(["reference", literally(exact_reference)]);
  if (patterns.length === 0 && metadata_value === undefined) return [];
  const lookup: Lookup = (bind) => {
    const conditions = patterns.map(
      ([column, pattern]) => `lower(${column}) like lower(${hidden(bind(pattern), "text")})`,
    );
    if (metadata_value !== undefined) {
      conditions.push(`metadata_values @> array[${hidden(bind(metadata_value.toLowerCase()), "text")}]`);
    }
    return `transaction where ${conditions.join(" and ")}`;
  };
  return [lookup];
}

/**
 * Reads all that fit: those in the payouts of a search by settled date, and otherwise as the planner finds best, at the
 * worst once through all transactions.
 */
function readAll(filter: TransactionFilter): Attempt {
  const [inPayouts] = lookUpByPayout(filter);
  if (inPayouts) return inPayouts;
  return (columns, bind) => `
    select ${[...columns, "false as is_edge"]} from transaction where ${conditionsOf(filter, bind)}`;
}

/**
 * Equality, of which the planner assumes that little fits, whatever the statistics say: for a range between values that
 * it does not see it takes 0.5 %. So the column's index costs less than another that is in order, or the table.
 */
const only = (column: Column, value: string): string =>
  `${column} = ${value} and ${column} between ${value} and ${value}`;

/** A value that the planner does not see, so that it assumes of a condition what it assumes of any. */
const hidden = (value: string, type: string): string => `(select ${value}::${type})`;

type Conditions<Filter> = {
  [Name in keyof Filter]-?: (value: NonNullable<Filter[Name]>, bind: Bind) => string;
};

const equals =
  (column: string) =>
  (value: string, bind: Bind): string =>
    `${column} = ${bind(value)}`;

/** A pattern where the index on the column's trigrams serves; it would be read through for a text without any. */
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
    `${isBehind(position, bind)} and first_event_id <= ${bind(position.newest_event_id)}`,
};

const isBehind = ({ created_date, external_id }: Position, bind: Bind): string =>
  `(created_date, external_id) < (${bind(created_date)}, ${bind(external_id)})`;

/** Whether a payout was paid out in these days. */
function isPaidOut(
  days: NonNullable<TransactionFilter["settled"]>,
  bind: Bind,
  day = (value: string, bind: Bind) => `${bind(value)}::date`,
): string {
  return `paid_out_date >= ${day(days.from ?? "-infinity", bind)}::timestamp at time zone 'UTC'
    and paid_out_date < (${day(days.to ?? "infinity", bind)} + 1)::timestamp at time zone 'UTC'`;
}

function conditionsOf(filter: TransactionFilter, bind: Bind): string {
  const given = Object.entries(filter).filter(([, value]) => value !== undefined);
  const clauses = given.map(([name, value]) =>
    (conditions[name as keyof TransactionFilter] as (value: unknown, bind: Bind) => string)(value, bind),
  );
  return ["true", ...clauses].join(" and ");
}
