/** Adds a value to the statement and returns its placeholder. */
export type Bind = (value: unknown) => string;

export function binding(): { values: unknown[]; bind: Bind } {
  const values: unknown[] = [];
  return { values, bind: (value) => `$${values.push(value)}` };
}

/** A condition (SQL) for a value. */
export type Condition<Value> = (value: Value, bind: Bind) => string;

/** The condition for each member of a filter. */
export type Conditions<Filter> = { [Name in keyof Filter]-?: Condition<NonNullable<Filter[Name]>> };

/** A condition for all members of a filter that are given. */
export function allConditions<Filter extends object>(
  conditions: Conditions<Filter>,
  filter: Filter,
  bind: Bind,
): string {
  const given = Object.entries(filter).filter(([, value]) => value !== undefined);
  const clauses = given.map(([name, value]) => conditions[name as keyof Filter](value, bind));
  return ["true", ...clauses].join(" and ");
}

export const equals =
  (column: string): Condition<string | boolean> =>
  (value, bind) =>
    `${column} = ${bind(value)}`;

export const oneOf =
  (column: string): Condition<string[]> =>
  (values, bind) =>
    `${column} = any(${bind(values)}::text[])`;

export const createdAfter: Condition<string> = (instant, bind) => `created_date > ${bind(instant)}`;
export const createdBefore: Condition<string> = (instant, bind) => `created_date < ${bind(instant)}`;

export const equalsInAnyCase =
  (column: string): Condition<string> =>
  (text, bind) =>
    `lower(${column}) = lower(${bind(text)})`;

/** A pattern, for which the trigram index is used. For a text without trigrams the index would be read completely. */
export const contains =
  (column: string): Condition<string> =>
  (text, bind) =>
    hasTrigrams(text)
      ? `lower(${column}) like lower(${bind(somewhere(text))})`
      : `strpos(lower(${column}), lower(${bind(text)})) > 0`;

/** True if a text has trigrams: three letters or digits in a row, or fewer at the edge of a word. */
export const hasTrigrams = (text: string) =>
  /[\p{L}\p{N}]{3}|[^\p{L}\p{N}][\p{L}\p{N}]|[\p{L}\p{N}]{2}[^\p{L}\p{N}]/u.test(text);

/** A pattern that matches only this text. */
export const literally = (text: string) => text.replaceAll(/[\\%_]/g, "\\$&");
export const somewhere = (text: string) => `%${literally(text)}%`;
