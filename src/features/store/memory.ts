import type { FeatureStore } from "./store.ts";

/** In this process, for as long as it runs. */
export async function open(): Promise<FeatureStore> {
  const resources = new Map<string, Map<string, Set<string>>>();
  const featuresOf = (resource: string, id: string) => resources.get(resource)?.get(id);
  return {
    async list(resource, id) {
      return [...(featuresOf(resource, id) ?? [])];
    },
    async has(resource, id, feature) {
      return featuresOf(resource, id)?.has(feature) ?? false;
    },
    async add(resource, id, feature) {
      const features = featuresOf(resource, id) ?? new Set();
      if (features.has(feature)) return false;
      const ids = resources.get(resource) ?? new Map();
      resources.set(resource, ids.set(id, features.add(feature)));
      return true;
    },
    async [Symbol.asyncDispose]() {},
  };
}
