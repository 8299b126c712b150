import { distance } from "fastest-levenshtein";
import type { JsonSchema } from "../../../src/contract/describe-schema.ts";
import type { Random } from "../../../testing/random.ts";

/** A wrong value in the place of a right one. */
export interface Spoiled {
  /** What a sender did wrong. */
  mistake: string;
  value: unknown;
  /** Why no correction is safe. Undefined if exactly one is. */
  unclear?: string | undefined;
  /** True if the safe correction is another value than the one before. */
  isChanged?: boolean;
}

type Spoil = (value: unknown, schema: JsonSchema, random: Random) => Spoiled[];

/** The ways to make a value wrong that its schema knows. Texts of parameters are spoiled as texts, whatever their type. */
export function spoiledValues(
  value: unknown,
  schema: JsonSchema,
  random: Random,
  isText: boolean,
): Spoiled[] {
  const { type, format, enum: values } = schema;
  const kinds: [boolean, Spoil][] = [
    [type === "integer" && isText, spoilIntegerText],
    [type === "integer" && !isText, spoilNumber],
    [type === "boolean" && isText, spoilBooleanText],
    [type === "boolean" && !isText, spoilBoolean],
    [type === "array", spoilList],
    [values !== undefined && typeof value === "string", spoilName],
    [format === "date-time", spoilInstant],
    [format === "date", spoilDay],
    [format === "time-zone", spoilName],
    [type === "string" && values === undefined && format === undefined, spoilText],
    [type === "object", spoilObject],
  ];
  return kinds.flatMap(([applies, spoil]) => (applies ? spoil(value, schema, random) : []));
}

const mistaken = (mistake: string, ...values: unknown[]): Spoiled[] =>
  values.map((value) => ({ mistake, value }));
const unclear = (mistake: string, reason: string, ...values: unknown[]): Spoiled[] =>
  values.map((value) => ({ mistake, value, unclear: reason }));

const spoilIntegerText: Spoil = (value, schema) => [
  ...mistaken(
    "number in another notation",
    ` ${value}`,
    `${value}.0`,
    `+${value}`,
    `"${value}"`,
    `${value}e0`,
  ),
  ...unclear("number in words", "words have no value", "ten", "x", "1x"),
  ...unclear("fraction", "it can be rounded up or down", `${value}.5`),
  ...outOfRange(schema, String),
];

const spoilNumber: Spoil = (value, schema) => [
  ...mistaken("number as a text", String(value)),
  ...unclear("fraction", "it can be rounded up or down", Number(value) + 0.5),
  ...outOfRange(schema, (number) => number),
];

/** A number beyond a bound. It can be corrected where others follow: where it is above the size of a page. */
function outOfRange(schema: JsonSchema, write: (number: number) => unknown): Spoiled[] {
  const { minimum, maximum = 2 ** 31 - 1 } = schema as { minimum?: number; maximum?: number };
  const isSize = "default" in schema && maximum < 2 ** 31 - 1;
  const other = "another number has another meaning";
  const above: Spoiled = { mistake: "too large", value: write(maximum + 1) };
  return [
    isSize ? { ...above, isChanged: true } : { ...above, unclear: other },
    ...(minimum === undefined ? [] : unclear("too small", other, write(minimum - 1))),
  ];
}

const spoilBooleanText: Spoil = (value) => [
  ...mistaken("boolean in another notation", value === "true" || value === "1" ? "yes" : "no", ` ${value}`),
  ...unclear("boolean in words", "words have no value", "maybe", "2"),
];

const spoilBoolean: Spoil = (value) => [
  ...mistaken("boolean as a text", String(value), value ? "Yes" : "No", value ? 1 : 0),
  ...unclear("boolean in words", "words have no value", "maybe", 2),
];

const spoilName: Spoil = (value, schema, random) => {
  const name = String(value);
  return [
    ...mistaken("name in another notation", ` ${name} `, `'${name}'`),
    ...mistaken("name in another letter case", name.toUpperCase(), name.toLowerCase()),
    ...(name.length > 4 ? [{ mistake: "letter wrong in a name", value: withWrongLetter(name, random) }] : []),
    ...unclear("name unlike any", "no name resembles it", "colour", "zzzz"),
  ].map((spoiled) => ({
    ...spoiled,
    unclear: spoiled.unclear ?? ambiguity(spoiled.value, name, schema),
    isChanged: schema["x-ignore-case"] !== undefined,
  }));
};

