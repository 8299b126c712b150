import type { JsonSchema } from "../../../src/contract/describe-schema.ts";
import { type Contract, type Operation, operationsOf } from "../../../src/contract/operations.ts";
import { resolved } from "../../../src/contract/validation.ts";
import type { Random } from "../../../testing/random.ts";
import { type Spoiled, spoiledValues, withWrongLetter } from "./spoilers.ts";

/** A request in parts. */
export interface Request {
  operation: Operation;
  path: string;
  /** The texts of the query parameters by name; a list if the name is repeated. */
  query: Record<string, string | string[]>;
  headers: Record<string, string>;
  body?: unknown;
}

/** A request with one mistake in it. */
export interface SpoiledRequest extends Omit<Spoiled, "value"> {
  request: Request;
  place: string;
}

export function readTarget(target: string): Pick<Request, "path" | "query"> {
  const [path = "", search] = target.split("?", 2);
  const query: Request["query"] = {};
  for (const [name, text] of new URLSearchParams(search)) {
    const known = query[name];
    query[name] = known === undefined ? text : [known, text].flat();
  }
  return { path, query };
}

export function targetOf({ path, query }: Request): string {
  const pairs = Object.entries(query).flatMap(([name, texts]) =>
    [texts].flat().map((text) => [name, text] as [string, string]),
  );
  return pairs.length > 0 ? `${path}?${new URLSearchParams(pairs)}` : path;
}

/** Makes all mistakes in a request that its contract knows. Each mistake is in one place. */
export function* spoiledRequests(
  contract: Contract,
  request: Request,
  random: Random,
): Generator<SpoiledRequest> {
  const { operation, query, body } = request;
  for (const { name, in: location, schema, explode, required } of operation.parameters) {
    const part = location === "header" ? "headers" : location;
    const key = location === "header" ? name.toLowerCase() : name;
    const given = part === "path" ? undefined : request[part][key];
    if (part === "path" || given === undefined) continue;
    const place = `${location} ${name}`;
    const full = resolved(contract, schema);
    const isCommaSeparated = explode === false;
    const withValue = (value: unknown): Request => ({
      ...request,
      [part]: { ...request[part], [key]: value },
    });
    for (const { value, ...spoiled } of spoiledTexts(given, full, isCommaSeparated, random))
      if (location === "query" || isHeaderValue(value))
        yield { ...spoiled, place, request: withValue(value) };
    const { [key]: _, ...others } = request[part] as Record<string, unknown>;
    if (required)
      yield {
        mistake: "missing parameter",
        unclear: "nobody knows the value",
        place,
        request: { ...request, [part]: others },
      };
    if (part !== "query") continue;
    const names = operation.parameters.map((parameter) => parameter.name);
    for (const { value, ...spoiled } of spoiledNames(name, names, random))
      yield {
        ...spoiled,
        place,
        request: { ...request, query: { ...others, [value as string]: given } as never },
      };
  }
  yield {
    mistake: "unknown parameter",
    unclear: findsMore,
    place: "query",
    request: { ...request, query: { ...query, colour: "red" } },
  };
  if (body === undefined || !operation.body) return;
  const bodySchema = resolved(contract, operation.body.schema);
  const isOfFilters = hasFilters(contract, operation);
  for (const { value, place, ...spoiled } of spoiledParts(body, bodySchema, "", random))
    yield {
      ...spoiled,
      ...(isOfFilters && spoiled.mistake === "unknown member" && { unclear: findsMore }),
      place: `body${place}`,
      request: { ...request, body: value },
    };
}

const findsMore = "without it a search finds more than its sender meant";

/** True for an operation whose body has the query parameters of a GET. */
const hasFilters = (contract: Contract, { queryOf }: Operation) =>
  operationsOf(contract).some(({ operationId, method }) => operationId === queryOf && method === "GET");

/** A header cannot have control characters, and it is one text. */
const isHeaderValue = (value: unknown) => typeof value === "string" && !/\p{Cc}/u.test(value);

/** The texts of a parameter spoiled. Of a list, one element, too. */
function spoiledTexts(
  given: string | string[],
  schema: JsonSchema,
  isCommaSeparated: boolean,
  random: Random,
): Spoiled[] {
  const { items } = schema;
  const repeated = { mistake: "repeated parameter", value: [given, given].flat() };
  if (!items) return [repeated, ...spoiledValues(given, schema, random, true)];
  const texts = isCommaSeparated ? String(given).split(",") : [given].flat();
  const write = (values: unknown[]) => (isCommaSeparated ? values.join(",") : values);
  const index = random.integer(0, texts.length - 1);
  return [
    ...spoiledValues(texts[index], items, random, true).map((spoiled) => ({
      ...spoiled,
      value: write(texts.with(index, spoiled.value as string)),
    })),
    ...(schema["x-unique-items"]
      ? [{ mistake: "repeated element", value: write([...texts, texts[0]]) }]
      : []),
    { mistake: "list with another separator", value: texts.length > 1 ? texts.join(";") : `${given};` },
  ];
}

/** Other names than a known one. A name is unclear if another known one resembles it, too. */
function spoiledNames(name: string, known: string[], random: Random): Spoiled[] {
  const camelCase = name.replaceAll(/[_-](\w)/g, (_, letter: string) => letter.toUpperCase());
  const names = [
    { mistake: "name in another notation", value: camelCase },
    { mistake: "name in another notation", value: name.toUpperCase() },
    { mistake: "name in another notation", value: name.replaceAll("_", "-") },
    ...(name.length > 3 ? [{ mistake: "letter wrong in a name", value: withWrongLetter(name, random) }] : []),
  ];
  return names.filter(({ value }) => !known.includes(value));
}

interface SpoiledPart extends Spoiled {
  place: string;
}

/** A value of a body spoiled in each of its places, one at a time. */
function* spoiledParts(
  value: unknown,
  schema: JsonSchema,
  place: string,
  random: Random,
): Generator<SpoiledPart> {
  const chosen = schema.oneOf ?? schema.anyOf;
  if (chosen) {
    const type = Array.isArray(value) ? "array" : typeof value;
    const alternative = chosen.find((one) => one.type === type);
    if (alternative) yield* spoiledParts(value, alternative, place, random);
    return;
  }
  for (const spoiled of spoiledValues(value, schema, random, false)) yield { ...spoiled, place };
  if (Array.isArray(value)) {
    for (const [index, item] of value.entries())
      for (const spoiled of spoiledParts(item, schema.items ?? {}, `${place}/${index}`, random))
        yield { ...spoiled, value: value.with(index, spoiled.value) };
  } else if (typeof value === "object" && value !== null) yield* spoiledMembers(value, schema, place, random);
}

function* spoiledMembers(
  value: object,
  { properties = {}, required = [], additionalProperties }: JsonSchema & { required?: string[] },
  place: string,
  random: Random,
): Generator<SpoiledPart> {
  const known = Object.keys(properties);
  for (const [name, member] of Object.entries(value)) {
    const property = properties[name];
    if (!property) continue;
    const { [name]: _, ...others } = value as Record<string, unknown>;
    const here = `${place}/${name}`;
    for (const spoiled of spoiledParts(member, property, here, random))
      yield { ...spoiled, value: { ...value, [name]: spoiled.value } };
    if (required.includes(name))
      yield { mistake: "missing member", unclear: "nobody knows the value", place: here, value: others };
    for (const { value: other, ...spoiled } of spoiledNames(name, known, random))
      yield { ...spoiled, place: here, value: { ...others, [other as string]: member } };
  }
  if (additionalProperties === false)
    yield { mistake: "unknown member", place, value: { ...value, colour: "red" } };
}
