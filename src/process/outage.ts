import type { Logger } from "./log.ts";

export type Outage = ReturnType<typeof watchOutage>;

/** Within this time a success does not end an outage, since only a part of the requests may fail. */
const quietMs = 2000;

/** Logs the beginning and the end of an outage, however many failures there are. */
export function watchOutage(log: Logger, level: "warn" | "error" = "warn") {
  let begun: { problem: string; at: number; failures: number } | undefined;
  let end: NodeJS.Timeout | undefined;

  return {
    /** Logs the problem unless an outage has begun. The details are fields of the log line. */
    failed(problem: string, details: object): void {
      clearTimeout(end);
      end = undefined;
      if (begun) {
        begun.failures += 1;
        log.debug(details, problem);
        return;
      }
      begun = { problem, at: Date.now(), failures: 1 };
      log[level](details, problem);
    },
    /** The outage ends if no failure follows within two seconds. */
    succeeded(): void {
      if (!begun || end) return;
      const { problem, at, failures } = begun;
      const durationMs = Date.now() - at;
      end = setTimeout(() => {
        [begun, end] = [undefined, undefined];
        log.info({ durationMs, failures }, `ended: ${problem}`);
      }, quietMs).unref();
    },
  };
}
