import { useEffect, useState } from "preact/hooks";
import { type FeaturesClient, ResponseError } from "../../client/client.ts";
import { Button, Table } from "../elements.tsx";
import { Failure } from "../notice.tsx";
import { changeColumnsWithResource } from "./change-columns.tsx";
import { type ChangeRecord, useClient } from "./client.ts";

/** Older records leave the list. */
const shownMax = 200;
const showEveryMs = 100;
const reconnectMs = 2000;

/** The stream of changes as they happen. It continues after a broken connection and misses nothing meanwhile. */
export function LiveChanges({ isFromOldest }: { isFromOldest: boolean }) {
  const [isPaused, setPaused] = useState(false);
  const { records, isConnected, error } = useChanges(isFromOldest ? undefined : "newest", isPaused);
  if (error !== undefined) return <Failure error={error} name="changes" />;
  return (
    <>
      <div class="above">
        <p role="status">{isPaused ? "Paused" : isConnected ? "Live" : "Connecting…"}</p>
        <p>
          {isFromOldest ? <a href="#/">From now on</a> : <a href="#/?from=oldest">From the oldest record</a>}{" "}
          <Button class="second" onClick={() => setPaused(!isPaused)}>
            {isPaused ? "Resume" : "Pause"}
          </Button>
        </p>
      </div>
      <Table
        label="Changes"
        columns={changeColumnsWithResource}
        rows={records}
        keyOf={({ cursor }) => cursor}
        empty="No change has happened since this page was opened."
      />
    </>
  );
}

interface Stream {
  /** Newest first. */
  records: ChangeRecord[];
  isConnected: boolean;
  /** Why the service does not let the reader follow the stream. */
  error?: unknown;
}

/** The newest records after a cursor. Records that arrive together are shown together. */
function useChanges(from: string | undefined, isPaused: boolean): Stream {
  const client = useClient();
  const [stream, setStream] = useState<Stream>({ records: [], isConnected: false });
  const [cursor, setCursor] = useState(from);
  useEffect(() => {
    if (isPaused) return;
    const controller = new AbortController();
    let arrived: ChangeRecord[] = [];
    const show = () => {
      if (arrived.length === 0) return;
      const newest = arrived.toReversed();
      arrived = [];
      setStream((before) => ({ ...before, records: [...newest, ...before.records].slice(0, shownMax) }));
    };
    const timer = setInterval(show, showEveryMs);
    const onRecord = (record: ChangeRecord) => {
      arrived.push(record);
      if (arrived.length > shownMax) arrived.shift();
    };
    const onState = (state: Omit<Stream, "records">) => setStream((before) => ({ ...before, ...state }));
    void follow(client, cursor, controller.signal, onRecord, onState).then(setCursor);
    return () => {
      show();
      clearInterval(timer);
      controller.abort();
    };
  }, [isPaused, client]);
  return stream;
}

/** Follows the feed until the signal aborts. Resolves with the cursor of the last record. */
async function follow(
  client: FeaturesClient,
  from: string | undefined,
  signal: AbortSignal,
  onRecord: (record: ChangeRecord) => void,
  onState: (state: Omit<Stream, "records">) => void,
): Promise<string | undefined> {
  let cursor = from;
  while (!signal.aborted) {
    try {
      // A stream from `newest` that breaks before its first record would miss some.
      if (cursor === "newest") cursor = (await client.listChanges({ cursor }, { signal })).next_cursor;
      const onResponse = ({ status }: { status: number }) => onState({ isConnected: status === 200 });
      for await (const record of client.followChanges({ cursor }, { signal, onResponse })) {
        cursor = record.cursor;
        onRecord(record);
      }
    } catch (error) {
      if (signal.aborted) break;
      if (error instanceof ResponseError && error.status < 500) {
        onState({ isConnected: false, error });
        break;
      }
    }
    onState({ isConnected: false });
    await new Promise((resolve) => setTimeout(resolve, reconnectMs));
  }
  return cursor;
}
