import { stateMachine } from "../../../../generated/ledger.state-machine.ts";
import type { Plan, Sql } from "../../../database/database.ts";
import { microsecondAfter } from "../../../values/instant.ts";
import {
  type Bind,
  binding,
  hasTrigrams,
  newestFirst as inOrder,
  isAfter,
  literally,
  type Position,
  somewhere,
} from "../conditions.ts";
import { beginning, end } from "../summary/periods.ts";
import type { SummaryFilter } from "../summary/rows.ts";
import { countSummarised } from "../summary/summary.ts";
import {
  bytesBefore,
  type ReportedTransaction,
  reported,
  reportedColumns,
  type TransactionRow,
  type TransactionType,
} from "../transaction.ts";
import { conditionsOf, isPaidOut, type TransactionFilter } from "./transaction-filter.ts";

/** A transaction in a search result, which is also a position. */
export type FoundTransaction = ReportedTransaction & Position;

/** The place and the limits of a page. It has one more transaction than the bytes permit. */
export interface PageLimits {
  offset?: number;
  countMax: number;
  bytesMax: number;
}

/**
 * A page of the transactions that match the filter, newest first; ties are ordered by id, descending. A search from a position
 * excludes transactions that arrived after its first page was read.
 */
export async function searchTransactions(
  sql: Sql,
  filter: TransactionFilter,
  { offset = 0, countMax, bytesMax }: PageLimits,
): Promise<{ rows: FoundTransaction[]; isLast: boolean }> {
  // One row more than the page shows whether there is another page.
  const limit = countMax + 1;
  const attempts = attemptsFor(filter, offset + limit);
  const plan = hasOnlyRanges(filter) ? "repeated" : "custom";
  const rows = await firstKnown<FoundTransaction & { is_last: boolean }>(
    sql,
    attempts,
    plan,
    (attempt, bind) => {
      const arrived = filter.after ? bind(filter.after.arrived) : "(select arrived_events())";
      // `is_known` is joined to the page, since an empty page and an unknown one both have no rows.
      return `
      with found as materialized (
        select * from (${attempt(pageColumns, bind)} offset 0) as found
        ${newestFirst} limit ${bind(offset + limit)}
      )
      select * from (select coalesce(bool_and(not is_edge), true) as is_known from found) as answer
      left join lateral (
        select ${reported}, ${arrived}::text as arrived, number = count as is_last
        from (
          select *, ${bytesBefore(inOrder)} as bytes_before, row_number() over (order by ${inOrder}) as number,
            count(*) over () as count
          from (select * from found ${newestFirst} limit ${bind(limit)} offset ${bind(offset)}) as page
        ) as transaction
        where is_known and number <= ${bind(countMax)} and bytes_before < ${bind(bytesMax)}
      ) as page on true
      ${newestFirst}`;
    },
  );
  const found = rows.filter(({ external_id }) => external_id !== null);
  return { rows: found, isLast: found.at(-1)?.is_last ?? true };
}

/** The number of transactions that match the filter, up to `max`. Without summaries counting stops at `max`. */
export async function countTransactions(
  sql: Sql,
  filter: TransactionFilter,
  max = Number.POSITIVE_INFINITY,
): Promise<number> {
  const summarised = summaryFilterOf(filter);
  if (summarised) return Math.min(await countSummarised(sql, summarised), max);
  const isExact = max === Number.POSITIVE_INFINITY;
  const attempts = isExact ? [readAll(filter)] : attemptsFor(filter, max);
  const [row] = await firstKnown<{ count: bigint }>(sql, attempts, "custom", (attempt, bind) => {
    const matching = attempt([], bind);
    return isExact
      ? `select count(*), true as is_known from (${matching}) as found`
      : `select count(*), coalesce(bool_and(not is_edge), true) as is_known
         from (${matching} limit ${bind(max)}) as found`;
  });
  return Number(row?.count);
}

