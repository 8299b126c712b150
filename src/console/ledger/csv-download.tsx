import { useRef, useState } from "preact/hooks";
import { Button } from "../elements.tsx";
import { formatCount } from "../format.ts";
import { detailOf } from "../notice.tsx";
import { type Search, useClient } from "./client.ts";

/** Pieces up to this size are joined, since the browser can keep what is joined on the disk. */
const joinedCharacters = 8_000_000;

/**
 * Downloads all matches of a search as CSV. The page fetches it, since a link cannot send a token, and shows how far it is.
 */
export function CsvDownload({ search, fileName }: { search: Search; fileName: string }) {
  const client = useClient();
  const [progress, setProgress] = useState("");
  const running = useRef<AbortController | undefined>(undefined);
  async function download() {
    const controller = new AbortController();
    running.current = controller;
    setProgress("Starting");
    try {
      let pieces: BlobPart[] = [];
      let rows = -1;
      let characters = 0;
      const csv = client.exportTransactions(search, {
        signal: controller.signal,
        timeoutMs: Number.POSITIVE_INFINITY,
      });
      for await (const piece of csv) {
        pieces.push(piece);
        characters += piece.length;
        rows += piece.split("\n").length - 1;
        setProgress(`${formatCount(Math.max(rows, 0))} rows`);
        if (characters < joinedCharacters) continue;
        [pieces, characters] = [[new Blob(pieces)], 0];
      }
      save(new Blob(pieces, { type: "text/csv" }), fileName);
      setProgress(`Downloaded ${formatCount(Math.max(rows, 0))} rows`);
    } catch (error) {
      setProgress(controller.signal.aborted ? "Cancelled" : `The download failed: ${detailOf(error)}`);
    } finally {
      running.current = undefined;
    }
  }
  return (
    <p class="download">
      <span role="status">{progress}</span>{" "}
      {running.current ? (
        <Button onClick={() => running.current?.abort()}>Cancel</Button>
      ) : (
        <Button onClick={download}>Download CSV</Button>
      )}
    </p>
  );
}

function save(blob: Blob, name: string): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}