/** The reason for which a misspelt name is unclear: another one is as near. */
function ambiguity(spoiled: unknown, name: string, schema: JsonSchema): string | undefined {
  const plain = String(spoiled).trim().toLowerCase();
  const others = (schema.enum ?? [])
    .map((one) => String(one).toLowerCase())
    .filter((other) => other !== name.toLowerCase());
  const edits = distance(plain, name.toLowerCase());
  return others.some((other) => distance(plain, other) <= edits) ? "another name is as near" : undefined;
}

/** A text with one letter left out, doubled, replaced, or exchanged with its neighbour. */
export function withWrongLetter(text: string, random: Random): string {
  const index = random.integer(0, text.length - 2);
  const [before, letter, next, after] = [
    text.slice(0, index),
    text[index] as string,
    text[index + 1] as string,
    text.slice(index + 2),
  ];
  const wrong = [next, letter + letter + next, `q${next}`, next + letter].map(
    (part) => before + part + after,
  );
  return random.pick(wrong.filter((one) => one !== text));
}

const spoilInstant: Spoil = (value) => {
  const date = new Date(String(value));
  if (Number.isNaN(date.getTime())) return [];
  const iso = date.toISOString();
  const [day = "", time = ""] = iso.slice(0, 19).split("T");
  const [year, month, dayOfMonth] = day.split("-");
  return [
    ...mistaken(
      "instant in another notation",
      ...[` ${iso} `, `${day.replaceAll("-", "/")} ${time}Z`, date.toUTCString(), `${day}t${time}z`],
      ...[`${day} ${time} GMT`, `"${iso}"`],
    ).map((spoiled) => (date.getMilliseconds() === 0 ? spoiled : { ...spoiled, isChanged: true })),
    ...(date.getUTCFullYear() < 2200
      ? mistaken("instant as a number of milliseconds", String(date.getTime()))
      : []),
    ...unclear("instant without an offset", "it can be in any time zone", `${day}T${time}`),
    ...unclear("day before month", "it can be the month", `${dayOfMonth}/${month}/${year} ${time}Z`),
    ...unclear("instant that does not exist", "no instant resembles it", `${year}-13-01T${time}Z`),
    ...unclear("instant in words", "words have no value", "yesterday"),
  ];
};

const spoilDay: Spoil = (value) => {
  const [year, month, day] = String(value).split("-");
  return [
    ...mistaken("day in another notation", `${year}/${month}/${day}`, `${year}${month}${day}`, ` ${value}`),
    ...mistaken("day in another notation", `${year}-${Number(month)}-${Number(day)}`, `${value}T00:00:00Z`),
    ...unclear("day before month", "it can be the month", `${day}/${month}/${year}`),
    ...unclear("day that does not exist", "no day resembles it", `${year}-02-30`),
    ...unclear("day in words", "words have no value", "yesterday"),
  ];
};

const spoilText: Spoil = (value, { pattern, ...bounds }) => {
  const { minLength, maxLength } = bounds as { minLength?: number; maxLength?: number };
  const text = String(value);
  return [
    ...(pattern ? mistaken("spaces around a text", ` ${text} `) : []),
    ...(maxLength !== undefined && maxLength < 10_000
      ? unclear("text too long", "any of its characters can be too many", "x".repeat(maxLength + 1))
      : []),
    ...(minLength ? unclear("empty text", "nobody knows the text", "") : []),
    ...unclear("NUL in a text", "it can be in the place of any character", `${text.slice(0, 1)}\0`),
  ];
};

const spoilList: Spoil = (value, schema) => {
  if (!Array.isArray(value) || value.length === 0) return [];
  return [
    ...(schema["x-unique-items"] ? mistaken("repeated element", [...value, value[0]]) : []),
    ...(value.length === 1 ? mistaken("one element instead of a list", value[0]) : []),
  ];
};

const spoilObject: Spoil = (value) => [
  ...mistaken("a list of one in the place of an object", [value]),
  ...unclear("another type", "nobody knows the members", "x", 7, true),
];
