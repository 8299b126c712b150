import { operationsOf } from "../../../src/contract/operations.ts";
import type { Observation } from "./observe.ts";
import type { Subject } from "./subjects.ts";
import { unseenOf } from "./unseen.ts";

export interface Answer {
  operation: string;
  status: number;
  type: string;
  seen: number;
  conforming: number;
}

/** What was seen of a service. */
export interface Evidence {
  service: string;
  version: string;
  answers: Answer[];
  /** Replies that strayed from the contract. */
  strays: string[];
  /** Parts of the contract that nothing was seen of. */
  unseen: string[];
}

export function evidenceOf(subject: Subject, observations: Observation[]): Evidence {
  const { title, version } = subject.contract.info;
  const strays = observations.filter(({ fault }) => fault !== undefined);
  return {
    service: title,
    version,
    answers: answersOf(subject, observations),
    strays: strays.map(
      ({ method, path, status, fault }) => `${method} ${path.slice(0, 120)} returned ${status}: ${fault}`,
    ),
    unseen: unseenOf(subject, observations),
  };
}

/** Why the evidence is not enough; nothing when it is. */
export function faultsOf({ answers, strays, unseen }: Evidence): string[] {
  const never = answers.filter(({ seen }) => seen === 0);
  return [
    ...never.map(({ operation, status, type }) => `${operation} was never seen to answer ${status} ${type}`),
    ...strays,
    ...unseen.map((claim) => `nothing was seen of ${claim}`),
  ];
}

/** Every declared answer, and every other that was seen, in the order of the contract. */
function answersOf({ contract }: Subject, observations: Observation[]): Answer[] {
  const answers = new Map<string, Answer>();
  const answerOf = (operation: string, status: number, type: string): Answer => {
    const key = `${operation} ${status} ${type}`;
    const answer = answers.get(key) ?? { operation, status, type, seen: 0, conforming: 0 };
    answers.set(key, answer);
    return answer;
  };
  for (const { operationId, responses } of operationsOf(contract)) {
    for (const [status, { content = { "": undefined } }] of Object.entries(responses)) {
      for (const type of Object.keys(content)) answerOf(operationId, Number(status), type);
    }
  }
  for (const { operation, status, type, fault } of observations) {
    const answer = answerOf(operation.operationId, status, type);
    answer.seen += 1;
    if (fault === undefined) answer.conforming += 1;
  }
  return [...answers.values()];
}
