import type { Logger } from "../../process/log.ts";
import { watchOutage } from "../../process/outage.ts";
import type { FeedEvent } from "../tables/feed/deferred-delivery.ts";
import { keyOf } from "./body.ts";
import type { Entry } from "./order.ts";
import type { Problem } from "./pace.ts";

/** The log of a target: a warning when something begins to wait, however much does, and one for each dead letter. */
export function openPublishingLog(log: Logger, target: string) {
  const [away, limited, waiting] = [watchOutage(log), watchOutage(log), watchOutage(log)];
  function detailsOf({ event_id, ...resource }: FeedEvent, reason: string | null) {
    return { target, event: event_id, resource: keyOf(resource), reason };
  }
  return {
    problem(problem: Problem | undefined): void {
      const details = { target, reason: problem?.reason };
      if (problem?.phase === "away")
        away.failed("the target of published events takes nothing; they wait", details);
      else away.succeeded();
      if (problem?.phase === "limited")
        limited.failed("the target of published events limits them; they wait", details);
      else limited.succeeded();
      if (problem?.phase === "in doubt") this.waits(problem.suspect.event, problem.reason);
    },
    waits(event: FeedEvent, reason: string | null): void {
      waiting.failed("an event waits, since its target has not taken it", detailsOf(event, reason));
    },
    taken: () => waiting.succeeded(),
    deadLetter({ event }: Entry, reason: string): void {
      log.warn(detailsOf(event, reason), "an event became a dead letter: its target rejects it");
    },
  };
}
export type PublishingLog = ReturnType<typeof openPublishingLog>;
