import type { Logger } from "../process/log.ts";
import { type Outage, watchOutage } from "../process/outage.ts";
import type { HttpError } from "./http-error.ts";
import type { AnyHandler } from "./response.ts";

/** The outages of the dependencies of a service: one for each status by which requests fail. */
export interface Outages {
  failed(error: HttpError, details: object): void;
  succeeded(): void;
}

export function watchOutages(log: Logger): Outages {
  const byStatus = new Map<number, Outage>();
  return {
    failed({ status, messages }, details) {
      const outage = byStatus.get(status) ?? watchOutage(log);
      byStatus.set(status, outage);
      outage.failed(messages.join("; "), details);
    },
    succeeded() {
      for (const outage of byStatus.values()) outage.succeeded();
    },
  };
}

/** A handler whose success ends an outage. */
export const watched =
  (handler: AnyHandler, outages: Outages): AnyHandler =>
  async (request) => {
    const response = await handler(request);
    outages.succeeded();
    return response;
  };
