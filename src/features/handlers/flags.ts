import type { components, operations } from "../../../generated/features.ts";
import { featuresContract } from "../../contract/contracts.ts";
import { schemaValidator } from "../../contract/validation.ts";
import type { Handlers } from "../../http/handlers.ts";
import { mapInTurns } from "../../waiting/turns.ts";
import { openFlagEvents } from "../requests/flag-events.ts";
import type { FeatureStore } from "../store/store.ts";

type Schemas = components["schemas"];
type FlagOperation = "evaluateFlag" | "evaluateFlags" | "followFlags";

/** Maximum number of features in use that are named as flags. */
const inUseMax = 1000;

/** Features as flags, by the OpenFeature Remote Evaluation Protocol. */
export function flagHandlers(store: FeatureStore): Pick<Handlers<operations>, FlagOperation> {
  const follow = openFlagEvents(store);
  return {
    async evaluateFlag({ path: { key }, body: { context }, log }) {
      const subject = subjectOf(context ?? {});
      if ("errorCode" in subject) return { status: 400, body: { key, ...subject } };
      const { resource, id } = subject;
      log.debug({ resource, id, feature: key }, "evaluate flag");
      const [has = false] = await store.has(resource, id, [key]);
      return { status: 200, body: flag(key, has) };
    },

    async evaluateFlags({ body: { context }, serviceUrl, caller, log }) {
      const subject = subjectOf(context ?? {});
      if ("errorCode" in subject) return { status: 400, body: subject };
      const { resource, id } = subject;
      log.debug({ resource, id }, "evaluate flags");
      const entries = await store.list(resource, id);
      const has = new Set(await mapInTurns(entries, ({ feature }) => feature));
      const keys = has.union(new Set(await store.featuresInUse(resource, inUseMax)));
      const flags = await mapInTurns([...keys], (key) => flag(key, has.has(key)));
      // EventSource cannot send a header.
      const query = new URLSearchParams({ resource, id, ...(caller && { access_token: caller.token }) });
      const url = `${serviceUrl}/ofrep/v1/events?${query}`;
      return { status: 200, body: { flags, eventStreams: [{ type: "sse", url }] } };
    },

    async followFlags({ query: { resource, id }, signal, log }) {
      log.debug({ resource, id }, "follow flags");
      return { status: 200, type: "text/event-stream", body: follow(resource, id, signal) };
    },
  };
}

function flag(key: string, value: boolean): Schemas["EvaluationSuccess"] {
  return value
    ? { key, value, reason: "TARGETING_MATCH", variant: "on" }
    : { key, value, reason: "STATIC", variant: "off" };
}

/** The resource that a context names, or the error if it names none. */
function subjectOf(
  context: Schemas["EvaluationContext"],
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
  const parts = typeof targetingKey === "string" ? targetingKey.split("/").map(decoded) : [];
  const [kind, identifier] = parts;
  return parts.length === 2 && isName(kind) && isName(identifier)
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
let nameErrors: ((value: unknown) => string[]) | undefined;
function isName(value: unknown): value is string {
  // Compiled at the first use, since most installations evaluate no flags.
  nameErrors ??= schemaValidator(featuresContract, "Name");
  return nameErrors(value).length === 0;
}

function decoded(part: string): string | undefined {
  try {
    return decodeURIComponent(part);
  } catch {
    return undefined;
  }
}
