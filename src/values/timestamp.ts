/** Converts `2024-03-05 09:14:22.018+00`, a `timestamptz` in UTC, to the form of the ledger. */
export function readTimestamp(text: string): string {
  const [day, time = ""] = text.split(" ");
  const [seconds, fraction = ""] = time.slice(0, -"+00".length).split(".");
  return `${day}T${seconds}.${fraction.padEnd(6, "0")}Z`;
}
