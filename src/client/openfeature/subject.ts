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

/** Whether a text is a `Name` of the contract. */
export const isName = (text: string): boolean => name.test(text);

/**
 * The resource that a context names, by the rule of the service, or the error if it names none. The texts may be no names:
 * those in a copy are, and checking them each time would take longer than to find them.
 */
export function subjectOf({ resource, id, targetingKey }: EvaluationContext): Subject | Failure {
  if (resource !== undefined && id !== undefined) {
    return typeof resource === "string" && typeof id === "string" ? { resource, id } : noNames;
  }
  if (targetingKey === undefined || targetingKey === null || targetingKey === "") return noKey;
  const slash = typeof targetingKey === "string" ? targetingKey.indexOf("/") : -1;
  if (slash === -1 || targetingKey.includes("/", slash + 1)) return noPair;
  const kind = decoded(targetingKey.slice(0, slash));
  const identifier = decoded(targetingKey.slice(slash + 1));
  return kind === undefined || identifier === undefined ? noPair : { resource: kind, id: identifier };
}

export const noNames: Failure = {
  errorCode: ErrorCode.INVALID_CONTEXT,
  errorMessage: `the kind and the identifier of the resource must each be ${nameRule}`,
};
const noKey: Failure = {
  errorCode: ErrorCode.TARGETING_KEY_MISSING,
  errorMessage: "the context needs a targetingKey such as customer/42, or a resource and an id",
};
const noPair: Failure = {
  errorCode: ErrorCode.INVALID_CONTEXT,
  errorMessage: "targetingKey must be resource/id, each percent-encoded, such as customer/42",
};

function decoded(part: string): string | undefined {
  if (!part.includes("%")) return part; // Decoding would take longer than all else.
  try {
    return decodeURIComponent(part);
  } catch {
    return undefined;
  }
}
