import type { ClientContent, ClientOperation } from "../../src/client/operation.ts";
import { needsBigInt } from "../../src/contract/int64.ts";
import { type Contract, type DeclaredResponse, follow, operationsOf } from "../../src/contract/operations.ts";

/** The operations of a contract, as the client needs them. */
export function clientOperations(contract: Contract): ClientOperation[] {
  return operationsOf(contract).map(
    ({ operationId, method, path, parameters, body, isIdempotent, responses }) => ({
      operationId,
      method: method as ClientOperation["method"],
      path,
      parameters: parameters.map(({ name, in: place, explode }) => ({
        name,
        ...(place !== "query" && { in: place }),
        ...(explode === false && { isJoined: true }),
      })),
      ...(body !== undefined && { hasBody: true }),
      ...(method === "POST" && !isIdempotent && { isIdempotent: false }),
      successes: Object.fromEntries(
        Object.entries(responses)
          .filter(([status]) => status.startsWith("2"))
          .map(([status, response]) => [status, contentOf(contract, response)]),
      ),
    }),
  );
}

function contentOf(contract: Contract, { content }: DeclaredResponse): ClientContent {
  if (content === undefined) return { type: "none", bigints: [] };
  const json = content["application/json"];
  if (json === undefined) return { type: "text", bigints: [] };
  return { type: "json", bigints: bigintsIn(contract, json.schema) };
}

interface Schema {
  format?: string;
  properties?: Record<string, unknown>;
  items?: unknown;
  oneOf?: unknown[];
  anyOf?: unknown[];
  allOf?: unknown[];
}

/** The places of integers in a schema that need a bigint. Throws if a schema that contains itself has one. */
function bigintsIn(
  contract: Contract,
  node: unknown,
  outer = new Map<Schema, { isRecursive: boolean }>(),
): string[][] {
  const schema = follow(contract, node) as Schema;
  if (needsBigInt(schema)) return [[]];
  const seen = outer.get(schema);
  if (seen) {
    seen.isRecursive = true;
    return [];
  }
  const own = { isRecursive: false };
  const within = (inner: unknown) => bigintsIn(contract, inner, new Map([...outer, [schema, own]]));
  const { properties = {}, items, oneOf = [], anyOf = [], allOf = [] } = schema;
  const places = [
    ...Object.entries(properties).flatMap(([name, member]) =>
      within(member).map((place) => [name, ...place]),
    ),
    ...(items === undefined ? [] : within(items).map((place) => ["*", ...place])),
    ...[...oneOf, ...anyOf, ...allOf].flatMap(within),
  ];
  if (own.isRecursive && places.length > 0) {
    throw new Error("the client cannot name all 64-bit integers of a schema that contains itself");
  }
  return [...new Map(places.map((place) => [JSON.stringify(place), place])).values()];
}
