import { type Adapter, type Adapters, isWholeNumber, openAdapter } from "../../process/adapter.ts";

/** A feature that one resource has. */
export interface Entry {
  resource: string;
  id: string;
  feature: string;
  /** When it is gone by itself, in milliseconds since 1970 (UTC); never when it is not given. */
  expiresAt?: number | undefined;
}

/** What is wished of one feature of a resource. */
export type Wish =
  | { type: "add"; feature: string; expiresAt?: number | undefined }
  | { type: "remove"; feature: string };

/** What became of a feature of a resource, and when, in milliseconds since 1970 (UTC). */
export interface Change extends Entry {
  type: "added" | "removed" | "expired";
  at: number;
}

/** A change with the cursor that goes on behind it. */
export interface ToldChange {
  change: Change;
  cursor: string;
}

/**
 * Feature names by resource. What was answered is what every later call sees, whatever process it is made in. A feature
 * whose time has come is gone from every answer, by the clock of the process that answers.
 * Rejects with `StoreFailure` when it cannot answer, within some seconds. A change that failed so may have been made, or
 * be made a little later, wholly or not at all, when the store did not answer in time. The caller can ask again.
 */
export interface FeatureStore extends AsyncDisposable {
  /** The features of a resource, each once, in the order of their adding; none for an unknown resource. */
  list(resource: string, id: string): Promise<string[]>;
  has(resource: string, id: string, feature: string): Promise<boolean>;
  /**
   * Fulfils the wishes for one resource in their order, in one step that is seen wholly or not at all. Adding puts a
   * feature behind those that are there; one that is there keeps its place, and from now on expires as this wish says.
   * Resolves, for each wish, with whether the resource had the feature before it; with undefined, and nothing changed,
   * when the list is not `onlyIf` any more.
   */
  change(resource: string, id: string, wishes: Wish[], onlyIf?: string[]): Promise<boolean[] | undefined>;
  /**
   * The ids of a kind of resource that have a feature, each once, behind the id `after`, in an order of the store's own
   * that does not change; fewer than the limit only when there are no more.
   */
  idsWith(resource: string, feature: string, after: string | undefined, limit: number): Promise<string[]>;
  /**
   * What changed behind a cursor, or from the oldest change that is kept.
   * The changes of a resource are in their order, those of different ones nearly. An expiry is told when its time has
   * come, and an addition again when it gets another expiry. Undefined when the store has given no such cursor, or has
   * forgotten a change behind it: it keeps the newest ones, so many as its URL says (`changes`), at the least.
   */
  changes(after: string | undefined, limit: number): Promise<ToldChange[] | undefined>;
  /** The cursor behind the newest change. */
  newest(): Promise<string>;
  /**
   * All there is, those of a resource together and in their order. What is changed meanwhile may be told as before or
   * after.
   */
  entries(): AsyncIterable<Entry>;
}

/** The store cannot answer now; the message is meant for callers. */
export class StoreFailure extends Error {}

const changesOtherwise = 100_000;
const parameters: Adapter<FeatureStore>["parameters"] = {
  changes: { must: "a whole number from 1 to 999999", test: isWholeNumber },
};

/** How many changes a store keeps at the least. */
export const changesKept = ({ searchParams }: URL) => Number(searchParams.get("changes") ?? changesOtherwise);

const redis: Adapter<FeatureStore> = {
  form: "redis://HOST:6379 or rediss://HOST:6379",
  parameters,
  load: () => import("./redis.ts"),
};
const redisCluster: Adapter<FeatureStore> = {
  ...redis,
  form: "redis+cluster://HOST:6379,HOST:6379 or rediss+cluster://HOST:6379,HOST:6379",
  hasManyHosts: true,
};

export const featureStores = {
  "memory:": { form: "memory:", parameters, load: () => import("./memory.ts") },
  "lmdb:": { form: "lmdb:FOLDER", parameters, load: () => import("./lmdb.ts") },
  "redis:": redis,
  "rediss:": redis,
  "redis+cluster:": redisCluster,
  "rediss+cluster:": redisCluster,
} satisfies Adapters<FeatureStore>;

export const openFeatureStore = (url: string) => openAdapter<FeatureStore>(featureStores, url);
