/** A line of a message, with its line break. */
export interface Line {
  number: number;
  text: string;
  isFault: boolean;
}

/**
 * The lines of indented JSON. Those of the faults are marked, which are JSON pointers; a member that is absent has a line of its
 * own in its object.
 */
export function linesOf(json: string, faults: Set<string>): Line[] {
  const names: string[] = [];
  const known = new Set<string>();
  const lines = json.split("\n").map((text) => {
    const depth = (text.length - text.trimStart().length) / 2;
    const [, name] = /^\s*("(?:[^"\\]|\\.)*"): /.exec(text) ?? [];
    if (name === undefined) return { text, pointer: undefined, depth };
    names[depth] = escapePointer(JSON.parse(name));
    const pointer = `/${names.slice(1, depth + 1).join("/")}`;
    known.add(pointer);
    return { text, pointer, depth };
  });
  const absent = [...faults].filter((fault) => fault !== "" && !known.has(fault));
  const linesAfter = (pointer: string, depth: number) =>
    absent
      .filter((fault) => parentOf(fault) === pointer)
      .map((fault) => ({
        text: `${"  ".repeat(depth + 1)}(${fault.split("/").at(-1)} is missing here)`,
        pointer: fault,
      }));
  const shown = lines.flatMap(({ text, pointer, depth }, index) => {
    const opens = text.endsWith("{") ? (index === 0 ? "" : pointer) : undefined;
    return [{ text, pointer }, ...(opens === undefined ? [] : linesAfter(opens, depth))];
  });
  return shown.map(({ text, pointer }, number) => ({
    number,
    text: `${text}\n`,
    isFault: pointer !== undefined && faults.has(pointer),
  }));
}

const parentOf = (pointer: string) => pointer.slice(0, pointer.lastIndexOf("/"));

/** RFC 6901. */
const escapePointer = (name: string) => name.replaceAll("~", "~0").replaceAll("/", "~1");
