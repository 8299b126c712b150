import { useEffect, useState } from "preact/hooks";
import { type FeaturesClient, ResponseError } from "../../client/client.ts";
import { Button, Table } from "../elements.tsx";
import { Failure } from "../notice.tsx";
import { changeColumnsWithResource } from "./change-columns.tsx";
import { type ChangeRecord, useClient } from "./client.ts";

/** The number of records with which the list begins. */
const shownFirst = 50;
/** Older records leave the list. */
const shownMax = 200;
const showEveryMs = 100;
const reconnectMs = 2000;

/**
 * The last changes, and each new one as it happens. The stream continues after a broken connection and misses nothing
 * meanwhile.
 */
export function LiveChanges() {
  const [isPaused, setPaused] = useState(false);
  const { records, isConnected, error } = useChanges(isPaused);
  if (error !== undefined) return <Failure error={error} name="changes" />;
  return (
    <>
      <div class="above">
        <p role="status">{isPaused ? "Paused" : isConnected ? "Live" : "Connecting…"}</p>
        <Button onClick={() => setPaused(!isPaused)}>{isPaused ? "Resume" : "Pause"}</Button>
      </div>
      <Table
        label="Changes"
        columns={changeColumnsWithResource}
        rows={records}
        keyOf={({ cursor }) => cursor}
        empty={isConnected ? "Nothing has changed yet. Each change appears here as it happens." : "…"}
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

/** The last records, and each new one. Records that arrive together are shown together. */
function useChanges(isPaused: boolean): Stream {
  const client = useClient();
  const [stream, setStream] = useState<Stream>({ records: [], isConnected: false });
  const [cursor, setCursor] = useState<string>();
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

/** Follows the feed, from its last records on by default, until the signal aborts. Resolves with the cursor of the last record. */
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
      const begin = cursor === undefined ? { last: shownFirst } : { cursor };
      const onResponse = ({ status }: { status: number }) => onState({ isConnected: status === 200 });
      for await (const record of client.followChanges(begin, { signal, onResponse })) {
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
