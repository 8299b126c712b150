import { ErrorCode, type EvaluationContext } from "@openfeature/server-sdk";

/** The kind and the identifier of a resource. */
interface Subject {
  resource: string;
  id: string;
}

export interface Failure {
  errorCode: ErrorCode;
  errorMessage: string;
}

const name = /^[^\p{Cc}\p{Cs}]{1,256}$/u;
export const nameRule = "a text of 1 to 256 characters without control characters";

/** Whether a value is a `Name` of the contract. */
export const isName = (value: unknown): value is string => typeof value === "string" && name.test(value);

/** The resource that a context names, by the rule of the service, or the error if it names none. */
export function subjectOf({ resource, id, targetingKey }: EvaluationContext): Subject | Failure {
  if (resource !== undefined && id !== undefined) {
    return isName(resource) && isName(id)
      ? { resource, id }
      : failure(ErrorCode.INVALID_CONTEXT, `resource and id must each be ${nameRule}`);
  }
  if (targetingKey === undefined || targetingKey === null || targetingKey === "") {
    return failure(
      ErrorCode.TARGETING_KEY_MISSING,
      "the context needs a targetingKey such as customer/42, or a resource and an id",
    );
  }
  const parts = typeof targetingKey === "string" ? targetingKey.split("/").map(decoded) : [];
  const [kind, identifier] = parts;
  return parts.length === 2 && isName(kind) && isName(identifier)
    ? { resource: kind, id: identifier }
    : failure(
        ErrorCode.INVALID_CONTEXT,
        `targetingKey must be resource/id, each percent-encoded, such as customer/42, and each ${nameRule}`,
      );
}

const failure = (errorCode: ErrorCode, errorMessage: string): Failure => ({ errorCode, errorMessage });

function decoded(part: string): string | undefined {
  if (!part.includes("%")) return part; // Decoding is most of the time of an evaluation.
  try {
    return decodeURIComponent(part);
  } catch {
    return undefined;
  }
}