/** The filter in terms of the summaries; undefined if they do not know a part of it. */
function summaryFilterOf(filter: TransactionFilter): SummaryFilter | undefined {
  const { account_ids, transaction_type, states, states_by_type, created_after, created_before, ...others } =
    filter;
  if (Object.values(others).some((value) => value !== undefined)) return undefined;
  const created = {
    from: created_after === undefined ? beginning : (microsecondAfter(created_after) ?? end),
    to: created_before ?? end,
  };
  return { account_ids, transaction_type, states, states_by_type, created };
}

/** Makes the attempts in order and resolves with the rows of the first whose result is known (`is_known`). */
async function firstKnown<Row>(
  sql: Sql,
  attempts: Attempt[],
  plan: Plan,
  statementOf: (attempt: Attempt, bind: Bind) => string,
): Promise<Row[]> {
  for (const attempt of attempts) {
    const { values, bind } = binding();
    const rows = await sql.query<Row & { is_known: boolean }>(statementOf(attempt, bind), values, plan);
    if (rows[0]?.is_known) return rows;
  }
  throw new Error("the result of the last attempt must be known");
}

type Column = keyof TransactionRow | "size";
const pageColumns: Column[] = [...reportedColumns, "gateway_payout_id", "size"];

/**
 * A statement for these columns of matching transactions and `is_edge`: whether older transactions that the attempt has
 * not read may also match. An edge itself may not match.
 */
type Attempt = (columns: Column[], bind: Bind) => string;

/** Maximum number of matches of one condition that are read in any order. */
const lookupMax = 5000;
/** Rows that are read in order before conditions with many matches are looked up. */
const shortWalk = (enough: number) => 2000 + 4 * enough;
/** Rows that are read in order before all matches are read. */
const longWalk = (enough: number) => 50_000 + 20 * enough;

/**
 * The attempts for a page, in order. Each attempt limits what it reads in its statement, whatever the plan: with missing,
 * old or uncorrelated statistics the planner may expect an early match and read a whole table.
 */
function attemptsFor(filter: TransactionFilter, enough: number): Attempt[] {
  if (hasOnlyRanges(filter)) return [walk(filter, enough)];
  const texts = lookupByText(filter);
  return [
    ...lookupsByRareIds(filter).map((lookup) => lookUp(filter, lookup, lookupMax)),
    walk(filter, enough, shortWalk(enough)),
    ...[...lookupsByCommonValues(filter), ...texts].map((lookup) => lookUp(filter, lookup, lookupMax)),
    ...lookUpByPayout(filter, lookupMax),
    walk(filter, enough, longWalk(enough)),
    texts[0] ? lookUp(filter, texts[0]) : readAll(filter),
  ];
}

const newestFirst = `order by ${inOrder}`;
/** The same order, since neither column is null, in a form that only the index of outlines by account has. */
const newestFirstOfAccount = "order by created_date desc nulls last, external_id desc nulls last";

/** Filters that select ranges of an index. */
const namesOfRanges: ReadonlySet<string> = new Set<keyof TransactionFilter>([
  "account_ids",
  "transaction_type",
  "states",
  "states_by_type",
  "created_after",
  "created_before",
  "after",
]);

const hasOnlyRanges = (filter: TransactionFilter): boolean =>
  Object.entries(filter).every(([name, value]) => value === undefined || namesOfRanges.has(name));

/**
 * Reads the transactions of the accounts, types and states, newest first, from an index in this order; with a type or a
 * state, from an index of outlines. With `rows`, that many rows are read and checked against the other conditions, and the
 * last one is an edge. Without it there must be no other conditions.
 */
const walk =
  (filter: TransactionFilter, enough: number, rows?: number): Attempt =>
  (columns, bind) => {
    const ranges = rangesOf(filter, bind, rows === undefined);
    const selected = columns.map((column) => `transaction.${column}`);
    if (rows === undefined)
      return `select ${[...selected, "false as is_edge"]} from (${newestOf(ranges, enough, bind)}) as transaction`;
    return `
      select ${[...selected, "is_edge"]} from (
        select * from (
          select *, row_number() over (${newestFirst}) = ${bind(rows)} as is_edge
          from (${newestOf(ranges, rows, bind)}) as read_rows offset 0
        ) as transaction
        where is_edge or ${conditionsOf(filter, bind)}
        ${newestFirst} limit ${bind(enough)}
      ) as transaction`;
  };

