import { detailsMembers, ledgerSchemas, messageMembers, type Schema } from "../../contract/contracts.ts";
import { type PlacedFault, unescapePointer } from "../../contract/faults.ts";
import { isRawNumber } from "../../values/exact-json.ts";
import { isDay, readInstant } from "../../values/instant.ts";
import { isObject } from "../../values/json.ts";

/** True for a value that has the form of its member. */
type Form = (value: unknown) => boolean;

/** The members of an object by name. One without a form is masked. */
type Members = Map<string, Form | undefined>;

/** Numbers of cards have 13 to 19 digits, often in groups. */
const cardNumber = /\d{13}|\d{4}([-._:])\d{4}\1\d{4}\1\d|\d{4}([-._:])\d{6}\2\d{5}/;

const numberText = (value: unknown): string | undefined =>
  isRawNumber(value) ? value.rawJSON : typeof value === "number" ? String(value) : undefined;

const isText =
  (form: RegExp): Form =>
  (value) =>
    typeof value === "string" && form.test(value) && !cardNumber.test(value);

/** Pence, as a number or as text: 10 billion pounds at most, which is shorter than the number of a card. */
const isPence: Form = (value) =>
  /^-?\d{1,12}(\.0{1,9})?$/.test(numberText(value) ?? "") || isText(/^-?\d{1,12}$/)(value);
const isBoolean: Form = (value) =>
  typeof value === "boolean" || value === "true" || value === "false" || value === "null";
const isInstant: Form = (value) =>
  isText(/^[\d-]{10}T[\d:]{8}(\.\d{1,9})?(Z|[+-]\d\d:\d\d)$/)(value) &&
  readInstant(value as string) !== undefined;
const isDate: Form = (value) => isInstant(value) || (typeof value === "string" && isDay(value));
/** Ids are made by machines and have a digit. A name has none. */
const isTextId = isText(/^(?=.*\d)[A-Za-z\d][\w.:-]{0,63}$/);
const isId: Form = (value) => isTextId(value) || /^\d{1,12}$/.test(numberText(value) ?? "");
/** A constant such as `PAYMENT_CREATED`, in several words, and a code such as `bank_account`. */
const isConstant = isText(/^(?=.{1,64}$)[A-Z][A-Z\d]*(_[A-Z\d]+)+$/);
const isCode = isText(/^(?=.{1,40}$)[a-z][a-z\d]*([_-][a-z\d]+)*$/);
/** A version such as `2.2.0`, or the number of a ticket, as a number or as text. */
const isShortNumber: Form = (value) => {
  const text = typeof value === "string" ? value : numberText(value);
  return text !== undefined && /^(\d{1,10}|\d{1,2}(\.\d{1,2}){1,3})$/.test(text);
};

/** The members of each form that their schemas do not say. Free texts have none: they can be anything. */
const membersOfForms: [Form, string[]][] = [
  [isConstant, ["event_type", "wallet"]],
  [isInstant, ["timestamp"]],
  [isTextId, ["resource_external_id", "parent_resource_external_id", "service_id"]],
  [isId, ["gateway_account_id", "credential_external_id", "agreement_id", "agreement_external_id"]],
  [isId, ["gateway_transaction_id", "gateway_payout_id", "failure_balance_transaction"]],
  [isId, ["payment_instrument_id", "payment_instrument_external_id"]],
  [isShortNumber, ["zendesk_id", "version_3ds"]],
  [isCode, ["payment_provider", "card_brand", "agreement_payment_type", "refund_status", "reason"]],
  [isCode, ["gateway_status", "destination_type", "failure_code"]],
  [isText(/^[a-z]{2}(-[A-Z]{2})?$/), ["language"]],
  [isText(/^[a-z]{3}$/i), ["currency"]],
  [isText(/^(CREDIT|DEBIT)$/i), ["card_type"]],
  [isText(/^CARD$/), ["type"]],
  [isDate, ["capture_submitted_date", "captured_date", "evidence_due_date", "paid_out_date"]],
  [isDate, ["gateway_event_date", "estimated_arrival_date_in_bank", "cancelled_date"]],
  [isBoolean, ["save_payment_instrument_to_agreement"]],
];
const forms = new Map(membersOfForms.flatMap(([form, names]) => names.map((name) => [name, form])));

function formOf(name: string, schema: Schema): Form | undefined {
  if (schema["x-personal-data"]) return undefined;
  const { enum: values, oneOf = [] } = ledgerSchemas[schema.$ref?.split("/").at(-1) ?? ""] ?? schema;
  if (values) return (value) => values.includes(value);
  if (schema.$ref?.endsWith("/LenientPence")) return isPence;
  if (oneOf[0]?.type === "boolean") return isBoolean;
  return forms.get(name);
}

const formsOf = (members: Record<string, Schema>): Members =>
  new Map(Object.entries(members).map(([name, schema]) => [name, formOf(name, schema)]));

const messageForms = formsOf(messageMembers);
const detailsForms = formsOf(detailsMembers);

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
  members: Members,
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
