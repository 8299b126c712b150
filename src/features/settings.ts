import { replicas } from "../database/databases.ts";
import { adapterUrl, flag, host, optional, port } from "../process/settings.ts";
import { featureStores } from "./store/stores.ts";

export const settings = {
  HOST: host,
  FEATURES_PORT: port(8080),
  SHARE_PORT: flag(false),
  AUDIT_DATABASE_URL: optional(adapterUrl(replicas)),
  FEATURES_STORE_URL: adapterUrl(featureStores, "lmdb:./data/features"),
};
