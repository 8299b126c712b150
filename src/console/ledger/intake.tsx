import { useEffect } from "preact/hooks";
import { Empty } from "../elements.tsx";
import type { Place } from "../fragment.ts";
import { Show, useLoaded } from "../load.tsx";
import { Heading } from "../view.tsx";
import { useClient } from "./client.ts";
import { DeadLetter } from "./dead-letter.tsx";
import { DeadLetters } from "./dead-letters.tsx";
import { Freshness } from "./freshness.tsx";
import { healthOf } from "./intake-health.ts";
import { Minutes } from "./minutes.tsx";
import { Targets } from "./targets.tsx";

const refreshMs = 5000;

/** `#/intake` is the intake with its dead letters, `#/intake/NUMBER` a dead letter. */
export const Intake = (place: Place) =>
  place.path.length > 1 ? (
    <DeadLetter id={place.path[1] ?? ""} />
  ) : (
    <>
      <Heading>Intake</Heading>
      <Report />
      <DeadLetters {...place} />
    </>
  );

/** The report on the intake, which is read again while the page is visible. */
function Report() {
  const client = useClient();
  const report = useLoaded("intake", (signal) => client.getIntake({}, { signal }));
  useEffect(() => {
    const timer = setInterval(() => {
      if (document.visibilityState === "visible" && !report.isLoading) report.reload();
    }, refreshMs);
    return () => clearInterval(timer);
  });
  return (
    <Show of={report} name="intake">
      {(found) => {
        const { isWell, text } = healthOf(found);
        return (
          <>
            <p class={`notice ${isWell ? "well" : "forbidden"}`} role="status">
              <strong>{isWell ? "All is well." : "Something needs attention."}</strong> {text}
            </p>
            {found.minutes.length === 0 ? (
              <Empty>
                There is nothing to draw. <code>npm run demo</code> sends some events.
              </Empty>
            ) : (
              <Minutes minutes={found.minutes} />
            )}
            {found.freshness.length > 0 && <Freshness destinations={found.freshness} />}
            {found.publishing && found.publishing.length > 0 && <Targets targets={found.publishing} />}
          </>
        );
      }}
    </Show>
  );
}
