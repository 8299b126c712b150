import type { News } from "../../waiting/news.ts";

/** A feature of one resource. */
export interface Entry {
  resource: string;
  id: string;
  feature: string;
  /** The instant at which the feature expires, as milliseconds since 1970 (UTC). Default: never. */
  expiresAt?: number | undefined;
}

/** The kind and the id of a resource. */
export type ResourceName = Pick<Entry, "resource" | "id">;

/** A text that identifies the resource of something. */
export const resourceKey = ({ resource, id }: ResourceName): string => JSON.stringify([resource, id]);

/** A change to one feature of a resource. */
export type FeatureChange =
  | { type: "add"; feature: string; expiresAt?: number | undefined }
  | { type: "remove"; feature: string };

/** A change that was made at the instant `at`, as milliseconds since 1970 (UTC). */
export interface ChangeRecord extends Entry {
  type: "added" | "removed" | "expired";
  at: number;
}

/** A record in the change feed, and the cursor after it. */
export interface FeedEntry {
  record: ChangeRecord;
  cursor: string;
}

/** Entries of a feed after a cursor; undefined if the cursor is unknown. */
export type FeedPage = FeedEntry[] | undefined;

/** Maximum number of live features of a resource. A longer list, which a previous release stored, can be shortened. */
export const featuresMax = 1000;

/** Identifies an entry among those of a kind of resource. */
export type EntryKey = Pick<Entry, "feature" | "id">;

/** Whether the resource had the feature before each change, or the reason why nothing was changed. */
export type ChangeOutcome = { had: boolean[] } | { rejected: "list differs" | "too many features" };

/**
 * The features of each resource. Linearizable: after a change resolves, every later call in any process sees the change.
 * An expired feature is absent from every result, by the clock of the process that reads.
 */
export interface Features {
  /**
   * The entries of a resource without duplicates, oldest first. Empty for an unknown resource. A list that is longer than
   * `featuresMax` is read in pieces, between which it can change.
   */
  list(resource: string, id: string): Promise<Entry[]>;
  /** Whether the resource has each of the features. */
  has(resource: string, id: string, features: string[]): Promise<boolean[]>;
  /** Whether each of the resources has each of the features. The resources are read at different times. */
  hasEach(resources: ResourceName[], features: string[]): Promise<boolean[][]>;
  /**
   * Makes changes to one resource, in order and atomically. A new feature goes to the end of the list. A feature that is
   * already present keeps its position and gets the expiry time of the change.
   *
   * Changes nothing if the list differs from `onlyIf`, and if the list would get longer and longer than `featuresMax`.
   */
  change(...request: ChangeRequest): Promise<ChangeOutcome>;
}

export type ChangeRequest = [resource: string, id: string, changes: FeatureChange[], onlyIf?: string[]];

/** Ids of resources, and the id after which the next page begins; undefined if there are no more. */
export interface IdPage {
  ids: string[];
  next: string | undefined;
}

/** The page with these ids. Fewer ids than the limit mean that there are no more. */
export const pageOf = (ids: string[], limit: number): IdPage => ({
  ids,
  next: ids.length === limit ? ids.at(-1) : undefined,
});

/** The resources and features of each kind of resource. Linearizable, and without what has expired, like `Features`. */
export interface Directory {
  /**
   * Up to `limit` ids of resources of one kind that have a feature: without duplicates, after the id `after`, in an order
   * that is stable and depends on the store.
   */
  idsWith(resource: string, feature: string, after: string | undefined, limit: number): Promise<IdPage>;
  /** The number of resources of a kind that have each of the features. The cost does not depend on these numbers. */
  counts(resource: string, features: string[]): Promise<number[]>;
  /**
   * Features that resources of a kind have, after the feature `after`, in an order that is stable and depends on the
   * store. One that has just expired everywhere may be among them. Fewer than the limit mean that there are no more.
   */
  featuresInUse(resource: string, after: string | undefined, limit: number): Promise<string[]>;
  /** Kinds of resources that have features, as `featuresInUse` returns features. */
  kinds(after: string | undefined, limit: number): Promise<string[]>;
  /**
   * Entries of the resources of a kind: each once, after the entry `after`, in an order that is stable and depends on the
   * store. Fewer entries than the limit mean that there are no more.
   */
  entriesOf(resource: string, after: EntryKey | undefined, limit: number): Promise<Entry[]>;
  /**
   * Every entry; the entries of one resource are together and in order. A resource that changes meanwhile is returned in
   * its state before or after the change, unless its list is longer than `featuresMax`.
   */
  entries(): AsyncIterable<Entry>;
}

/**
 * The records of changes. Records of one resource are in order; records of different resources are in order
 * approximately. An addition that changes an expiry time has a record. An expiry has one when `expire` has recorded
 * it; both methods make one step of `expire` first.
 */
export interface ChangeFeed {
  /**
   * Entries of the feed after a cursor, or from the oldest record. They end at the cursor `until`, or at the newest
   * record. Resolves with undefined if the cursor is unknown or a record after it has been deleted. The parameter
   * `changes` of the store's URL is the minimum number of records that are kept.
   */
  changes(after: string | undefined, limit: number, until?: string): Promise<FeedPage>;
  /**
   * The cursor after the newest record, or so many records before it: at most before the oldest record that is kept. Which
   * records are the last ones is approximate, as their order is; their number is exact.
   */
  newest(before?: number): Promise<string>;
  /** News of the changes by this process. Those by others are found by looking. */
  readonly news?: News;
}

/**
 * A store of features. Every method rejects with `StoreFailure` within a few seconds if the store is unavailable. A change
 * that was rejected may still be made, atomically, now or a little later. Repeating it is safe.
 */
export interface FeatureStore extends Features, Directory, ChangeFeed, AsyncDisposable {
  /**
   * Removes some of the features that have expired, and records their expiry. Resolves with whether there may be more of
   * them. Several processes can do this at the same time. A store needs it from time to time.
   */
  expire(): Promise<boolean>;
  /** Past states, if the store keeps all change records. */
  readonly history: History | undefined;
}

/** The features of resources, now or at an instant. */
export type State = Pick<Features & Directory, "list" | "has" | "idsWith">;

/**
 * The past of a store that keeps all change records, since it was empty. An instant is given as milliseconds since 1970
 * (UTC), is inclusive, and is not in the future. An expired feature is absent from its instant of expiry on.
 *
 * The records of one resource have the instants of their changes, which never decrease: a clock that is behind counts as
 * the instant of the last change. The instant is taken where the order of the changes is made.
 */
export interface History {
  /**
   * An instant up to which every state is final: no later change gets this instant or an earlier one. It is the instant of
   * the call, except that a change in flight is awaited; rejects with `StoreFailure` if that takes longer than two seconds.
   */
  settled(): Promise<number>;
  /**
   * The state at an instant. Its `idsWith` examines up to `limit` resources that ever had the feature; `next` is the last of
   * them, so that a page can have fewer ids than the limit and not be the last one.
   */
  at(instant: number): State;
  /**
   * Change records of one resource after a cursor, or from the first one. Resolves with undefined if the cursor is
   * unknown. Fewer records than the limit mean that there are no more.
   */
  changes(resource: string, id: string, after: string | undefined, limit: number): Promise<FeedPage>;
}

/** The store is unavailable. The message is part of the response to the caller. */
export class StoreFailure extends Error {}

/** Handles the failure of a step that a later one makes up for. On a full disk, for example, the feed can be read. */
export function ignoreFailure(error: unknown): void {
  if (!(error instanceof StoreFailure)) throw error;
}
