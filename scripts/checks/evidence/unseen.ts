import { follow, operationsOf } from "../../../src/contract/operations.ts";
import { isJson } from "../../../src/values/json.ts";
import { claimsOf, openReading, type Reading, shownBy } from "./claims.ts";
import type { Observation } from "./observe.ts";
import type { Subject } from "./subjects.ts";

/** What the contract leaves open and no request, reply or message showed. */
export function unseenOf({ contract, taken }: Subject, observations: Observation[]): string[] {
  const reading = openReading(contract);
  const claims = new Set<string>();
  const shown = new Set<string>();
  for (const { operationId, parameters, body, responses } of operationsOf(contract)) {
    if (body) {
      claimsOf(reading, `${operationId} body`, body.schema, claims);
      claims.add(`${operationId} body: given`);
      claims.add(`${operationId} body: ${body.required ? "missed" : "left out"}`);
    }
    for (const { name, in: place, required, schema } of parameters) {
      claimsOf(reading, `${operationId} ${name}`, schema, claims);
      claims.add(`${operationId} ${name}: given`);
      if (!required) claims.add(`${operationId} ${name}: left out`);
      else if (place === "query") claims.add(`${operationId} ${name}: missed`);
    }
    for (const [status, { content = {}, headers = {} }] of Object.entries(responses)) {
      for (const [name, { required }] of Object.entries(headers)) {
        claims.add(`${operationId} ${status} ${name}: given`);
        if (!required) claims.add(`${operationId} ${status} ${name}: left out`);
      }
      for (const { schema } of Object.values(content))
        claimsOf(reading, `${operationId} ${status}`, schema, claims);
    }
  }
  for (const observation of observations) {
    if (observation.fault !== undefined) continue;
    const { operation, status, type, replyHeaders, body } = observation;
    const { content, headers = {} } = operation.responses[status] ?? {};
    for (const name of Object.keys(headers)) {
      const isGiven = replyHeaders[name.toLowerCase()] !== undefined;
      shown.add(`${operation.operationId} ${status} ${name}: ${isGiven ? "given" : "left out"}`);
    }
    const schema = content?.[type]?.schema;
    const value = isJson(type) ? JSON.parse(body) : body;
    if (schema) shownBy(reading, `${operation.operationId} ${status}`, schema, value, shown);
    showRequest(reading, observation, shown);
  }
  for (const [name, messages] of Object.entries(taken)) {
    const schema = { $ref: `#/components/schemas/${name}` };
    claimsOf(reading, name, schema, claims);
    for (const message of messages) shownBy(reading, name, schema, message, shown);
  }
  return [...claims].filter((claim) => !shown.has(claim)).sort();
}

/**
 * A parameter and a member of a body are seen at work in a request that succeeds, their absence also in one that is
 * answered with the error declared for it.
 */
function showRequest(
  reading: Reading,
  { operation, path, headers, sent, status, body }: Observation,
  shown: Set<string>,
): void {
  const query = new URLSearchParams(path.split("?")[1]);
  const isOff = (claim: string) => / without |: left out$/.test(claim);
  const show = (claims: Iterable<string>) => {
    for (const claim of claims) if (status < 400 || isOff(claim)) shown.add(claim);
  };
  if (operation.body && status < 500) {
    const claim = `${operation.operationId} body`;
    if (status === 400 && sent === undefined) shown.add(`${claim}: missed`);
    show([`${claim}: ${sent === undefined ? "left out" : "given"}`]);
    if (sent !== undefined) show(shownBy(reading, claim, operation.body.schema, sent));
  }
  for (const { name, in: place, schema } of operation.parameters) {
    const claim = `${operation.operationId} ${name}`;
    const given =
      place === "path" ? "" : place === "header" ? (headers[name.toLowerCase()] ?? null) : query.get(name);
    if (status === 400 && body.includes(`parameter ${name} is required`)) shown.add(`${claim}: missed`);
    if (status >= 500) continue;
    show([`${claim}: ${given === null ? "left out" : "given"}`]);
    if (given !== null) show(shownBy(reading, claim, schema, readGiven(reading, schema, given)));
  }
}

function readGiven(reading: Reading, node: unknown, text: string): unknown {
  const { type, items } = follow(reading.contract, node) as { type?: string; items?: unknown };
  if (type === "array") return text.split(",").map((item) => readGiven(reading, items, item));
  return type === "string" || text === "" ? text : JSON.parse(text);
}
