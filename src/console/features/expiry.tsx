import { Field } from "../form.tsx";

/** A text is one stop of the keyboard, which a field for dates is not. */
export const ExpiryField = () => (
  <Field
    label="Expires (never, if empty)"
    name="expires_at"
    placeholder="2037-03-05 10:00"
    pattern="\d{4}-\d\d-\d\d([ T]\d\d:\d\d(:\d\d)?)?"
    title="A day, perhaps with a time: 2037-03-05 10:00"
    maxLength={19}
  />
);

/** The instant in the field, which is in the time zone of the reader; undefined for never. */
export function expiryIn(fields: FormData): string | undefined {
  const [day = "", time = "00:00"] = String(fields.get("expires_at")).trim().split(/[ T]/);
  const at = new Date(`${day}T${time}`);
  // The service says what is wrong with a day that no month has.
  return day === "" ? undefined : Number.isNaN(at.getTime()) ? `${day}T${time}Z` : at.toISOString();
}
