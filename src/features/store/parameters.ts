import { type ValuesOf, wholeNumber } from "../../engines/parameters.ts";

const recordsKeptByDefault = 100_000;

export const parameters = {
  /** The minimum number of change records that a store keeps. */
  changes: { ...wholeNumber(recordsKeptByDefault), default: undefined },
};
/** The parameters of a store that can keep its history. */
export const historyParameters = {
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
export const tlsParameters = {
  ...parameters,
  /** The name in the certificates of the servers, which may announce addresses that their certificates do not have. */
  server_name: {
    must: "a host name, which the certificates of the servers contain",
    read: (text: string) => (/^[\w.-]{1,253}$/.test(text) ? text : undefined),
  },
};
export type RedisParameters = ValuesOf<typeof parameters> & Partial<ValuesOf<typeof tlsParameters>>;
