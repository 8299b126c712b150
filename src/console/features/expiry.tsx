import { Field } from "../form.tsx";

const minuteMs = 60_000;

/** The time until which a feature is added, in the time zone of the reader. */
export function ExpiryField() {
  const now = new Date();
  const min = new Date(now.getTime() - now.getTimezoneOffset() * minuteMs).toISOString().slice(0, 16);
  return (
    <Field label="Expires (never, if empty)" name="expires_at" type="datetime-local" step={1} min={min} />
  );
}

/** The instant in the field; undefined for never. */
export function expiryIn(fields: FormData): string | undefined {
  const text = String(fields.get("expires_at"));
  return text === "" ? undefined : new Date(text).toISOString();
}
