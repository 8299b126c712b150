import { useRef, useState } from "preact/hooks";
import { Button } from "../elements.tsx";
import { detailOf } from "../error-words.ts";
import { formatCount } from "../format.ts";
import { type Search, useClient } from "./client.ts";
import { CsvOptionFields, useCsvOptions } from "./csv-options.tsx";
import { useSelection } from "./selection.ts";

/** Pieces up to this size are joined, since the browser can keep what is joined on the disk. */
const joinedCharacters = 8_000_000;

/**
 * Downloads all matches of a search as CSV. The page fetches it, since a link cannot send a token, and shows how far it is.
 * The file's name says what it has, and when it was made.
 */
export function CsvDownload({ search, fileName }: { search: Search; fileName: string }) {
  const client = useClient();
  const { knownAt, known } = useSelection();
  const [progress, setProgress] = useState("");
  const [options, changeOptions] = useCsvOptions();
  const running = useRef<AbortController | undefined>(undefined);
  async function download() {
    const controller = new AbortController();
    running.current = controller;
    setProgress("Starting");
    try {
      // The client reads text, which has no mark.
      let pieces: BlobPart[] = options.byteOrderMark ? ["\ufeff"] : [];
      let characters = 0;
      const records = recordCounter();
      const { columns, separator } = options;
      const csv = client.exportTransactions(
        { ...search, separator, ...(columns.length > 0 && { columns }) },
        { signal: controller.signal, timeoutMs: Number.POSITIVE_INFINITY },
      );
      let count = 0;
      for await (const piece of csv) {
        pieces.push(piece);
        characters += piece.length;
        count = records(piece);
        setProgress(`${formatCount(count)} transactions`);
        if (characters < joinedCharacters) continue;
        [pieces, characters] = [[new Blob(pieces)], 0];
      }
      const made = new Date().toISOString().slice(0, 16).replace(":", "");
      const name = [fileName, knownAt && `as known ${known}`, `${made}Z.csv`].filter(Boolean);
      save(new Blob(pieces, { type: "text/csv" }), name.join(" ").replaceAll(/[/\\:]+/g, "-"));
      setProgress(`Downloaded ${formatCount(count)} ${count === 1 ? "transaction" : "transactions"}`);
    } catch (error) {
      setProgress(controller.signal.aborted ? "Cancelled" : `The download failed: ${detailOf(error)}`);
    } finally {
      running.current = undefined;
    }
  }
  return (
    <div class="download">
      <span role="status">{progress}</span>
      {running.current ? (
        <Button onClick={() => running.current?.abort()}>Cancel</Button>
      ) : (
        <Button onClick={download}>Download CSV</Button>
      )}
      <CsvOptionFields options={options} onChange={changeOptions} />
    </div>
  );
}

function save(blob: Blob, name: string): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}

/** Counts the records of a CSV without its header row. A line break in quotes is a part of a record. */
function recordCounter(): (piece: string) => number {
  let isQuoted = false;
  let count = -1;
  return (piece) => {
    for (const [part] of piece.matchAll(/["\n]/g)) {
      if (part === '"') isQuoted = !isQuoted;
      else if (!isQuoted) count++;
    }
    return Math.max(count, 0);
  };
}
