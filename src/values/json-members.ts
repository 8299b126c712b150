import { Bytes } from "./bytes.ts";

/** Names of members of JSON objects. */
export class MemberNames {
  readonly #names: string[] = [];
  /** The words of each name. */
  readonly #words: number[][] = [];
  /** The numbers of the names of each length. */
  readonly #byLength: number[][] = [];

  get count(): number {
    return this.#names.length;
  }

  /** Adds a name that needs no escape in JSON, and returns its number. */
  add(name: string): number {
    const known = this.#names.indexOf(name);
    if (known !== -1) return known;
    const number = this.#names.push(name) - 1;
    const bytes = Bytes.from(name);
    this.#words[number] = wordsOf(bytes);
    this.#byLength[bytes.length] = [...(this.#byLength[bytes.length] ?? []), number];
    return number;
  }

  /** The number of the name between two indexes; -1 if it is unknown. */
  numberAt(bytes: Bytes, start: number, end: number): number {
    const numbers = this.#byLength[end - start];
    if (numbers === undefined) return -1;
    const mask = lastMask(end - start);
    for (const number of numbers)
      if (isAt(bytes, start, this.#words[number] as number[], mask)) return number;
    return -1;
  }
}

/** The bits of the last word that belong to a text of this length. */
const lastMask = (length: number): number => masks[length % 4] as number;
const masks = [-1, 0xff, 0xffff, 0xffffff];

function wordsOf(text: Bytes): number[] {
  const count = Math.ceil(text.length / 4);
  const mask = lastMask(text.length);
  return Array.from(
    { length: count },
    (_, index) => text.wordAt(4 * index) & (index === count - 1 ? mask : -1),
  );
}

function isAt(bytes: Bytes, start: number, words: number[], mask: number): boolean {
  const last = words.length - 1;
  let at = start;
  for (let index = 0; index < last; index += 1, at += 4) if (bytes.wordAt(at) !== words[index]) return false;
  return (bytes.wordAt(at) & mask) === words[last];
}

/**
 * The members of a JSON object that have known names, found in its bytes. The object is not parsed, so a value keeps all its
 * digits. It is valid JSON with at most one space between its parts, as PostgreSQL and `JSON.stringify` write it.
 */
export class Members {
  readonly #names: MemberNames;
  /** The start and the end of each value; 0 for a member that is missing. */
  #places = new Int32Array(0);
  bytes = new Bytes(0);

  constructor(names: MemberNames) {
    this.#names = names;
  }

  /**
   * Finds the members of the object that begins at an index, and returns the index after it. The bytes must not change while
   * they are read.
   */
  find(bytes: Bytes, objectStart: number): number {
    this.clear();
    this.bytes = bytes;
    const places = this.#places;
    const { buffer } = bytes;
    let start = afterSpace(buffer, objectStart + 1);
    while (buffer[start] === quote) {
      const end = endOfText(buffer, start);
      const valueStart = afterSpace(buffer, end + ":".length + 1);
      const valueEnd = endOfValue(buffer, valueStart);
      const number = this.#names.numberAt(bytes, start + 1, end);
      if (number >= 0) {
        places[2 * number] = valueStart;
        places[2 * number + 1] = valueEnd;
      }
      if (buffer[valueEnd] === closingBrace) return valueEnd + 1;
      start = afterSpace(buffer, valueEnd + ",".length);
    }
    return start + 1;
  }

  /** Forgets the object: no member is there. */
  clear(): void {
    const length = 2 * this.#names.count;
    if (this.#places.length === length) this.#places.fill(0);
    else this.#places = new Int32Array(length);
  }

  /** The index at which the value of a name begins; 0 if it is missing. */
  start(number: number): number {
    return this.#places[2 * number] ?? 0;
  }

  end(number: number): number {
    return this.#places[2 * number + 1] ?? 0;
  }

  /** The JSON text of a value; undefined if it is missing. */
  textOf(number: number): string | undefined {
    const start = this.start(number);
    return start === 0 ? undefined : this.bytes.buffer.toString("utf8", start, this.end(number));
  }
}

const [space, quote, backslash, comma] = [0x20, 0x22, 0x5c, 0x2c];
const [openingBracket, closingBracket, openingBrace, closingBrace] = [0x5b, 0x5d, 0x7b, 0x7d];

const afterSpace = (bytes: Buffer, index: number): number => (bytes[index] === space ? index + 1 : index);

/** The index of the quote that ends the text that begins at an index. */
function endOfText(bytes: Buffer, start: number): number {
  for (let index = start + 1; ; index += 1) {
    const byte = bytes[index];
    if (byte === quote || byte === undefined) return index;
    if (byte === backslash) index += 1;
  }
}

/** The index after the value that begins at an index, in an object. */
function endOfValue(bytes: Buffer, start: number): number {
  const first = bytes[start];
  if (first === quote) return endOfText(bytes, start) + 1;
  if (first !== openingBrace && first !== openingBracket) {
    let end = start + 1;
    while (end < bytes.length && bytes[end] !== comma && bytes[end] !== closingBrace) end += 1;
    return end;
  }
  let index = start;
  for (let depth = 0; index < bytes.length; index += 1) {
    const byte = bytes[index];
    if (byte === quote) index = endOfText(bytes, index);
    else if (byte === openingBracket || byte === openingBrace) depth += 1;
    else if (byte === closingBracket || byte === closingBrace) depth -= 1;
    if (depth === 0) break;
  }
  return index + 1;
}
