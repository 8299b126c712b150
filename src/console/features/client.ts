import { type FeatureComponents, type FeaturesClient, featuresClient } from "../../client/client.ts";
import { fragmentOf } from "../fragment.ts";
import { useServiceClient } from "../session.ts";

export type ChangeRecord = FeatureComponents["schemas"]["ChangeRecord"];

export const readScopes = ["features:read"];
export const writeScope = "features:write";

export const useClient = (): FeaturesClient => useServiceClient(featuresClient);

export const resourceFragment = (resource: string, id: string): string =>
  fragmentOf(["resources", resource, id]);
export const featureFragment = (resource: string, feature: string): string =>
  fragmentOf(["features", resource, feature]);

/** The longest name that the contract allows, in characters. */
export const nameMax = 256;
