import type { LedgerComponents } from "../../client/client.ts";
import { Facts, Time } from "../elements.tsx";
import { formatCount, formatJson } from "../format.ts";
import { Show, useLoaded } from "../load.tsx";
import { Heading } from "../view.tsx";
import { useClient } from "./client.ts";
import { linesOf } from "./message-lines.ts";

type Schemas = LedgerComponents["schemas"];
type Letter = Schemas["DeadLetterDetail"];

/** `#/intake/NUMBER`: a dead letter, its faults in its masked message, and the steps that end it. */
export function DeadLetter({ id }: { id: string }) {
  const client = useClient();
  const letter = useLoaded(`dead letter ${id}`, (signal) =>
    client.getDeadLetter({ deadLetterId: /^\d+$/.test(id) ? BigInt(id) : 0n }, { signal }),
  );
  return (
    <>
      <Heading>{`Dead letter ${id}`}</Heading>
      <Show of={letter} name="dead letter">
        {(found) => (
          <>
            <p class="notice failed">
              <bdi>{found.reason}</bdi>
            </p>
            {found.discarded_date === null && <Steps letter={found} />}
            <Message letter={found} />
            <Facts
              facts={[
                ["Arrived", <Time key="created" at={found.created_date} />],
                [found.target === null ? "Id in the queue" : "Target and event", found.source_id],
                ["Size", `${formatCount(found.size)} bytes`],
                ["Discarded", found.discarded_date && <Time at={found.discarded_date} />],
                ["Note", found.note && <bdi>{found.note}</bdi>],
              ]}
            />
          </>
        )}
      </Show>
    </>
  );
}

const outcomes = {
  stored: "It stores the event.",
  rebuilt: "It rebuilds the projection.",
  published: "It sends the event to the target again.",
};

/** What to do: replay what would succeed, else correct it and send it again. */
function Steps({ letter: { dead_letter_id: id, replay } }: { letter: Letter }) {
  const command = (text: string) => <code>npm run dead-letters -- {text}</code>;
  const discard = command(`discard ${id} --note TEXT`);
  return (
    <>
      <h2>What to do</h2>
      <ol>
        {replay.outcome === "dead_letter" ? (
          <>
            <li>
              Correct the message where it is made{replay.errors ? ":" : "."}
              {replay.errors && (
                <ul>
                  {replay.errors.map(({ detail, remedy }) => (
                    <li key={detail}>
                      <bdi>{detail.replace(/must match pattern ".*"/, "is not valid")}</bdi>
                      {remedy?.map((operation) => (
                        <span key={operation.path}>. {remedyText(operation)}</span>
                      ))}
                    </li>
                  ))}
                </ul>
              )}
            </li>
            <li>
              Send it again, from where it came or with <code>npm run send-events -- FILE</code>.
            </li>
            <li>Discard this one: {discard}</li>
          </>
        ) : (
          <li>
            Replay it: {command(`replay ${id}`)}. {outcomes[replay.outcome]}
          </li>
        )}
      </ol>
    </>
  );
}

const remedyText = ({ op, from, path, value }: Schemas["PatchOperation"]) =>
  op === "move" ? `Send ${from} as ${path}.` : `Send ${formatJson(value)} as ${path}.`;

/** The message with its faults marked. A fault of something that is absent is marked where it belongs. */
function Message({ letter: { message, replay } }: { letter: Letter }) {
  if (message === null) return <p>The message is not JSON, so it is not shown.</p>;
  const faults = new Set(replay.errors?.map(({ pointer = "" }) => pointer));
  return (
    <>
      <h2>Message</h2>
      <p class="quiet">Personal data is masked.</p>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: A box that scrolls must be reachable by keyboard. */}
      <pre tabIndex={0}>
        {linesOf(message, faults).map(({ text, isFault, number }) =>
          isFault ? <mark key={number}>{text}</mark> : text,
        )}
      </pre>
    </>
  );
}
