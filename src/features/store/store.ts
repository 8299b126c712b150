import { type Adapters, openAdapter } from "../../service/adapter.ts";

/** Feature names by resource. What was answered is what every later call sees. */
export interface FeatureStore extends AsyncDisposable {
  /** The features of a resource, each once, in the order of their first adding; none for an unknown resource. */
  list(resource: string, id: string): Promise<string[]>;
  has(resource: string, id: string, feature: string): Promise<boolean>;
  /** Adds a feature behind those that are there. False, and nothing changes, when it was there. */
  add(resource: string, id: string, feature: string): Promise<boolean>;
}

export const featureStores: Adapters<FeatureStore> = {
  "memory:": { form: "memory:", load: () => import("./memory.ts") },
};

export const openFeatureStore = (url: string) => openAdapter(featureStores, url);