/** The ranges of an index that a walk reads, one for each account, type and state. */
interface Ranges {
  count: number;
  /** The columns that select a range, and a `from` clause with a row of them for each range. */
  columns: string[];
  from: string;
  /** The newest rows of a range up to a maximum, in order, not older than an instant. `from` must be in scope. */
  newest(what: string, max: string, oldest?: string): string;
  /** True if the index is that of the outlines, which have keys only. */
  areOutlines: boolean;
}

function rangesOf(filter: TransactionFilter, bind: Bind, hasArrived: boolean): Ranges {
  const { created_after, created_before, after } = filter;
  const accounts = accountsOf(filter);
  const kinds = kindsOf(filter);
  const from = ["(select) as everything"];
  const columns: string[] = [];
  const conditions = [conditionsOf({ created_after, created_before }, bind)];
  // Only rows that are checked against all conditions can be ranged by the index alone, which lacks the order of arrival.
  if (after) conditions.push(hasArrived ? conditionsOf({ after }, bind) : isAfter(after, bind));
  if (accounts) {
    from.push(`unnest(${bind(accounts)}::text[]) as account (wanted_account)`);
    columns.push("wanted_account");
    conditions.push(only("gateway_account_id", "wanted_account"));
  }
  if (kinds) {
    const arrays = [kinds.map(({ type }) => type), kinds.map(({ state }) => state)];
    const unnested = arrays.map((array) => `${bind(array)}::text[]`);
    from.push(`unnest(${unnested}) as kind (wanted_type, wanted_state)`);
    columns.push("wanted_type", "wanted_state");
    conditions.push("transaction_type = wanted_type and state = wanted_state");
  }
  const table = kinds ? "transaction_outline as transaction" : "transaction";
  const order = kinds && accounts ? newestFirstOfAccount : newestFirst;
  return {
    count: (accounts?.length ?? 1) * (kinds?.length ?? 1),
    columns,
    from: from.join(" cross join "),
    // For a limit in a subquery the planner assumes a tenth of the rows, so that it never sorts all of them instead.
    newest(what, max, oldest) {
      const all = oldest === undefined ? conditions : [...conditions, `created_date >= ${oldest}`];
      return `select ${what} from ${table} where ${all.join(" and ")} ${order} limit (select ${max}::bigint)`;
    },
    areOutlines: kinds !== undefined,
  };
}

/** The newest `enough` transactions of all ranges, in order. */
function newestOf(ranges: Ranges, enough: number, bind: Bind): string {
  const ofEach = (what: string) =>
    `select own.* from ${ranges.from} cross join lateral (${ranges.newest(what, bind(enough))}) as own`;
  if (ranges.count <= 1 && !ranges.areOutlines) return ofEach("*");
  const newest =
    ranges.count * enough > keysMax
      ? newestKeysOf(ranges, enough, bind)
      : `${ofEach(keys)} ${newestFirst} limit ${bind(enough)}`;
  return `
    select transaction.* from (${newest}) as key cross join lateral (
      select * from transaction where transaction.external_id = key.external_id offset 0
    ) as transaction`;
}

/** Maximum number of keys that are read at once. */
const keysMax = 10_000;
const keys = "external_id, created_date";

/**
 * The keys of the newest `enough` rows of all ranges, in order. They are read in rounds. After each round, four times as many
 * rows of a range are read as before. A round continues only the ranges of which every row that was read may be among the
 * newest ones, and reads none that is too old. So the number of keys that are read is about that of the ranges and a few times `enough`, however the
 * rows are distributed.
 */
