/** Adds a value to the statement and returns its placeholder. */
export type Bind = (value: unknown) => string;

export function binding(): { values: unknown[]; bind: Bind } {
  const values: unknown[] = [];
  return { values, bind: (value) => `$${values.push(value)}` };
}

/** The condition of each member of a filter. */
export type Conditions<Filter> = {
  [Name in keyof Filter]-?: (value: NonNullable<Filter[Name]>, bind: Bind) => string;
};

/** A condition for all members of a filter that are given. */
export function allOf<Filter extends object>(
  conditions: Conditions<Filter>,
  filter: Filter,
  bind: Bind,
): string {
  const given = Object.entries(filter).filter(([, value]) => value !== undefined);
  const clauses = given.map(([name, value]) => conditions[name as keyof Filter](value, bind));
  return ["true", ...clauses].join(" and ");
}

export const equals =
  (column: string) =>
  (value: string | boolean, bind: Bind): string =>
    `${column} = ${bind(value)}`;

export const isOneOf =
  (column: string) =>
  (values: string[], bind: Bind): string =>
    `${column} = any(${bind(values)}::text[])`;

export const equalsInAnyCase =
  (column: string) =>
  (text: string, bind: Bind): string =>
    `lower(${column}) = lower(${bind(text)})`;

/** A pattern, for which the trigram index is used. For a text without trigrams the index would be read completely. */
export const contains =
  (column: string) =>
  (text: string, bind: Bind): string =>
    hasTrigrams(text)
      ? `lower(${column}) like lower(${bind(somewhere(text))})`
      : `strpos(lower(${column}), lower(${bind(text)})) > 0`;

/** True if a text has trigrams: three letters or digits in a row, or fewer at the edge of a word. */
export const hasTrigrams = (text: string) =>
  /[\p{L}\p{N}]{3}|[^\p{L}\p{N}][\p{L}\p{N}]|[\p{L}\p{N}]{2}[^\p{L}\p{N}]/u.test(text);

/** A pattern that matches only this text. */
export const literally = (text: string) => text.replaceAll(/[\\%_]/g, "\\$&");
export const somewhere = (text: string) => `%${literally(text)}%`;

/** A position in a search: after a row, without the rows that arrived after the first page was read. */
export interface Position {
  created_date: string;
  external_id: string;
  /** The events that had arrived, as the SQL function `arrived_events` writes them. */
  arrived: string;
}

/** True if a text has the form of `arrived_events`. An older release wrote only the highest id. */
export const isArrived = (text: string): boolean => arrivedForm.test(text);
const number = "[1-9]\\d{0,17}";
const distance = "(?:0|[1-9]\\d{0,8})";
const arrivedForm = new RegExp(`^${number}(:${number}:(${distance}(,${distance})*)?)?$`);

/** The order of a search. */
export const newestFirst = "created_date desc, external_id desc";

export const isAfter = ({ created_date, external_id }: Position, bind: Bind): string =>
  `(created_date, external_id) < (${bind(created_date)}, ${bind(external_id)})`;

/**
 * After a position, among the rows that had arrived. A row arrives with the SQL transaction of its first event. Ids of
 * events are given out before commits, so that an event of a transaction in flight can have a lower id than one that had
 * arrived.
 */
export function continuesAfter(position: Position, bind: Bind): string {
  const [newest = "", feedEnd, behind = ""] = position.arrived.split(":");
  const isNotNewer = `${isAfter(position, bind)} and first_event_id <= ${bind(newest)}::bigint`;
  if (feedEnd === undefined) return isNotNewer;
  const distances = behind === "" ? [] : behind.split(",");
  return `${isNotNewer} and coalesce((
    select sql_transaction < ${bind(feedEnd)}::bigint
      or sql_transaction - ${bind(feedEnd)}::bigint = any(${bind(distances)}::bigint[])
    from event_feed where event_id = first_event_id and not only_of_account
  ), true)`;
}
