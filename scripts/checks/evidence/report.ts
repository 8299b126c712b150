import { operationsOf } from "../../../src/contract/operations.ts";
import type { Observation } from "./observe.ts";
import type { Subject } from "./subjects.ts";
import { uncoveredItems } from "./uncovered.ts";

/** How often a response of an operation was seen, and how often it conformed to the contract. */
export interface ResponseCount {
  operation: string;
  status: number;
  type: string;
  seen: number;
  conforming: number;
}

/** The evidence for one service, as evidence.json has it. */
export interface Evidence {
  service: string;
  version: string;
  answers: ResponseCount[];
  /** Responses that violate the contract. */
  strays: string[];
  /** Coverage items of the contract that nothing covers. */
  unseen: string[];
}

export function evidenceOf(subject: Subject, observations: Observation[]): Evidence {
  const { title, version } = subject.contract.info;
  const violations = observations.filter(({ violation }) => violation !== undefined);
  return {
    service: title,
    version,
    answers: countResponses(subject, observations),
    strays: violations.map(
      ({ method, path, status, violation }) =>
        `${method} ${path.slice(0, 120)} returned ${status}: ${violation}`,
    ),
    unseen: uncoveredItems(subject, observations),
  };
}

/** The reasons why the evidence is insufficient. Empty if it is sufficient. */
export function faultsOf({ answers, strays, unseen }: Evidence): string[] {
  const neverSeen = answers.filter(({ seen }) => seen === 0);
  return [
    ...neverSeen.map(({ operation, status, type }) => `${operation} never returned ${status} ${type}`),
    ...strays,
    ...unseen.map((item) => `not covered: ${item}`),
  ];
}

/** The declared responses in the order of the contract, then undeclared ones that were seen. */
function countResponses({ contract }: Subject, observations: Observation[]): ResponseCount[] {
  const counts = new Map<string, ResponseCount>();
  const countOf = (operation: string, status: number, type: string): ResponseCount => {
    const key = `${operation} ${status} ${type}`;
    const count = counts.get(key) ?? { operation, status, type, seen: 0, conforming: 0 };
    counts.set(key, count);
    return count;
  };
  for (const { operationId, responses } of operationsOf(contract)) {
    for (const [status, { content = { "": undefined } }] of Object.entries(responses)) {
      for (const type of Object.keys(content)) countOf(operationId, Number(status), type);
    }
  }
  for (const { operation, status, type, violation } of observations) {
    const count = countOf(operation.operationId, status, type);
    count.seen += 1;
    if (violation === undefined) count.conforming += 1;
  }
  return [...counts.values()];
}
