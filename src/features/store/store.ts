import { postgresParameters } from "../../database/database.ts";
import {
  type Adapter,
  type Adapters,
  openAdapter,
  type ValuesOf,
  type Warn,
  wholeNumber,
} from "../../process/adapter.ts";
import { messageOf } from "../../process/describe-error.ts";

/** A feature of one resource. */
export interface Entry {
  resource: string;
  id: string;
  feature: string;
  /** When the feature expires, in milliseconds since 1970 (UTC). Default: never. */
  expiresAt?: number | undefined;
}

/** A change to one feature of a resource. */
export type FeatureChange =
  | { type: "add"; feature: string; expiresAt?: number | undefined }
  | { type: "remove"; feature: string };

/** A change that was made; `at` is in milliseconds since 1970 (UTC). */
export interface ChangeRecord extends Entry {
  type: "added" | "removed" | "expired";
  at: number;
}

/** A record in the change feed, and the cursor after it. */
export interface FeedEntry {
  record: ChangeRecord;
  cursor: string;
}

/** Maximum number of live features of a resource. A longer list, which a previous release stored, can be shortened. */
export const featuresMax = 1000;

/** Identifies an entry among those of a kind of resource. */
export type EntryKey = Pick<Entry, "feature" | "id">;

/** Whether the resource had the feature before each change, or the reason why nothing was changed. */
export type ChangeOutcome = { had: boolean[] } | { rejected: "list differs" | "too many features" };

/**
 * Feature names by resource. Linearizable: after a change resolves, every later call in any process sees it. An expired
 * feature is absent from every result, by the clock of the process that reads.
 *
 * Every method rejects with `StoreFailure` within a few seconds if the store is unavailable. A change that was rejected
 * may still be made, atomically, now or a little later. Repeating it is safe.
 */
export interface FeatureStore extends AsyncDisposable {
  /**
   * The entries of a resource without duplicates, oldest first. Empty for an unknown resource. A list that is longer than
   * `featuresMax` is read in pieces, between which it can change.
   */
  list(resource: string, id: string): Promise<Entry[]>;
  /** Whether the resource has each of the features. */
  has(resource: string, id: string, features: string[]): Promise<boolean[]>;
  /**
   * Makes changes to one resource, in order and atomically. A new feature goes to the end of the list. A feature that is
   * already present keeps its position and gets the expiry time of the change.
   *
   * Changes nothing if the list differs from `onlyIf`, and if the list would get longer and longer than `featuresMax`.
   */
  change(resource: string, id: string, changes: FeatureChange[], onlyIf?: string[]): Promise<ChangeOutcome>;
  /**
   * Ids of resources of one kind that have a feature: without duplicates, after the id `after`, in an order that is
   * stable and depends on the store. Fewer ids than the limit mean that there are no more.
   */
  idsWith(resource: string, feature: string, after: string | undefined, limit: number): Promise<string[]>;
  /**
   * Entries of the change feed after a cursor, or from the oldest record. Records of one resource are in order; records
   * of different resources are in order approximately. An addition that changes an expiry time has a record. An expiry
   * has one when `expire` has recorded it; this method and `newest` make one step of it first.
   *
   * The entries end at the cursor `until`, or at the newest record. Resolves with undefined if the cursor is unknown or
   * a record after it has been deleted. The parameter `changes` of the store's URL is the minimum number of records that
   * are kept.
   */
  changes(after: string | undefined, limit: number, until?: string): Promise<FeedEntry[] | undefined>;
  /** The cursor after the newest record. */
  newest(): Promise<string>;
  /** The number of resources of a kind that have a feature. The cost does not depend on that number. */
  count(resource: string, feature: string): Promise<number>;
  /**
   * Features that resources of a kind have, in an order that is stable and depends on the store. One that has just
   * expired everywhere may be among them.
   */
  featuresInUse(resource: string, limit: number): Promise<string[]>;
  /**
   * Entries of the resources of a kind: each once, after the entry `after`, in an order that is stable and depends on the
   * store. Fewer entries than the limit mean that there are no more.
   */
  entriesOf(resource: string, after: EntryKey | undefined, limit: number): Promise<Entry[]>;
  /** Past states, if the store keeps all change records. */
  readonly history: History | undefined;
  /**
   * Removes some of the features that have expired, and records their expiry. Resolves with whether there may be more of
   * them. Several processes can do this at the same time.
   */
  expire(): Promise<boolean>;
  /**
   * Every entry; those of one resource are together and in order. A resource that changes meanwhile is returned in its
   * state before or after the change, unless its list is longer than `featuresMax`.
   */
  entries(): AsyncIterable<Entry>;
}

/**
 * The past of a store that keeps all change records, since it was empty. An instant `at` is in milliseconds since 1970
 * (UTC), inclusive, and not in the future. An expired feature is absent from its instant of expiry on.
 *
 * The records of one resource have the instants of their changes, which never decrease: a clock that is behind counts as
 * that of the last change. The instant is taken where the order of the changes is made.
 */
