import type { Logger } from "../../process/log.ts";
import { watchOutage } from "../../process/outage.ts";
import { keyOf } from "./body.ts";
import type { Problem } from "./pace.ts";
import type { Entry } from "./window.ts";

/** The log of a target: a warning when something begins to wait, however much does, and one for each dead letter. */
export function openPublishingLog(log: Logger, target: string) {
  const fields = { target };
  const [away, limited, waiting] = [watchOutage(log), watchOutage(log), watchOutage(log)];
  return {
    problem(problem: Problem | undefined): void {
      const { kind, reason } = problem ?? { kind: undefined, reason: undefined };
      const details = { ...fields, reason };
      if (kind === "away") away.failed("the target of published events takes nothing; they wait", details);
      else away.succeeded();
      if (kind === "limited")
        limited.failed("the target of published events limits them; they wait", details);
      else limited.succeeded();
      if (problem?.kind === "suspect") this.waits(problem.entry.event, problem.reason);
    },
    waits({ event_id, ...resource }: Entry["event"], reason: string | null): void {
      const details = { ...fields, event: event_id, resource: keyOf(resource), reason };
      waiting.failed("an event waits, since its target has not taken it", details);
    },
    taken: () => waiting.succeeded(),
    deadLetter({ event: { event_id, ...resource } }: Entry, reason: string): void {
      const details = { ...fields, event: event_id, resource: keyOf(resource), reason };
      log.warn(details, "an event became a dead letter: its target rejects it");
    },
  };
}
export type PublishingLog = ReturnType<typeof openPublishingLog>;
