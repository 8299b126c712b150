import { type FeatureComponents, type FeaturesClient, featuresClient } from "../../client/client.ts";
import { fragmentOf } from "../fragment.ts";
import { useServiceClient } from "../session.ts";

export type ChangeRecord = FeatureComponents["schemas"]["ChangeRecord"];
export type FeatureUse = FeatureComponents["schemas"]["FeatureUse"];

export const readScopes = ["features:read"];
export const writeScope = "features:write";

export const useClient = (): FeaturesClient => useServiceClient(featuresClient);

export const resourceFragment = (resource: string, id: string): string =>
  fragmentOf(["resources", resource, id]);
/** The fragment of a kind of resource, or of a feature of it. */
export const featureFragment = (resource: string, ...feature: string[]): string =>
  fragmentOf(["features", resource, ...feature]);

/** The longest name that the contract allows, in characters. */
export const nameMax = 256;

/** The most features of a kind that are read, so that names can be found among them. */
export const usesMax = 10_000;
const usesPerPage = 1000;

const byName = new Intl.Collator(undefined, { numeric: true });

/** The features in use for a kind, the most used ones first; at most about `usesMax`. */
export async function readUses(
  client: FeaturesClient,
  resource: string,
  signal: AbortSignal,
): Promise<FeatureUse[]> {
  const uses: FeatureUse[] = [];
  for await (const use of client.eachFeatureInUse({ resource, limit: usesPerPage }, { signal })) {
    if (uses.push(use) === usesMax) break;
  }
  return uses.sort((one, other) => other.count - one.count || byName.compare(one.feature, other.feature));
}