export interface History {
  /**
   * An instant up to which every state is final: no later change gets it, nor an earlier one. It is that of the call, except
   * that a change in flight is awaited; rejects with `StoreFailure` if that takes longer than two seconds.
   */
  settled(): Promise<number>;
  /** The entries that a resource had, oldest first. */
  list(resource: string, id: string, at: number): Promise<Entry[]>;
  /** Whether the resource had each of the features. */
  has(resource: string, id: string, features: string[], at: number): Promise<boolean[]>;
  /**
   * Ids of resources that had a feature, after the id `after`, in the order of `idsWith`. The page examines up to `limit`
   * resources that ever had the feature; `next` is the last of them, or undefined if there are no more.
   */
  idsWith(
    resource: string,
    feature: string,
    at: number,
    after: string | undefined,
    limit: number,
  ): Promise<{ ids: string[]; next: string | undefined }>;
  /**
   * Change records of one resource after a cursor, or from the first one. Resolves with undefined if the cursor is
   * unknown. Fewer records than the limit mean that there are no more.
   */
  changes(
    resource: string,
    id: string,
    after: string | undefined,
    limit: number,
  ): Promise<FeedEntry[] | undefined>;
}

/** The store is unavailable. The message is part of the response to the caller. */
export class StoreFailure extends Error {}

/** Handles the failure of a step that a later one makes up for. On a full disk, for example, the feed can be read. */
export function ignoreFailure(error: unknown): void {
  if (!(error instanceof StoreFailure)) throw error;
}

const recordsKeptByDefault = 100_000;

const parameters = {
  /** The minimum number of change records that a store keeps. */
  changes: { ...wholeNumber(recordsKeptByDefault), default: undefined },
};
/** The parameters of a store that can keep its history. */
const historyParameters = {
  ...parameters,
  /** `all` keeps all change records, for `history`. */
  keep: { must: "all", read: (text: string) => (text === "all" ? text : undefined) },
};
export type StoreParameters = ValuesOf<typeof parameters> & Partial<ValuesOf<typeof historyParameters>>;

/** The minimum number of change records that a store with these parameters keeps; `Infinity` if it keeps its history. */
export function recordsKept({ changes, keep }: StoreParameters): number {
  if (keep === undefined) return changes ?? recordsKeptByDefault;
  if (changes === undefined) return Number.POSITIVE_INFINITY;
  throw new Error("FEATURES_STORE_URL has the parameters keep and changes; only one of them is possible");
}

/** The error if a store was begun in the one way and is opened in the other. */
export const historyMismatch = (keepsAll: boolean) =>
  new Error(
    `the store was begun ${keepsAll ? "without" : "with"} keep=all, so it must be opened ${keepsAll ? "without" : "with"} it; ` +
      "to change this, export it and import it into a new store (npm run store)",
  );

/** The parameters of a store in a Redis with TLS. */
const tlsParameters = {
  ...parameters,
  /** The name in the certificates of the servers, which may announce addresses that their certificates do not have. */
  server_name: {
    must: "a host name, which the certificates of the servers contain",
    read: (text: string) => (/^[\w.-]{1,253}$/.test(text) ? text : undefined),
  },
};
export type RedisParameters = ValuesOf<typeof parameters> & Partial<ValuesOf<typeof tlsParameters>>;

const redis: Adapter<FeatureStore> = {
  form: "redis://HOST:6379 or rediss://HOST:6379",
  parameters,
  load: () => import("./redis/store.ts"),
};
const redisCluster: Adapter<FeatureStore> = {
  ...redis,
  form: "redis+cluster://HOST:6379,HOST:6379 or rediss+cluster://HOST:6379,HOST:6379",
  hasManyHosts: true,
};

const postgres: Adapter<FeatureStore> = {
  form: "postgres://USER:PASSWORD@HOST:5432,HOST:5432/DATABASE",
  parameters: { ...postgresParameters, ...historyParameters },
  load: () => import("./postgres/store.ts"),
  hasManyHosts: true,
  hostParameter: "host",
};

/** Its package contains a binary for each common platform only. */
function explainMissingBinary(cause: unknown): never {
  const [reason] = messageOf(cause).split("\n", 1);
  const advice =
    "set FEATURES_STORE_URL to redis://HOST:6379 or postgres://HOST:5432/DATABASE, or to memory:, which keeps nothing";
  throw new Error(`the package lmdb does not run on this machine (${reason}); ${advice}`, { cause });
}

export const featureStores = {
  "memory:": { form: "memory:", parameters: historyParameters, load: () => import("./memory.ts") },
  "lmdb:": {
    form: "lmdb:FOLDER",
    parameters: historyParameters,
    load: () => import("./lmdb.ts").catch(explainMissingBinary),
  },
  "redis:": redis,
  "rediss:": { ...redis, parameters: tlsParameters },
  "redis+cluster:": redisCluster,
  "rediss+cluster:": { ...redisCluster, parameters: tlsParameters },
  "postgres:": postgres,
  "postgresql:": postgres,
} satisfies Adapters<FeatureStore>;

/** Opens a store. If its URL names several hosts, `warn` gets a text when another one becomes the primary. */
export const openFeatureStore = (url: string, warn?: Warn) =>
  openAdapter<FeatureStore>(featureStores, url, warn);
