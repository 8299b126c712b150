import { Facts, Preformatted, Time } from "../elements.tsx";
import { formatCount } from "../format.ts";
import { Show, useLoaded } from "../load.tsx";
import { Heading } from "../view.tsx";
import { useClient } from "./client.ts";

const outcomes = {
  stored: "A replay would store its event.",
  rebuilt: "A replay would rebuild a projection.",
  published: "A replay would send its event to the target again.",
  dead_letter: "A replay would leave it as it is.",
};

/** `#/intake/NUMBER`: a dead letter with its masked message, and what a replay would do. */
export function DeadLetter({ id }: { id: string }) {
  const client = useClient();
  const letter = useLoaded(`dead letter ${id}`, (signal) =>
    client.getDeadLetter({ deadLetterId: /^\d+$/.test(id) ? BigInt(id) : 0n }, { signal }),
  );
  return (
    <>
      <Heading>{`Dead letter ${id}`}</Heading>
      <Show of={letter} name="dead letter">
        {({ created_date, source_id, reason, size, discarded_date, note, target, message, replay }) => (
          <>
            <Facts
              facts={[
                ["Reason", reason],
                ["Created", <Time key="created" at={created_date} />],
                [target === null ? "Id in the queue" : "Target and event", source_id],
                ["Size", `${formatCount(size)} bytes`],
                ["Discarded", discarded_date && <Time at={discarded_date} />],
                ["Note", note],
              ]}
            />
            {discarded_date === null && (
              <>
                <h2>Replay</h2>
                <p>
                  {outcomes[replay.outcome]} {replay.reason}
                </p>
                <p>
                  To replay it: <code>npm run dead-letters -- replay {id}</code>. To discard it:{" "}
                  <code>npm run dead-letters -- discard {id} --note TEXT</code>.
                </p>
              </>
            )}
            <h2>Message</h2>
            {message === null ? (
              <p>The message is not JSON, so it is not shown.</p>
            ) : (
              <>
                <p>Personal data is masked.</p>
                <Preformatted>{message}</Preformatted>
              </>
            )}
          </>
        )}
      </Show>
    </>
  );
}
