import type { components } from "../../generated/ledger.ts";
import { needsBigInt } from "../contract/int64.ts";
import { type Contract, follow, type Operation } from "../contract/operations.ts";

/** An error of the ledger (RFC 9457). */
export type Problem = components["schemas"]["Problem"];

/** Maximum number of characters of a response in an error message. */
const quotedMax = 500;

/** A response that is not successful. */
export class ResponseError extends Error {
  override readonly name = "ResponseError";
  /** The operation that was called. */
  readonly operationId: string;
  /** The HTTP status. */
  readonly status: number;
  /** The body as text. */
  readonly text: string;
  /** The problem document, if the body is one. */
  readonly problem: Problem | undefined;

  constructor(operationId: string, status: number, text: string, options?: ErrorOptions) {
    const problem = readProblem(text);
    const detail = problem?.detail ?? text.trim().slice(0, quotedMax);
    super(`${operationId} returned ${status}${detail && `: ${detail}`}`, options);
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
 * The body of a successful response: parsed JSON, text if the contract declares no JSON, undefined if it declares no
 * content. An integer is a bigint if the contract needs one or if it is not a safe integer.
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
    throw new ResponseError(operation.operationId, status, text, { cause });
  }
}

/** An integer that is not safe is parsed from its digits. */
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
