/**
 * Opens a parser of server-sent events (WHATWG HTML, section 9.2). It takes a stream as pieces of text, divided anywhere,
 * and returns the data of each event that a piece completes. Other fields and comments are ignored.
 */
export function openEventParser(): (piece: string) => string[] {
  let unfinished = "";
  let lines: string[] = [];
  /** A line feed at the beginning of the next piece belongs to the end of a line in this one. */
  let endsWithReturn = false;

  return (piece) => {
    if (piece === "") return [];
    const events: string[] = [];
    const rest = endsWithReturn && piece.startsWith("\n") ? piece.slice(1) : piece;
    endsWithReturn = piece.endsWith("\r");
    const complete = (unfinished + rest).split(/\r\n?|\n/);
    unfinished = complete.pop() as string;
    for (const line of complete) {
      if (line !== "") lines.push(...dataIn(line));
      else if (lines.length > 0) {
        events.push(lines.join("\n"));
        lines = [];
      }
    }
    return events;
  };
}

/** The value of a line, if its field is `data`. The value begins after one space, if there is one. */
function dataIn(line: string): string[] {
  const field = /^data(?:: ?(.*))?$/s.exec(line);
  return field ? [field[1] ?? ""] : [];
}
