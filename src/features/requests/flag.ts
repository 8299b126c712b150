import type { components } from "../../../generated/features.ts";
import { featuresContract } from "../../contract/contracts.ts";
import { schemaValidator } from "../../contract/validation.ts";

type Schemas = components["schemas"];

/** The evaluation of a feature as a flag. */
export function viewFlag(key: string, value: boolean): Schemas["EvaluationSuccess"] {
  return value
    ? { key, value, reason: "TARGETING_MATCH", variant: "on" }
    : { key, value, reason: "STATIC", variant: "off" };
}

/** The resource that a context names, or the error if it names none. */
export function resourceOf(
  context: Schemas["EvaluationContext"] = {},
): { resource: string; id: string } | Schemas["BulkEvaluationFailure"] {
  const { resource, id, targetingKey } = context;
  if (resource !== undefined && id !== undefined) {
    return isName(resource) && isName(id)
      ? { resource, id }
      : failure("INVALID_CONTEXT", `resource and id must each be ${nameRule}`);
  }
  if (targetingKey === undefined || targetingKey === "") {
    return failure(
      "TARGETING_KEY_MISSING",
      "the context needs a targetingKey such as customer/42, or a resource and an id",
    );
  }
  const parts = typeof targetingKey === "string" ? targetingKey.split("/") : [];
  const [kind, identifier, ...more] = parts.map(decoded);
  return more.length === 0 && isName(kind) && isName(identifier)
    ? { resource: kind, id: identifier }
    : failure(
        "INVALID_CONTEXT",
        `targetingKey must be resource/id, each percent-encoded, such as customer/42, and each ${nameRule}`,
      );
}

const failure = (errorCode: Schemas["EvaluationErrorCode"], errorDetails: string) => ({
  errorCode,
  errorDetails,
});

const nameRule = "a text of 1 to 256 characters without control characters";
let findFaults: ReturnType<typeof schemaValidator> | undefined;
function isName(value: unknown): value is string {
  // Compiled at the first use, since most installations evaluate no flags.
  findFaults ??= schemaValidator(featuresContract, "Name");
  return findFaults(value).length === 0;
}

function decoded(part: string): string | undefined {
  try {
    return decodeURIComponent(part);
  } catch {
    return undefined;
  }
}
