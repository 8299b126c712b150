import type { components } from "../../generated/ledger.ts";
import { needsBigInt } from "../contract/int64.ts";
import { type Contract, follow, type Operation } from "../contract/operations.ts";

/** An error as the ledger tells it (RFC 9457). */
export type Problem = components["schemas"]["Problem"];

/** Characters of a reply that an error's message tells at the most. */
const toldMax = 500;

/** A reply that is no success. */
export class ReplyError extends Error {
  override readonly name = "ReplyError";
  /** The operation that was called. */
  readonly operationId: string;
  /** The HTTP status. */
  readonly status: number;
  /** What came, word for word. */
  readonly text: string;
  /** The problem document, where the reply is one. */
  readonly problem: Problem | undefined;

  constructor(operationId: string, status: number, text: string, options?: ErrorOptions) {
    const problem = readProblem(text);
    const said = problem?.detail ?? text.trim().slice(0, toldMax);
    super(`${operationId} was answered ${status}${said && `: ${said}`}`, options);
    this.operationId = operationId;
    this.status = status;
    this.text = text;
    this.problem = problem;
  }
}

function readProblem(text: string): Problem | undefined {
  try {
    const value = JSON.parse(text) as Problem | null;
    return value?.error_identifier === undefined ? undefined : value;
  } catch {
    return undefined;
  }
}

/**
 * The body of a successful reply: JSON with a bigint wherever the contract's integers need one or a double does not hold
 * an integer; text where the contract has no JSON, undefined where it has nothing.
 */
export function readBody(contract: Contract, operation: Operation, status: number, text: string): unknown {
  const content = operation.responses[status]?.content;
  if (content === undefined) return undefined;
  const json = content["application/json"];
  if (json === undefined) return text;
  try {
    const value = JSON.parse(text, exactly as (key: string, value: unknown) => unknown);
    return typed(contract, json.schema, value);
  } catch (cause) {
    throw new ReplyError(operation.operationId, status, text, { cause });
  }
}

/** An integer that a double does not hold is read from its digits. */
const exactly = (_key: string, value: unknown, { source }: { source?: string }): unknown =>
  typeof value === "number" && !Number.isSafeInteger(value) && /^-?\d+$/.test(source ?? "")
    ? BigInt(source as string)
    : value;

type Schema = { oneOf?: unknown[]; properties?: Record<string, unknown>; items?: unknown; format?: string };

function typed(contract: Contract, node: unknown, value: unknown): unknown {
  const schema = (follow(contract, node) ?? {}) as Schema;
  if (typeof value === "number") return needsBigInt(schema) ? BigInt(value) : value;
  if (Array.isArray(value)) return value.map((item) => typed(contract, schema.items, item));
  if (typeof value !== "object" || value === null) return value;
  const kinds = [schema, ...(schema.oneOf ?? []).map((one) => follow(contract, one) as Schema)];
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [
      name,
      typed(contract, kinds.find(({ properties }) => properties?.[name])?.properties?.[name], member),
    ]),
  );
}
