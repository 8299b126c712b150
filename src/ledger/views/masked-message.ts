import contract from "../../../generated/ledger.json" with { type: "json" };
import { isRawNumber } from "../../values/exact-json.ts";

/** The members of an object by name: true if their values are shown, false if they are personal data. */
type Members = Map<string, boolean>;

const membersOf = (properties: Record<string, object>): Members =>
  new Map(
    Object.entries(properties).map(([name, schema]) => [
      name,
      !("x-personal-data" in schema && schema["x-personal-data"] === true),
    ]),
  );

const { EventMessage, EventDetails } = contract.components.schemas;
const messageMembers = membersOf(EventMessage.properties);
const detailsMembers = membersOf(EventDetails.properties);

/**
 * A message as indented JSON without personal data. It has the scalar values of the members that the contract has without
 * `x-personal-data`. Any other value is replaced by the name of its type, and the name of a member that the contract does not
 * have by a number, since names can be data too.
 */
export const viewMaskedMessage = (message: unknown): string =>
  JSON.stringify(isObject(message) ? maskMessage(message) : maskValue(message), null, 2);

const maskMessage = (message: object): object =>
  maskMembers(message, messageMembers, (name, value) => {
    if (name !== "event_details") return maskUnlessScalar(name, value);
    return isObject(value) ? maskMembers(value, detailsMembers, maskUnlessScalar) : maskValue(value);
  });

/** `show` makes the values of members that are shown. */
function maskMembers(
  object: object,
  members: Members,
  show: (name: string, value: unknown) => unknown,
): object {
  let unknown = 0;
  return Object.fromEntries(
    Object.entries(object).map(([name, value]) => {
      const isShown = members.get(name);
      if (isShown === undefined) unknown += 1;
      return [
        isShown === undefined ? `(member ${unknown})` : name,
        isShown ? show(name, value) : maskValue(value),
      ];
    }),
  );
}

const maskUnlessScalar = (_name: string, value: unknown): unknown =>
  isObject(value) || Array.isArray(value) ? maskValue(value) : value;

const isObject = (value: unknown): value is object =>
  typeof value === "object" && value !== null && !Array.isArray(value) && !isRawNumber(value);

/** The name of the type of a JSON value; null stays null. */
function maskValue(value: unknown): string | null {
  if (value === null) return null;
  if (Array.isArray(value)) return "(list)";
  if (isObject(value)) return "(object)";
  if (typeof value === "string") return "(text)";
  return typeof value === "boolean" ? "(boolean)" : "(number)";
}
