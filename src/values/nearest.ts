import { distance } from "fastest-levenshtein";

/** Longer names are not compared. */
const lengthMax = 64;

/**
 * The nearest name. It differs by letter case and separators, or by one letter or two that are exchanged, or by two letters if
 * the name is long. Undefined if several names are as near.
 */
export function nearest(name: string, known: string[]): string | undefined {
  if (name.length > lengthMax) return undefined;
  const plain = plainOf(name);
  let least = plain.length < 6 ? 1 : 2;
  let found: number[] = [];
  for (const [index, other] of plainNamesOf(known).entries()) {
    if (Math.abs(other.length - plain.length) > least) continue;
    const edits = editsBetween(plain, other);
    if (edits > least) continue;
    if (edits < least) found = [];
    found.push(index);
    least = edits;
  }
  return found.length === 1 ? known[found[0] as number] : undefined;
}

const plainNames = new WeakMap<string[], string[]>();

/** The plain forms of names. Those of a list that is used again, such as all time zones, are kept. */
function plainNamesOf(known: string[]): string[] {
  const plain = plainNames.get(known) ?? known.map(plainOf);
  plainNames.set(known, plain);
  return plain;
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
