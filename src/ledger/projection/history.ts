import type { Details, EventRow } from "../tables/event.ts";
import {
  foldStateOf,
  memberNames,
  type ResourceRow,
  type Source,
  type Sourced,
  type SourcedColumn,
  sourcedColumns,
  storedFoldState,
} from "../tables/fold-state.ts";
import { textOf } from "./details.ts";
import { metadataOf } from "./metadata.ts";
import { lifeCyclePosition } from "./states.ts";

/** A row into which events are folded. */
export interface FoldedRow extends ResourceRow {
  /** Number of the event that arrived first, if the row has it. */
  first_event_id?: bigint;
}

/** How events are folded into the rows of one resource type, or of those that share a table. */
export interface Projection<Row extends Base, State extends string, Base extends FoldedRow = Row> {
  /** The state that an event type sets, or undefined. */
  stateSetBy(eventType: string): State | undefined;
  /** The values of a row that events have set, where it has them under other names or derived. */
  columnsOf(base: Base): Partial<Record<SourcedColumn, unknown>>;
  rowOf(externalId: string, fold: Fold<State>): Row;
}

/** Folds of resources, to which events are added in any order and in any pieces. */
export class Folds<Row extends Base, State extends string, Base extends FoldedRow = Row> {
  readonly #projection: Projection<Row, State, Base>;
  readonly #bases: ReadonlyMap<string, Base>;
  readonly #folds = new Map<string, Fold<State>>();

  /** Begins with the rows whose fold states are known. */
  constructor(projection: Projection<Row, State, Base>, bases: ReadonlyMap<string, Base> = new Map()) {
    this.#projection = projection;
    this.#bases = bases;
  }

  add(events: EventRow[]): void {
    const { stateSetBy } = this.#projection;
    for (const event of events) this.#foldOf(event.resource_external_id).add(event, stateSetBy);
  }

  #foldOf(externalId: string): Fold<State> {
    const known = this.#folds.get(externalId);
    if (known) return known;
    const base = this.#bases.get(externalId);
    const created = new Fold<State>(base, base && this.#projection.columnsOf(base));
    this.#folds.set(externalId, created);
    return created;
  }

