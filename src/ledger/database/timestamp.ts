/** From `2024-03-05 09:14:22.018+00`, as PostgreSQL writes a `timestamptz` in UTC. */
export function readTimestamp(text: string): string {
  const [day, time = ""] = text.split(" ");
  const [seconds, fraction = ""] = time.slice(0, -"+00".length).split(".");
  return `${day}T${seconds}.${fraction.padEnd(6, "0")}Z`;
}
