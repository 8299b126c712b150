import { ErrorCode, type EvaluationContext, StandardResolutionReasons } from "@openfeature/server-sdk";
import type { ChangeRecord } from "../change-stream.ts";
import type { Copy } from "./copy.ts";
import { isLive } from "./entries.ts";

const failure = (errorCode: ErrorCode, errorMessage: string) => ({ errorCode, errorMessage });
const invalid = (message: string) => failure(ErrorCode.INVALID_CONTEXT, message);
export type Failure = ReturnType<typeof failure>;

const name = /^[^\p{Cc}\p{Cs}]{1,256}$/u;
const nameRule = "a text of 1 to 256 characters without control characters";

/** True for a text that is a `Name` of the contract. */
export const isName = (text: string): boolean => name.test(text);

const notReady = failure(ErrorCode.PROVIDER_NOT_READY, "the features are not copied yet");
const noNames = invalid(`the kind and the identifier of the resource must each be ${nameRule}`);
const noKey = failure(
  ErrorCode.TARGETING_KEY_MISSING,
  "the context needs a targetingKey such as customer/42, or a resource and an id",
);
const noPair = invalid("targetingKey must be resource/id, each percent-encoded, such as customer/42");
const noName = failure(ErrorCode.PARSE_ERROR, `the key of a flag must be ${nameRule}`);

/** The value of a flag in a copy of these kinds, or why it has none. */
export function evaluate(
  copy: Copy | undefined,
  kinds: string[],
  flagKey: string,
  context: EvaluationContext,
): { value: boolean; reason: string } | Failure {
  if (!copy) return notReady;
  const key = resourceKeyOf(context);
  if ("errorCode" in key) return key;
  const expiresAt = copy.entries.get(key.resource)?.get(flagKey)?.get(key.id);
  const failed = expiresAt === undefined ? failureOf(kinds, flagKey, key) : undefined;
  if (failed) return failed;
  const value = expiresAt !== undefined && isLive(expiresAt);
  const reason = value ? StandardResolutionReasons.TARGETING_MATCH : StandardResolutionReasons.STATIC;
  return { value, reason };
}

/** The kind and the identifier of a resource. */
type ResourceKey = Pick<ChangeRecord, "resource" | "id">;

/**
 * The resource that a context names, by the rule of the service, or the error if it names none. The texts may be no names:
 * those in a copy are, and checking them each time would take longer than to find them.
 */
function resourceKeyOf({ resource, id, targetingKey }: EvaluationContext): ResourceKey | Failure {
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

function decoded(part: string): string | undefined {
  if (!part.includes("%")) return part; // Decoding would take longer than all else.
  try {
    return decodeURIComponent(part);
  } catch {
    return undefined;
  }
}

/** Why a flag of a resource cannot be in the copy; undefined if it can. */
function failureOf(kinds: string[], flagKey: string, { resource, id }: ResourceKey): Failure | undefined {
  if (!isName(resource) || !isName(id)) return noNames;
  if (!kinds.includes(resource)) {
    return invalid(`the provider has no resources of the kind ${resource}, only of ${kinds.join(", ")}`);
  }
  return isName(flagKey) ? undefined : noName;
}
