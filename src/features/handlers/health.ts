import type { operations } from "../../../generated/features.ts";
import type { Handlers } from "../../http/handlers.ts";
import { check } from "../../http/health.ts";
import type { Logger } from "../../process/log.ts";
import { watchOutage } from "../../process/outage.ts";
import { shared } from "../../waiting/shared.ts";
import type { Features } from "../store/store.ts";

/** The health of the store. */
export function healthHandlers(store: Features, log: Logger) {
  const outage = watchOutage(log);
  const probe = shared(() => store.has("health", "check", ["read"]));
  return {
    async checkHealth() {
      const body = { store: await check(outage, "The store cannot be reached", probe()) };
      return body.store.healthy ? { status: 200, body } : { status: 503, body };
    },
  } satisfies Partial<Handlers<operations>>;
}
