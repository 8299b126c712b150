import {
  type Contract,
  follow,
  generalResponses,
  type Operation,
  operationsOf,
} from "../../../src/contract/operations.ts";
import { mediaTypeOf } from "../../../src/contract/response-check.ts";
import { isJson } from "../../../src/values/json.ts";
import { type CompiledContract, compiled, itemsCoveredBy, itemsOf } from "./coverage.ts";
import type { Observation } from "./observe.ts";
import type { Subject } from "./subjects.ts";

/** The place of the responses that no operation declares, in the names of items. */
export const generalPlace = "every operation";

/** The place of a response in the names of items. */
export const placeOf = ({ operationId, responses }: Operation, status: number): string =>
  status in responses ? operationId : generalPlace;

/** The coverage items of a contract that no request, response or message covers. */
export function uncoveredItems({ contract, accepted }: Subject, observations: Observation[]): string[] {
  const compiledContract = compiled(contract);
  const items = new Set<string>();
  const covered = new Set<string>();
  for (const { operationId, parameters, body, responses } of operationsOf(contract)) {
    if (body) {
      itemsOf(compiledContract, `${operationId} body`, body.schema, items);
      items.add(`${operationId} body: present`);
      items.add(`${operationId} body: ${body.required ? "missing" : "absent"}`);
    }
    for (const { name, in: place, required, schema } of parameters) {
      itemsOf(compiledContract, `${operationId} ${name}`, schema, items);
      items.add(`${operationId} ${name}: present`);
      if (!required) items.add(`${operationId} ${name}: absent`);
      else if (place === "query") items.add(`${operationId} ${name}: missing`);
    }
    addResponses(compiledContract, operationId, responses, items);
  }
  const general = generalResponses(contract);
  addResponses(compiledContract, generalPlace, general, items);
  for (const observation of observations) {
    if (observation.violation !== undefined) continue;
    const { operation } = observation.request;
    const { status, headers, body = "" } = observation.response;
    const place = placeOf(operation, status);
    const declared = operation.responses[status] ?? general[status] ?? {};
    for (const [name, { schema: headerSchema = {} }] of Object.entries(declared.headers ?? {})) {
      const value = headers[name.toLowerCase()];
      covered.add(`${place} ${status} ${name}: ${value === undefined ? "absent" : "present"}`);
      if (value !== undefined)
        itemsCoveredBy(compiledContract, `header ${name}`, headerSchema, value, covered);
    }
    const type = mediaTypeOf(headers);
    const schema = declared.content?.[type]?.schema;
    const value = isJson(type) ? JSON.parse(body) : body;
    if (schema) itemsCoveredBy(compiledContract, `${place} ${status}`, schema, value, covered);
    coverRequest(compiledContract, observation, covered);
  }
  for (const [name, values] of Object.entries(accepted)) {
    const schema = { $ref: `#/components/schemas/${name}` };
    itemsOf(compiledContract, name, schema, items);
    for (const value of values) itemsCoveredBy(compiledContract, name, schema, value, covered);
  }
  return [...items].filter((item) => !covered.has(item)).sort();
}

function addResponses(
  contract: CompiledContract,
  place: string,
  responses: Operation["responses"],
  items: Set<string>,
): void {
  for (const [status, { content = {}, headers = {} }] of Object.entries(responses)) {
    for (const [name, { required, schema = {} }] of Object.entries(headers)) {
      // A value counts for all responses: most share a header.
      itemsOf(contract, `header ${name}`, schema, items);
      items.add(`${place} ${status} ${name}: present`);
      if (!required) items.add(`${place} ${status} ${name}: absent`);
    }
    for (const { schema } of Object.values(content)) itemsOf(contract, `${place} ${status}`, schema, items);
  }
}

/**
 * Adds the items that a request covers. The presence of a parameter or of a member of the body is covered only by a
 * request that succeeds, its absence also by one that gets a declared error.
 */
function coverRequest(
  contract: CompiledContract,
  { request: { operation, path, headers, body }, response }: Observation,
  covered: Set<string>,
): void {
  const { status } = response;
  const query = new URLSearchParams(path.split("?")[1]);
  const isAbsence = (item: string) => / without |: absent$/.test(item);
  const cover = (items: Iterable<string>) => {
    for (const item of items) if (status < 400 || isAbsence(item)) covered.add(item);
  };
  if (operation.body && status < 500) {
    const place = `${operation.operationId} body`;
    if (status === 400 && body === undefined) covered.add(`${place}: missing`);
    cover([`${place}: ${body === undefined ? "absent" : "present"}`]);
    if (body !== undefined) {
      cover(itemsCoveredBy(contract, place, operation.body.schema, body));
    }
  }
  for (const { name, in: location, schema } of operation.parameters) {
    const place = `${operation.operationId} ${name}`;
    const inPath = location === "path" ? "" : query.get(name);
    const text = location === "header" ? (headers[name.toLowerCase()] ?? null) : inPath;
    if (status === 400 && response.body?.includes(`parameter ${name} is required`)) {
      covered.add(`${place}: missing`);
    }
    if (status >= 500) continue;
    cover([`${place}: ${text === null ? "absent" : "present"}`]);
    if (text !== null)
      cover(itemsCoveredBy(contract, place, schema, parameterValue(contract.contract, schema, text)));
  }
}

/** The value that the text of a parameter stands for. */
export function parameterValue(contract: Contract, node: unknown, text: string): unknown {
  const { type, items } = follow(contract, node) as { type?: string; items?: unknown };
  if (type === "array") return text.split(",").map((item) => parameterValue(contract, items, item));
  return type === "string" || text === "" ? text : JSON.parse(text);
}
