import { millisecondsOf } from "../../values/instant.ts";
import type { Entry, FeatureStore } from "../store/store.ts";
import { errorLine } from "./errors.ts";

/** The features of resources, now or at an instant. The members are those of `FeatureStore`. */
interface State {
  list(resource: string, id: string): Promise<Entry[]>;
  has(resource: string, id: string, features: string[]): Promise<boolean[]>;
  /** Also resolves with the id after which the next page begins; undefined if there are no more. */
  idsWith(
    resource: string,
    feature: string,
    after: string | undefined,
    limit: number,
  ): Promise<{ ids: string[]; next: string | undefined }>;
}

/** Returns a function that gives the state at `as_of`, now by default, or the error response. */
export function statesOf(store: FeatureStore) {
  const present: State = {
    list: store.list,
    has: store.has,
    async idsWith(resource, feature, after, limit) {
      const ids = await store.idsWith(resource, feature, after, limit);
      return { ids, next: ids.length === limit ? ids.at(-1) : undefined };
    },
  };
  return (as_of: string | undefined): State | ReturnType<typeof errorLine<400>> => {
    if (as_of === undefined) return present;
    const { history } = store;
    if (!history) return errorLine(400, noHistory);
    const at = millisecondsOf(as_of);
    if (at > Date.now()) return errorLine(400, "query parameter as_of must not be in the future");
    return {
      list: (resource, id) => history.list(resource, id, at),
      has: (resource, id, features) => history.has(resource, id, features, at),
      idsWith: (resource, feature, after, limit) => history.idsWith(resource, feature, at, after, limit),
    };
  };
}

const noHistory =
  "query parameter as_of is not possible: this service does not keep its history " +
  "(the URL of its store needs keep=all)";
