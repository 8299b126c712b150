import type { Logger } from "../process/log.ts";
import { type Outage, watchOutage } from "../process/outage.ts";
import type { HttpError } from "./http-error.ts";

/** The outages of the dependencies of a service: one for each status by which requests fail. */
export interface Outages {
  failed(error: HttpError, details: object): void;
  /** A handler has succeeded, which ends an outage. */
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