  /** The rows of the resources to which events were added. */
  rows(): Map<string, Row> {
    return new Map(Array.from(this.#folds, ([id, fold]) => [id, this.#projection.rowOf(id, fold)]));
  }
}

/** The fold of one resource: each value has the event from which it comes, and a newer event replaces it. */
class Fold<State extends string> {
  readonly #members = new Map<string, Sourced>();
  readonly #columns = new Map<SourcedColumn, Sourced>();
  /** The newest account that an event names beside its details. */
  #beside: Sourced<string> | undefined;
  readonly #accounts: Set<string>;
  readonly #metadataKeys: Set<string>;
  #created: string;
  #count: number;
  #firstEventId: bigint | undefined;

  /** Begins with a row whose fold state is known, or with nothing. The columns are those of the row. */
  constructor(base?: FoldedRow, columns: Partial<Record<SourcedColumn, unknown>> = {}) {
    const state = base && foldStateOf(base);
    this.#accounts = new Set(state?.accounts);
    this.#metadataKeys = new Set(state?.metadata_keys);
    this.#created = base?.created_date ?? "";
    this.#count = base?.event_count ?? 0;
    this.#firstEventId = base?.first_event_id;
    if (!base || !state) return;
    this.#beside = state.account_beside;
    const sources = state.places.map((place) => state.sources[place]);
    const values = { ...columns, service_id: base.service_id, live: state.live };
    for (const [index, name] of sourcedColumns.entries()) {
      const source = sources[index];
      if (source) this.#columns.set(name, { value: values[name as keyof typeof values], source });
    }
    for (const [index, name] of memberNames(base.details).entries()) {
      const source = sources[sourcedColumns.length + index] as Source;
      this.#members.set(name, { value: base.details[name as keyof Details], source });
    }
  }

  add(event: EventRow, stateSetBy: (eventType: string) => State | undefined): void {
    const { timestamp, event_type, resource_type, event_details } = event;
    const source: Source = [timestamp, event_type, resource_type];
    for (const [name, value] of Object.entries(event_details)) setNewer(this.#members, name, value, source);
    const values: Record<SourcedColumn, unknown> = {
      type: resource_type,
      state: stateSetBy(event_type),
      service_id: event.service_id || undefined,
      live: event.live ?? undefined,
      parent: event.parent_resource_external_id || undefined,
    };
    for (const name of sourcedColumns) {
      if (values[name] !== undefined) setNewer(this.#columns, name, values[name], source);
    }
    const beside = accountBeside(event);
    if (beside !== undefined && isNewer(source, this.#beside)) this.#beside = { value: beside, source };
    if (resource_type === "payment") {
      const account = textOf(event_details, "gateway_account_id") ?? beside;
      if (account !== undefined) this.#accounts.add(account);
      for (const key of Object.keys(metadataOf(event_details))) this.#metadataKeys.add(key);
    }
    if (this.#count === 0 || timestamp < this.#created) this.#created = timestamp;
    this.#count += 1;
    if (this.#firstEventId === undefined || event.id < this.#firstEventId) this.#firstEventId = event.id;
  }

  /** The newest value of a column; undefined if no event has set it. */
  column(name: SourcedColumn): unknown {
    return this.#columns.get(name)?.value;
  }

  /** The event from which the value of a column comes; undefined if no event has set it. */
  sourceOf(name: SourcedColumn): Source | undefined {
    return this.#columns.get(name)?.source;
  }

  /** Number of the event that arrived first. */
  firstEventId(): bigint {
    return this.#firstEventId as bigint;
  }

  state(): State | "UNDEFINED" {
    return (this.column("state") as State | undefined) ?? "UNDEFINED";
  }

  /** The columns that are folded alike for every resource type. */
  row() {
    const details: Details = Object.fromEntries([...this.#members].map(([name, { value }]) => [name, value]));
    const live = (this.column("live") as boolean | undefined) ?? null;
    return {
      gateway_account_id: textOf(details, "gateway_account_id") ?? this.#beside?.value ?? null,
      service_id: (this.column("service_id") as string | undefined) ?? null,
      live,
      created_date: this.#created,
      event_count: this.#count,
      details,
      folded: storedFoldState({
        event_count: this.#count,
        live,
        accounts: [...this.#accounts].sort(),
        metadata_keys: [...this.#metadataKeys].sort(),
        ...(this.#beside && { account_beside: this.#beside }),
        ...this.#sources(memberNames(details)),
      }),
    };
  }

  #sources(names: string[]): { sources: Source[]; places: number[] } {
    const sourced = [
      ...sourcedColumns.map((name) => this.#columns.get(name)),
      ...names.map((name) => this.#members.get(name)),
    ].map((value) => value?.source);
    const byText = new Map(sourced.flatMap((source) => (source ? [[source.join(), source]] : [])));
    const sources = [...byText.values()].sort(compareSources);
    const places = new Map(sources.map((source, place) => [source.join(), place]));
    return {
      sources,
      places: sourced.map((source) => (source ? (places.get(source.join()) as number) : -1)),
    };
  }
}

/** The account that a message names beside the details. */
const accountBeside = ({ other_members }: EventRow): string | undefined =>
  (other_members && textOf(other_members, "gateway_account_id")) || undefined;

const isNewer = (source: Source, current: Sourced | undefined): boolean =>
  !current || compareSources(source, current.source) < 0;

function setNewer<Name>(values: Map<Name, Sourced>, name: Name, value: unknown, source: Source): void {
  if (isNewer(source, values.get(name))) values.set(name, { value, source });
}

/**
 * Plans the fold of added events: the rows into which they are folded, the events that are known, and the resources whose
 * events must be read. Nothing is read for a row whose fold state is known, and for added events that are all events of a
 * resource without a row, of which `withoutRow` has the count.
 */
export function planFold<Row extends FoldedRow>(
  ids: Iterable<string>,
  added: EventRow[],
  rows: ReadonlyMap<string, Row>,
  withoutRow: ReadonlyMap<string, number | null>,
) {
  const byResource = Map.groupBy(added, (event) => event.resource_external_id);
  const bases = new Map<string, Row>();
  const known: EventRow[] = [];
  const missing: string[] = [];
  for (const id of ids) {
    const own = byResource.get(id) ?? [];
    const row = rows.get(id);
    const isBase = row !== undefined && foldStateOf(row) !== null;
    if (isBase) bases.set(id, row);
    if (isBase || withoutRow.get(id) === own.length) known.push(...own);
    else missing.push(id);
  }
  return { bases, known, missing };
}

/** Orders events newest first. Events with equal sources are ordered by their resource. */
export const compareNewestFirst = (a: OrderedEvent, b: OrderedEvent): number =>
  compareSources(sourceOf(a), sourceOf(b)) || compare(b.resource_external_id, a.resource_external_id);

type OrderedEvent = Pick<EventRow, "timestamp" | "event_type" | "resource_type" | "resource_external_id">;

const sourceOf = ({
  timestamp,
  event_type,
  resource_type,
}: Omit<OrderedEvent, "resource_external_id">): Source => [timestamp, event_type, resource_type];

/**
 * Orders newest first, as `x-state-machine` in the contract states: by timestamp, then by the position of the type in the
 * life cycle, then by names. The order of arrival has no effect.
 */
const compareSources = ([timestampA, typeA, resourceA]: Source, [timestampB, typeB, resourceB]: Source) =>
  compare(timestampB, timestampA) ||
  lifeCyclePosition(typeB) - lifeCyclePosition(typeA) ||
  compare(typeB, typeA) ||
  compare(resourceB, resourceA);

const compare = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);
