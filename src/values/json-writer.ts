import { Bytes } from "./bytes.ts";
import type { JsonOutput } from "./json-output.ts";

declare const value: unique symbol;

/**
 * Writes a value of a type as JSON, from a source. Returns false if there is none; the caller then discards what was
 * written.
 */
export type Writer<Source, Value, Written extends boolean = true> = ((
  source: Source,
  out: JsonOutput,
) => Written) & { readonly [value]: Value };

/** A function that writes values of this type. */
export const writer = <Source, Value, Written extends boolean = true>(
  write: (source: Source, out: JsonOutput) => Written,
) => write as Writer<Source, Value, Written>;

/** Writes what a function returns; nothing if that is undefined. */
export const valueWriter = <Source, Value>(read: (source: Source) => Value) =>
  writer<Source, Exclude<Value, undefined>, undefined extends Value ? boolean : true>((source, out) => {
    const found = read(source);
    if (found !== undefined) out.json(found);
    return (found !== undefined) as true;
  });

/** Writes the same value for each source. */
export function constantWriter<const Value>(constant: Value): Writer<unknown, Value> {
  const bytes = Bytes.from(JSON.stringify(constant));
  return writer((_source, out) => {
    out.copy(bytes);
    return true;
  });
}

/** Writes nothing. */
export const noWriter = writer<unknown, never, false>(() => false);

/** Writes with the second function if there is no value for the first one. */
export const orElse = <Source, Value, Other>(
  write: Writer<Source, Value, boolean>,
  other: Writer<Source, Other>,
) =>
  writer<Source, Value | Other>((source, out) => {
    const { length } = out;
    if (write(source, out)) return true;
    out.cutTo(length);
    return other(source, out);
  });

/** A writer for each member of an object. Only that of an optional member may leave it out. */
export type MemberWriters<Source, Value> = {
  [Name in keyof Value]-?: Writer<
    Source,
    Exclude<Value[Name], undefined>,
    Record<never, never> extends Pick<Value, Name> ? boolean : true
  >;
};

/** Writes objects with these members, in this order. */
export function objectWriter<Source, Value extends object>(
  members: MemberWriters<Source, Value>,
): Writer<Source, Value> {
  const all = Object.entries<Writer<Source, unknown, boolean>>(members).map(([name, write]) => ({
    first: Bytes.from(`{${JSON.stringify(name)}:`),
    next: Bytes.from(`,${JSON.stringify(name)}:`),
    write,
  }));
  return writer((source, out) => {
    let isFirst = true;
    for (const { first, next, write } of all) {
      const { length } = out;
      out.copy(isFirst ? first : next);
      if (write(source, out)) isFirst = false;
      else out.cutTo(length);
    }
    out.copy(isFirst ? empty : end);
    return true;
  });
}
const [empty, end] = [Bytes.from("{}"), Bytes.from("}")];

/** Writes an object that has a member. */
export const ifNotEmpty = <Source, Value extends object>(write: Writer<Source, Value>) =>
  writer<Source, Value, boolean>((source, out) => {
    const { length } = out;
    write(source, out);
    return out.length - length > empty.length;
  });

/** Reads the JSON of each of these members. Only that of an optional member can be null, and leaves it out then. */
type JsonOf<Source, Members> = {
  [Name in keyof Members]-?: (
    source: Source,
  ) => Record<never, never> extends Pick<Members, Name> ? string | null : string;
};

/** Writes an object that `read` returns, which has a member, with more members at its end, which are JSON already. */
export function withJsonMembers<Source, Others extends object, Members extends object>(
  read: (source: Source) => Others,
  members: JsonOf<Source, Members>,
): Writer<Source, Others & Members> {
  const all = Object.entries<(source: Source) => string | null>(members).map(([name, jsonOf]) => ({
    start: `,${JSON.stringify(name)}:`,
    jsonOf,
  }));
  return writer((source, out) => {
    out.json(read(source));
    out.cutTo(out.length - end.length);
    for (const { start, jsonOf } of all) {
      const json = jsonOf(source);
      if (json === null) continue;
      out.ascii(start);
      out.text(json);
    }
    out.ascii("}");
    return true;
  });
}
