import { useEffect, useState } from "preact/hooks";
import { ResponseError } from "../../client/client.ts";
import { Empty, Failure } from "../load.tsx";
import { useSession } from "../session.ts";
import { Table } from "../table.tsx";
import { ChangeRow, changeColumns } from "./change.tsx";
import { type ChangeRecord, clientFor } from "./features.ts";

/** Older records leave the list. */
const shownMax = 200;
const showEveryMs = 100;
const reconnectMs = 2000;

interface Stream {
  /** Newest first. */
  records: ChangeRecord[];
  isConnected: boolean;
  error?: unknown;
}

/** The stream of changes as they happen. It continues after a broken connection and misses nothing meanwhile. */
export function LiveChanges({ isFromOldest }: { isFromOldest: boolean }) {
  const session = useSession();
  const [isPaused, setPaused] = useState(false);
  const [{ records, isConnected, error }, setStream] = useState<Stream>({ records: [], isConnected: false });
  const [cursor, setCursor] = useState(isFromOldest ? undefined : "newest");
  useEffect(() => {
    if (isPaused) return;
    const controller = new AbortController();
    let arrived: ChangeRecord[] = [];
    const show = () => {
      if (arrived.length === 0) return;
      const newest = arrived.toReversed();
      arrived = [];
      setStream((stream) => ({ ...stream, records: [...newest, ...stream.records].slice(0, shownMax) }));
    };
    const timer = setInterval(show, showEveryMs);
    void follow(clientFor(session), cursor, controller.signal, {
      onConnected: (connected) => setStream((stream) => ({ ...stream, isConnected: connected })),
      onRecord: (record) => {
        arrived.push(record);
        if (arrived.length > shownMax) arrived.shift();
      },
      onFailure: (failure) => setStream((stream) => ({ ...stream, isConnected: false, error: failure })),
    }).then(setCursor);
    return () => {
      show();
      clearInterval(timer);
      controller.abort();
    };
  }, [isPaused, session]);
  if (error !== undefined) return <Failure error={error} name="changes" />;
  return (
    <>
      <div class="above">
        <p role="status">{isPaused ? "Paused" : isConnected ? "Live" : "Connecting…"}</p>
        <p>
          {isFromOldest ? <a href="#/">From now on</a> : <a href="#/?from=oldest">From the oldest record</a>}{" "}
          <button type="button" class="second" onClick={() => setPaused(!isPaused)}>
            {isPaused ? "Resume" : "Pause"}
          </button>
        </p>
      </div>
      {records.length === 0 ? (
        <Empty>No change has happened since this page was opened.</Empty>
      ) : (
        <Table label="Changes" head={changeColumns(true)}>
          {records.map((record) => (
            <ChangeRow key={record.cursor} record={record} withResource />
          ))}
        </Table>
      )}
    </>
  );
}

interface Follower {
  onConnected: (isConnected: boolean) => void;
  onRecord: (record: ChangeRecord) => void;
  onFailure: (error: unknown) => void;
}

/** Follows the feed until the signal aborts. Resolves with the cursor of the last record. */
async function follow(
  client: ReturnType<typeof clientFor>,
  from: string | undefined,
  signal: AbortSignal,
  { onConnected, onRecord, onFailure }: Follower,
): Promise<string | undefined> {
  let cursor = from;
  while (!signal.aborted) {
    try {
      // A stream from `newest` that breaks before its first record would miss some.
      if (cursor === "newest") cursor = (await client.listChanges({ cursor }, { signal })).next_cursor;
      const changes = client.followChanges(
        { ...(cursor !== undefined && { cursor }) },
        { signal, onResponse: ({ status }) => onConnected(status === 200) },
      );
      for await (const record of changes) {
        cursor = record.cursor;
        onRecord(record);
      }
    } catch (error) {
      if (signal.aborted) break;
      if (error instanceof ResponseError && error.status < 500) {
        onFailure(error);
        break;
      }
    }
    onConnected(false);
    await new Promise((resolve) => setTimeout(resolve, reconnectMs));
  }
  return cursor;
}
