import type { Logger } from "../process/log.ts";
import { type Outage, watchOutage } from "../process/outage.ts";
import type { HttpError } from "./http-error.ts";

export type Outages = ReturnType<typeof watchOutages>;

/** The outages of the dependencies of a service: one for each status by which requests fail. */
export function watchOutages(log: Logger) {
  const byStatus = new Map<number, Outage>();
  return {
    failed({ status, message }: HttpError, details: object): void {
      const outage = byStatus.get(status) ?? watchOutage(log);
      byStatus.set(status, outage);
      outage.failed(message, details);
    },
    /** A handler has succeeded, which ends an outage. */
    succeeded(): void {
      for (const outage of byStatus.values()) outage.succeeded();
    },
  };
}
