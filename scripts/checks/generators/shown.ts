import { expected } from "../../../examples/expected.ts";
import { parseJson } from "../../../src/values/json.ts";

export type Step = keyof typeof expected;

/** What a client in TypeScript leaves out: its types have no names. */
export const beyondTypeScript: Step[] = ["kinds"];

/** How the output of a program differs from what is expected. A line is a step and the JSON of what it got. */
export function differencesOf(output: string, leftOut: Step[]): string[] {
  const shown: Record<string, unknown> = {};
  for (const [, step = "", json = ""] of output.matchAll(/^(\w+) ([^u].*)$/gm))
    shown[step] = JSON.parse(json);
  const differences = Object.entries(expected)
    .filter(([step, part]) => !leftOut.includes(step as Step) && !has(shown[step], part))
    .map(([step, part]) => `${step} is ${JSON.stringify(shown[step])}, not ${JSON.stringify(part)}`);
  if (differences.length > 0) return differences;
  const { added, again } = shown as { added: [number, Added]; again: Added };
  const [id, same] = [again.events[0]?.event_id, added[1].events[0]?.event_id];
  return id === same ? [] : [`the event ${id} is not ${same}`];
}

interface Added {
  events: { event_id?: unknown }[];
}

/** The line of an error of the feature storage. Its body is that line, or a problem document for a client that accepts JSON. */
function lineOf(body: unknown): unknown {
  const value = typeof body === "string" ? parseJson(body) : body;
  const { detail } = (value ?? {}) as { detail?: string };
  return detail === undefined ? body : `${detail}\n`;
}

/** True if a value has everything of a part. An instant can be written in several ways. */
function has(value: unknown, part: unknown): boolean {
  if (part === null || part === undefined) return value === null || value === undefined;
  if (typeof part === "string" && /^\d{4}-.*T/.test(part))
    return Date.parse(String(value)) === Date.parse(part);
  if (typeof part === "string" && part.endsWith("\n")) return lineOf(value) === part;
  if (typeof part !== "object") return value === part;
  if (Array.isArray(part) && !(Array.isArray(value) && value.length === part.length)) return false;
  return Object.entries(part).every(([key, one]) =>
    has((value as Record<string, unknown> | null)?.[key], one),
  );
}
