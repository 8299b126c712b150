import { stateMachine } from "../../../../generated/ledger.state-machine.ts";
import type { Bind } from "../conditions.ts";
import { afterCondition, continuationCondition, newestFirst } from "../page.ts";
import type { TransactionRow, TransactionType } from "../transaction.ts";
import { filterCondition, type TransactionFilter } from "./transaction-filter.ts";

const inOrder = `order by ${newestFirst}`;
/** The same order as `inOrder`, since neither column is null, in a form that only the index of outlines by account has. */
const inOrderOfAccount = "order by created_date desc nulls last, external_id desc nulls last";

/** Filters that select ranges of an index. */
const rangeNames: ReadonlySet<string> = new Set<keyof TransactionFilter>([
  "account_id",
  "transaction_type",
  "state",
  "states_by_type",
  "from_date",
  "to_date",
  "after",
]);

export const hasOnlyRanges = (filter: TransactionFilter): boolean =>
  Object.entries(filter).every(([name, value]) => value === undefined || rangeNames.has(name));

/** The ranges of an index that a scan in order reads, one for each account, type and state. */
export function rangesOf(filter: TransactionFilter, bind: Bind, hasArrived: boolean) {
  const { from_date, to_date, after } = filter;
  const accounts = accountsOf(filter);
  const typeStates = typeStatesOf(filter);
  const from = ["(select) as everything"];
  const columns: string[] = [];
  const conditions = [filterCondition({ from_date, to_date }, bind)];
  // Only rows that are checked against all conditions can be ranged by the index alone, which lacks the order of arrival.
  if (after) conditions.push((hasArrived ? continuationCondition : afterCondition)(after, bind));
  if (accounts?.length === 1) {
    // The planner does not know that an array has one element, and would sort the rows again.
    conditions.push(selectiveCondition("gateway_account_id", bind(accounts[0])));
  } else if (accounts) {
    from.push(`unnest(${bind(accounts)}::text[]) as account (wanted_account)`);
    columns.push("wanted_account");
    conditions.push(selectiveCondition("gateway_account_id", "wanted_account"));
  }
  if (typeStates) {
    const arrays = [typeStates.map(({ type }) => type), typeStates.map(({ state }) => state)];
    const unnested = arrays.map((array) => `${bind(array)}::text[]`);
    from.push(`unnest(${unnested}) as type_state (wanted_type, wanted_state)`);
    columns.push("wanted_type", "wanted_state");
    conditions.push("transaction_type = wanted_type and state = wanted_state");
  }
  const table = typeStates ? "transaction_outline as transaction" : "transaction";
  const order = typeStates && accounts ? inOrderOfAccount : inOrder;
  return {
    count: (accounts?.length ?? 1) * (typeStates?.length ?? 1),
    /** The columns that select a range, and a `from` clause with a row of them for each range. */
    columns,
    from: from.join(" cross join "),
    /**
     * The newest rows of a range up to a maximum, in order, not older than an instant. `from` must be in scope. For a limit in
     * a subquery the planner assumes a tenth of the rows, so that it never sorts all of them instead.
     */
    newest(what: string, max: string, oldest?: string): string {
      const all = oldest === undefined ? conditions : [...conditions, `created_date >= ${oldest}`];
      return `select ${what} from ${table} where ${all.join(" and ")} ${order} limit (select ${max}::bigint)`;
    },
  };
}
type Ranges = ReturnType<typeof rangesOf>;

/** The newest `enough` transactions of all ranges, in order. */
export function newestOf(ranges: Ranges, enough: number, bind: Bind): string {
  if (ranges.columns.length === 0) return ranges.newest("*", bind(enough));
  const ofEach = (what: string) =>
    `select own.* from ${ranges.from} cross join lateral (${ranges.newest(what, bind(enough))}) as own`;
  const newest =
    ranges.count * enough > keysMax
      ? newestKeysOf(ranges, enough, bind)
      : `${ofEach(keys)} ${inOrder} limit ${bind(enough)}`;
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
    select ${keys} from (${found.join(" union all ")}) as found ${inOrder} limit ${all}`;
}

const oldestIn = (round: number) => `coalesce((select created_date from oldest${round}), '-infinity')`;

/** The accounts of a search, without duplicates; undefined for all accounts. */
export const accountsOf = ({ account_id }: TransactionFilter): string[] | undefined =>
  account_id && [...new Set(account_id)];

const types: TransactionType[] = ["PAYMENT", "REFUND", "DISPUTE"];
const allTypeStates = types.flatMap((type) =>
  stateMachine.transaction_states.map(({ state }) => ({ type, state })),
);

/** The types and states of a search; undefined for all. */
function typeStatesOf({ transaction_type, state: states, states_by_type }: TransactionFilter) {
  if (!transaction_type && !states && !states_by_type) return undefined;
  return allTypeStates.filter(
    ({ type, state }) =>
      (!transaction_type || type === transaction_type) &&
      (!states || states.includes(state)) &&
      (!states_by_type || states_by_type.some((wanted) => wanted[0] === type && wanted[1].includes(state))),
  );
}

/**
 * Equality that the planner expects to be selective, whatever the statistics: for a range between unknown values it assumes
 * 0.5 %. So it prefers the index of the column to an ordered one or the table.
 */
export const selectiveCondition = (column: keyof TransactionRow, value: string): string =>
  `${column} = ${value} and ${column} between ${value} and ${value}`;
