import { distance } from "fastest-levenshtein";

/** Longer names are not compared. */
const lengthMax = 64;
/** Names that resemble each other differ in length by at most two letters and a few separators. */
const lengthDifferenceMax = 4;

/**
 * The nearest name. It differs by letter case and separators, or by one letter or two that are exchanged, or by two letters if
 * the name is long. Undefined if several names are as near.
 */
export function nearest(name: string, known: string[]): string | undefined {
  if (name.length > lengthMax) return undefined;
  const plain = plainOf(name);
  const max = plain.length < 6 ? 1 : 2;
  let least = max;
  let found: string[] = [];
  for (const other of known) {
    if (Math.abs(other.length - name.length) > lengthDifferenceMax) continue;
    const edits = editsBetween(plain, plainOf(other));
    if (edits > least) continue;
    if (edits < least) found = [];
    found.push(other);
    least = edits;
  }
  return found.length === 1 ? found[0] : undefined;
}

function editsBetween(one: string, other: string): number {
  const edits = distance(one, other);
  return edits === 2 && areExchanged(one, other) ? 1 : edits;
}

/** True if two texts that differ in two letters differ by the order of neighbours. */
function areExchanged(one: string, other: string): boolean {
  const index = [...one].findIndex((letter, at) => letter !== other[at]);
  return one.length === other.length && one[index] === other[index + 1] && one[index + 1] === other[index];
}

const plainOf = (name: string) => name.toLowerCase().replaceAll(/[-_.\s[\]]/g, "");
