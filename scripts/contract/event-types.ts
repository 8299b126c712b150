import type { Contract } from "../../src/contract/operations.ts";

interface Row {
  event_type: string;
  /** What happened, as a sentence. */
  description: string;
  state?: string;
  /** The members of the details that producers send with the event. */
  details?: string[];
}

/**
 * The rows of `x-event-types`, by resource type and without the details. Throws if a type is listed twice, or if its
 * details and the members of the schema `EventDetails` differ.
 */
export function readEventTypes(contract: Contract): Record<string, Omit<Row, "details">[]> | undefined {
  const { description: _, ...tables } = (contract["x-event-types"] ?? {}) as Record<string, { rows: Row[] }>;
  if (Object.keys(tables).length === 0) return undefined;
  const rows = Object.values(tables).flatMap((table) => table.rows);
  const named = new Set(rows.flatMap(({ details = [] }) => details));
  const { EventDetails } = (contract.components?.schemas ?? {}) as Record<string, { properties: object }>;
  const declared = new Set(Object.keys(EventDetails?.properties ?? {}));
  throwIfAny(
    "has no description",
    rows.flatMap(({ event_type, description }) => (description ? [] : event_type)),
  );
  throwIfAny("is listed twice", twiceIn(rows.map(({ event_type }) => event_type)));
  throwIfAny("is not a member of EventDetails", named.difference(declared));
  throwIfAny("is a member of EventDetails, and no event type has it", declared.difference(named));
  return Object.fromEntries(
    Object.entries(tables).map(([resourceType, table]) => [
      resourceType,
      table.rows.map(({ event_type, description, state }) => ({
        event_type,
        description,
        ...(state && { state }),
      })),
    ]),
  );
}

const twiceIn = (names: string[]) => names.filter((name, index) => names.indexOf(name) !== index);

function throwIfAny(problem: string, names: Iterable<string>): void {
  const [name] = names;
  if (name !== undefined) throw new Error(`x-event-types: ${name} ${problem}`);
}
