import { nameMax } from "./client.ts";

/** A line of a pasted list that is no id, and why. */
interface WrongLine {
  line: number;
  text: string;
  reason: string;
}

export interface PastedIds {
  /** Each id once, in order. */
  ids: string[];
  repeated: number;
  wrong: WrongLine[];
}

/** The ids of a pasted list: one a line, or several with commas, semicolons or tabs between them. */
export function readIds(text: string): PastedIds {
  const ids = new Set<string>();
  const wrong: WrongLine[] = [];
  let repeated = 0;
  for (const [index, line] of text.split(/\r\n|[\n\r]/).entries()) {
    for (const part of line.split(/[,;\t]/)) {
      const id = part.trim();
      const reason = faultOf(id);
      if (id === "") continue;
      if (reason !== undefined) wrong.push({ line: index + 1, text: id, reason });
      else if (ids.has(id)) repeated += 1;
      else ids.add(id);
    }
  }
  return { ids: [...ids], repeated, wrong };
}

/** Why a text cannot be a name. */
function faultOf(name: string): string | undefined {
  if ([...name].length > nameMax) return `It is longer than ${nameMax} characters.`;
  if (/\p{Cc}/u.test(name)) return "It contains a control character.";
  return name.isWellFormed() ? undefined : "It contains half of a character.";
}
