import { isRawNumber } from "../values/exact-json.ts";
import { isDay, readInstant } from "../values/instant.ts";
import { detailsMembers, ledgerSchemas, messageMembers, type Schema } from "./contracts.ts";

/** True for a value that has the form of its member. */
type Form = (value: unknown) => boolean;

/** The members of an object by name. The value of one without a form can be personal data. */
export type Forms = Map<string, Form | undefined>;

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

const formsOf = (members: Record<string, Schema>): Forms =>
  new Map(Object.entries(members).map(([name, schema]) => [name, formOf(name, schema)]));

/** The forms of the members of an event message. */
export const messageForms = formsOf(messageMembers);
/** The forms of the members of its details. */
export const detailsForms = formsOf(detailsMembers);