function newestKeysOf(ranges: Ranges, enough: number, bind: Bind): string {
  const all = bind(enough);
  const parts: string[] = [];
  /** The ranges of the next round, and a date: older rows are not among the newest ones. */
  let [unfinished, oldest] = [ranges.from, "'-infinity'"];
  const found: string[] = [];
  let read = 0;
  let length = Math.ceil(enough / Math.max(1, ranges.count));
  for (let round = 0; read < enough; round += 1) {
    const max = bind(length);
    found.push(`select ${keys} from round${round}`);
    parts.push(
      `round${round} as materialized (
        select ${ranges.columns}, own.* from ${unfinished} cross join lateral (
          ${ranges.newest(keys, max, oldest)} offset ${bind(read)}
        ) as own
      )`,
      `oldest${round} as materialized (
        select created_date from (${found.join(" union all ")}) as found
        order by created_date desc limit 1 offset ${all}::bigint - 1
      )`,
      `unfinished${round} as materialized (
        select ${ranges.columns} from round${round} group by ${ranges.columns}
        having count(*) = ${max} and min(created_date) >= ${oldestIn(round)}
      )`,
    );
    [unfinished, oldest] = [`unfinished${round}`, oldestIn(round)];
    read += length;
    length = 3 * read;
  }
  return `with ${parts.join(", ")}
    select ${keys} from (${found.join(" union all ")}) as found ${newestFirst} limit ${all}`;
}

const oldestIn = (round: number) => `coalesce((select created_date from oldest${round}), '-infinity')`;

/** The accounts of a search, without duplicates; undefined for all accounts. */
const accountsOf = ({ account_ids }: TransactionFilter): string[] | undefined =>
  account_ids && [...new Set(account_ids)];

const types: TransactionType[] = ["PAYMENT", "REFUND", "DISPUTE"];
const allKinds = types.flatMap((type) =>
  stateMachine.transaction_states.map(({ state }) => ({ type, state })),
);

/** The types and states of a search; undefined for all. */
function kindsOf({ transaction_type, states, states_by_type }: TransactionFilter) {
  if (!transaction_type && !states && !states_by_type) return undefined;
  return allKinds.filter(
    ({ type, state }) =>
      (!transaction_type || type === transaction_type) &&
      (!states || states.includes(state)) &&
      (!states_by_type || states_by_type.some((wanted) => wanted[0] === type && wanted[1].includes(state))),
  );
}

/** The `from` clause for the transactions that match one condition, by an index. */
type Lookup = (bind: Bind) => string;

/**
 * Reads the transactions that match one condition and checks the others. If more than `max` match the first one, every row
 * is an edge.
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

const lookupByValue = (column: Column, values: string | string[] | undefined): Lookup[] =>
  values === undefined
    ? []
    : [
        (bind) => `unnest(${bind([...new Set([values].flat())])}::text[]) as wanted (value)
          cross join lateral (select * from transaction where ${only(column, "value")} offset 0) as transaction`,
      ];

/** For a search by settled date: reads the transactions in its payouts. The date is not compared again. */
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

/** One lookup for all texts and the metadata value, so that their indexes are combined before a row is read. */
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

/** Reads all matches: from the payouts of a search by settled date, otherwise by the plan of the database, at worst a full scan. */
function readAll(filter: TransactionFilter): Attempt {
  const [inPayouts] = lookUpByPayout(filter);
  if (inPayouts) return inPayouts;
  return (columns, bind) => `
    select ${[...columns, "false as is_edge"]} from transaction where ${conditionsOf(filter, bind)}`;
}

/**
 * Equality that the planner expects to be selective, whatever the statistics: for a range between unknown values it assumes
 * 0.5 %. So it prefers the index of the column to an ordered one or the table.
 */
const only = (column: Column, value: string): string =>
  `${column} = ${value} and ${column} between ${value} and ${value}`;

/** A value that the planner cannot see, so that it uses its default estimate. */
const hidden = (value: string, type: string): string => `(select ${value}::${type})`;
