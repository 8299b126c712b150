import { adapterUrl, flag, host, port } from "../process/settings.ts";
import { featureStores } from "./store/stores.ts";

export const settings = {
  HOST: host,
  FEATURES_PORT: port(8080),
  SHARE_PORT: flag(false),
  FEATURES_STORE_URL: adapterUrl(featureStores, "lmdb:./data/features"),
};
