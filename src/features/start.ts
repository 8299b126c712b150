import { withoutCredentials } from "../engines/url.ts";
import { listen } from "../http/listen.ts";
import type { HttpOptions } from "../http/options.ts";
import type { Logger } from "../process/log.ts";
import type { Settings } from "../process/settings.ts";
import { untilStopped } from "../process/stop.ts";
import { featuresApp } from "./app.ts";
import { settings } from "./settings.ts";
import { sweepExpired } from "./store/expiry-sweep.ts";
import { openFeatureStore } from "./store/stores.ts";

export { settings };

/** Runs the service until `stop` aborts, then closes what it opened in reverse order. */
export async function start(
  { HOST, FEATURES_PORT, SHARE_PORT, FEATURES_STORE_URL }: Settings<typeof settings>,
  http: HttpOptions,
  log: Logger,
  stop: AbortSignal,
): Promise<void> {
  await using store = await openFeatureStore(FEATURES_STORE_URL, (text) => log.warn(text), log);
  await using _sweep = sweepExpired(store, log);
  await using app = await featuresApp({ store, log, ...http });
  const port = { portSetting: "FEATURES_PORT", port: FEATURES_PORT, isShared: SHARE_PORT };
  const url = await listen(app, { host: HOST, ...port });
  const pages = { docs: `${url}/docs`, console: `${url}/console` };
  const details = { ...pages, store: withoutCredentials(FEATURES_STORE_URL) };
  log.info(details, `Server listening at ${url}`);
  await untilStopped(stop);
}
