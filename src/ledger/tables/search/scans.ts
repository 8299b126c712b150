import { type Bind, hasTrigrams, literally, somewhere } from "../conditions.ts";
import { newestFirst } from "../page.ts";
import type { TransactionRow } from "../transaction.ts";
import { accountsOf, hasOnlyRanges, newestOf, rangesOf, selectiveCondition } from "./ranges.ts";
import { filterCondition, paidOutCondition, type TransactionFilter } from "./transaction-filter.ts";

type Column = keyof TransactionRow | "size";

/**
 * A statement for these columns of matching transactions and `is_cut_off`: true if older transactions that the scan has not
 * read may also match. A row that is cut off may itself not match.
 */
export type Scan = (columns: readonly Column[], bind: Bind) => string;

/** Maximum number of matches of one condition that are read in any order. */
const indexedMatchesMax = 5000;
/** Rows that are read in order before conditions with many matches are looked up. */
const shortScanRows = (enough: number) => 2000 + 4 * enough;
/** Rows that are read in order before all matches are read. */
const longScanRows = (enough: number) => 50_000 + 20 * enough;

/**
 * The scans for a page, in order. Each limits what it reads in its statement, whatever the plan: with missing,
 * old or uncorrelated statistics the planner may expect an early match and read a whole table.
 */
export function scansFor(filter: TransactionFilter, enough: number): Scan[] {
  if (hasOnlyRanges(filter)) return [scanBounded(filter, enough)];
  const texts = lookupByText(filter);
  const notLive = lookupOfNotLive(filter);
  const [last] = [...texts, ...notLive];
  return [
    ...lookupsByRareIds(filter).map((lookup) => readByIndex(filter, lookup, indexedMatchesMax)),
    scanBounded(filter, enough, shortScanRows(enough)),
    ...[...lookupsByCommonValues(filter), ...notLive, ...texts].map((lookup) =>
      readByIndex(filter, lookup, indexedMatchesMax),
    ),
    ...scansOfPayouts(filter, indexedMatchesMax),
    scanBounded(filter, enough, longScanRows(enough)),
    last ? readByIndex(filter, last) : readAll(filter),
  ];
}

/**
 * Reads the transactions of the accounts, types and states, newest first, from an index in this order; with a type or a
 * state, from an index of outlines. With `rows`, that many rows are read and checked against the other conditions, and the
 * last one is cut off. Without it there must be no other conditions.
 */
const scanBounded =
  (filter: TransactionFilter, enough: number, rows?: number): Scan =>
  (columns, bind) => {
    const ranges = rangesOf(filter, bind, rows === undefined);
    const selected = columns.map((column) => `transaction.${column}`);
    if (rows === undefined)
      return `select ${[...selected, "false as is_cut_off"]} from (${newestOf(ranges, enough, bind)}) as transaction`;
    return `
      select ${[...selected, "is_cut_off"]} from (
        select * from (
          select *, row_number() over (order by ${newestFirst}) = ${bind(rows)} as is_cut_off
          from (${newestOf(ranges, rows, bind)}) as read_rows offset 0
        ) as transaction
        where is_cut_off or ${filterCondition(filter, bind)}
        order by ${newestFirst} limit ${bind(enough)}
      ) as transaction`;
  };

/** The `from` clause for the transactions that match one condition, by an index. */
type Lookup = (bind: Bind) => string;

/**
 * Reads the transactions that match one condition and checks the others. If more than `max` match the first one, every row
 * is cut off.
 */
const readByIndex =
  (filter: TransactionFilter, lookup: Lookup, max?: number): Scan =>
  (columns, bind) => {
    const [cutOffCondition, limit] =
      max === undefined ? ["false", "offset 0"] : [`count(*) over () > ${max}`, `limit ${max + 1}`];
    return `
      select ${[...columns, "is_cut_off"]} from (
        select *, ${cutOffCondition} as is_cut_off
        from (select transaction.* from ${lookup(bind)} ${limit}) as transaction
      ) as transaction
      where is_cut_off or ${filterCondition(filter, bind)}`;
  };

/** Ids that few transactions share. */
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

const lookupByValue = (column: keyof TransactionRow, values: string | string[] | undefined): Lookup[] =>
  values === undefined
    ? []
    : [
        (bind) => `unnest(${bind([...new Set([values].flat())])}::text[]) as wanted (value)
          cross join lateral (select * from transaction where ${selectiveCondition(column, "value")} offset 0) as transaction`,
      ];

/** For a search of transactions without real money, which have an index, since they are few where most are live. */
function lookupOfNotLive({ live, ...others }: TransactionFilter): Lookup[] {
  if (live !== false) return [];
  const accounts = accountsOf(others);
  // Between values that the planner cannot see, so that it expects few rows.
  const no = hidden("false", "boolean");
  const condition = `live = false and live between ${no} and ${no}`;
  if (!accounts) return [() => `transaction where ${condition}`];
  return [
    (bind) => `unnest(${bind(accounts)}::text[]) as account (wanted_account) cross join lateral (
      select * from transaction
      where ${selectiveCondition("gateway_account_id", "wanted_account")} and ${condition} offset 0
    ) as transaction`,
  ];
}

/** For a search by settled date: reads the transactions in its payouts. The date is not compared again. */
function scansOfPayouts({ settled, ...others }: TransactionFilter, max?: number): Scan[] {
  if (!settled) return [];
  const accounts = accountsOf(others);
  const day = (value: string, bind: Bind) => hidden(bind(value), "date");
  const lookup: Lookup = (bind) => `
    ${accounts ? `unnest(${bind(accounts)}::text[]) as account (wanted_account) cross join` : ""} lateral (
      select gateway_payout_id as settled_payout, gateway_account_id as settled_account from payout
      where ${accounts ? selectiveCondition("gateway_account_id", "wanted_account") : "true"} and ${paidOutCondition(settled, bind, day)}
      offset 0
    ) as settled cross join lateral (
      select * from transaction
      where ${selectiveCondition("gateway_payout_id", "settled_payout")} and gateway_account_id = settled_account offset 0
    ) as transaction`;
  return [readByIndex(others, lookup, max)];
}

/** One lookup for all texts and the metadata value, so that their indexes are combined before a row is read. */
function lookupByText(filter: TransactionFilter) {
  const { reference, exact_reference, email, cardholder_name, metadata_value } = filter;
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

/** Reads all matches: from the payouts of a search by settled date, or by the plan of the database, at worst a full scan. */
export function readAll(filter: TransactionFilter): Scan {
  const [inPayouts] = scansOfPayouts(filter);
  if (inPayouts) return inPayouts;
  return (columns, bind) => `
    select ${[...columns, "false as is_cut_off"]} from transaction where ${filterCondition(filter, bind)}`;
}

/** A value that the planner cannot see, so that it uses its default estimate. */
const hidden = (value: string, type: string): string => `(select ${value}::${type})`;
