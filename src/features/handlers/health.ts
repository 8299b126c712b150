import type { operations } from "../../../generated/features.ts";
import type { Handlers } from "../../http/handlers.ts";
import { check } from "../../http/health.ts";
import type { Logger } from "../../process/log.ts";
import { watchOutage } from "../../process/outage.ts";
import { shared } from "../../waiting/shared.ts";
import type { FeatureStore } from "../store/store.ts";

export function healthHandlers(store: FeatureStore, log: Logger): Pick<Handlers<operations>, "checkHealth"> {
  const outage = watchOutage(log);
  const probe = shared(() => store.has("health", "check", ["read"]));
  return {
    async checkHealth() {
      const body = { store: await check(outage, "The store cannot be reached", probe()) };
      return body.store.healthy ? { status: 200, body } : { status: 503, body };
    },
  };
}
