import { generalResponses, operationsOf } from "../../../src/contract/operations.ts";
import { mediaTypeOf } from "../../../src/contract/response-check.ts";
import { deliveryFaults } from "./deliveries.ts";
import type { Observation } from "./observe.ts";
import type { Subject } from "./subjects.ts";
import { generalPlace, placeOf, uncoveredItems } from "./uncovered.ts";

/**
 * What a contract declares and nothing showed, and what contradicts it: responses that were never seen, responses that
 * violate it, coverage items that nothing covers, and the same of deliveries to webhooks.
 */
export function faultsOf(subject: Subject, observations: Observation[]): string[] {
  const general = { operationId: generalPlace, responses: generalResponses(subject.contract) };
  const seen = new Set(
    observations.map(
      ({ request: { operation }, response: { status, headers } }) =>
        `${placeOf(operation, status)} ${status} ${mediaTypeOf(headers)}`,
    ),
  );
  const neverSeen = [...operationsOf(subject.contract), general].flatMap(({ operationId, responses }) =>
    Object.entries(responses).flatMap(([status, { content = { "": undefined } }]) =>
      Object.keys(content)
        .filter((type) => !seen.has(`${operationId} ${status} ${type}`))
        .map((type) => `${operationId} never returned ${status} ${type}`),
    ),
  );
  const violating = observations.filter(({ violation }) => violation !== undefined);
  return [
    ...neverSeen,
    ...violating.map(
      ({ request: { method, path }, response: { status }, violation }) =>
        `${method} ${path.slice(0, 120)} returned ${status}: ${violation}`,
    ),
    ...uncoveredItems(subject, observations).map((item) => `not covered: ${item}`),
    ...(subject.deliveries ? deliveryFaults(subject.contract, subject.deliveries) : []),
  ];
}
