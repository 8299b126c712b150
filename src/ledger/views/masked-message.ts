import { type PlacedFault, unescapePointer } from "../../contract/faults.ts";
import { detailsForms, type Forms, messageForms } from "../../contract/member-forms.ts";
import { isRawNumber } from "../../values/exact-json.ts";
import { isObject } from "../../values/json.ts";

/**
 * A message as indented JSON without personal data. It has the values of the members that the contract has without
 * `x-personal-data`, if they have the form of their member: a message that is no event can have anything anywhere. Any other
 * value is replaced by the name of its type, and the name of a member that the contract does not have by a number, since
 * names can be data too.
 */
export const viewMaskedMessage = (message: unknown): string =>
  JSON.stringify(hasMembers(message) ? maskMessage(message) : maskValue(message), null, 2);

/**
 * A fault of a message, without a remedy that would show personal data. Its places are those in the masked message: the name
 * of a misspelt member is a number there.
 */
export function viewMaskedFault({ remedy, ...fault }: PlacedFault, message: unknown): PlacedFault {
  const isShown = remedy?.every((operation) => !("value" in operation) || isShownAt(operation));
  if (!isShown) return fault;
  const masked = remedy?.map((operation) =>
    operation.op === "move" ? { ...operation, from: maskPointer(operation.from, message) } : operation,
  );
  return { ...fault, remedy: masked };
}

/** The pointer to a member of a message, or of its details, in the masked message. */
function maskPointer(pointer: string, message: unknown): string {
  const [, ...names] = pointer.split("/").map(unescapePointer);
  const place = names.length === 1 ? message : (message as { event_details: object }).event_details;
  const members = names.length === 1 ? messageForms : detailsForms;
  const unknown = Object.keys(place as object).filter((name) => !members.has(name));
  const [name = "", ...above] = names.toReversed();
  return ["", ...above, maskedName(unknown.indexOf(name) + 1)].join("/");
}

/** The name of the first, second … member of an object that the contract does not have. */
const maskedName = (number: number) => `(member ${number})`;

function isShownAt({ path, value }: { path: string; value: unknown }): boolean {
  const [, name = "", member] = path.split("/");
  const form = member === undefined ? messageForms.get(name) : detailsForms.get(member);
  return form?.(value) ?? false;
}

const maskMessage = (message: object): object =>
  maskMembers(message, messageForms, (name, value) =>
    name === "event_details" && hasMembers(value) ? maskMembers(value, detailsForms) : maskValue(value),
  );

/** `mask` masks the values that are not shown as they are. */
function maskMembers(
  object: object,
  members: Forms,
  mask: (name: string, value: unknown) => unknown = (_name, value) => maskValue(value),
): object {
  let unknown = 0;
  return Object.fromEntries(
    Object.entries(object).map(([name, value]) => {
      if (!members.has(name)) {
        unknown += 1;
        return [maskedName(unknown), maskValue(value)];
      }
      const form = members.get(name);
      const isShown = form !== undefined && (value === "" || form(value));
      return [name, isShown ? value : mask(name, value)];
    }),
  );
}

/** A number with many digits is an object, too. */
const hasMembers = (value: unknown): value is object => isObject(value) && !isRawNumber(value);

/** The name of the type of a JSON value; null stays null. */
function maskValue(value: unknown): string | null {
  if (value === null) return null;
  if (Array.isArray(value)) return "(list)";
  if (hasMembers(value)) return "(object)";
  if (typeof value === "string") return "(text)";
  return typeof value === "boolean" ? "(boolean)" : "(number)";
}
