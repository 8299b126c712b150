/** A decompressor returns what it has written in pieces of up to this size. */
export const pieceBytes = 2 ** 16;

/** Copies that are shorter are faster byte by byte. */
const shortBytes = 32;

/** What a decompressor has written: a piece that it has not returned yet, and before it what later copies may repeat. */
export class Window {
  readonly #bytes: Buffer;
  readonly #reach: number;
  #end = 0;
  #returned = 0;

  /**
   * Copies may go back as far as `reach` bytes, at least a piece. The window takes twice as much memory, or `total` bytes if
   * no more will be written.
   */
  constructor(reach: number, total = Number.POSITIVE_INFINITY) {
    this.#reach = reach;
    this.#bytes = Buffer.allocUnsafe(Math.min(total, 2 * reach));
  }

  get isFull(): boolean {
    return this.#end - this.#returned === pieceBytes;
  }

  /** Removes and returns the piece. */
  take(): Buffer {
    const piece = Buffer.from(this.#bytes.subarray(this.#returned, this.#end));
    this.#returned = this.#end;
    return piece;
  }

  /** Writes up to `count` bytes of the source and returns how many: the piece may become full. */
  write(source: Uint8Array, from: number, count: number): number {
    const written = this.#makeRoom(count);
    const [bytes, end] = [this.#bytes, this.#end];
    if (written < shortBytes)
      for (let index = 0; index < written; index += 1) bytes[end + index] = source[from + index] as number;
    else bytes.set(source.subarray(from, from + written), end);
    this.#end += written;
    return written;
  }

  /** Repeats up to `count` bytes from `distance` bytes back, which may overlap, and returns how many. */
  repeat(distance: number, count: number): number {
    if (distance < 1 || distance > this.#end) throw new Error("a copy begins before the data");
    const written = this.#makeRoom(count);
    const bytes = this.#bytes;
    const from = this.#end - distance;
    const end = this.#end + written;
    if (written < shortBytes) {
      for (let to = this.#end; to < end; to += 1) bytes[to] = bytes[to - distance] as number;
    } else {
      // What was copied is copied with the rest the next time.
      for (let to = this.#end; to < end; ) {
        const length = Math.min(end - to, to - from);
        bytes.copyWithin(to, from, from + length);
        to += length;
      }
    }
    this.#end = end;
    return written;
  }

  /** Makes room for up to `count` bytes of the piece, and returns for how many. */
  #makeRoom(count: number): number {
    const room = Math.min(count, pieceBytes - (this.#end - this.#returned));
    if (this.#end + room <= this.#bytes.length) return room;
    const from = this.#end - this.#reach;
    if (from <= 0) throw new Error("the data is longer than it declares");
    this.#bytes.copyWithin(0, from, this.#end);
    this.#returned -= from;
    this.#end = this.#reach;
    return room;
  }
}

/** Bytes that are read one after another. */
export class Source {
  readonly bytes: Uint8Array;
  readonly end: number;
  at: number;

  constructor(bytes: Uint8Array, at = 0, end = bytes.length) {
    if (end > bytes.length) throw new Error(truncated);
    this.bytes = bytes;
    this.at = at;
    this.end = end;
  }

  byte(): number {
    if (this.at >= this.end) throw new Error(truncated);
    return this.bytes[this.at++] as number;
  }

  /** An unsigned number of `count` bytes, the least significant one first. */
  number(count: number): number {
    let value = 0;
    for (let index = 0; index < count; index += 1) value += this.byte() * 2 ** (8 * index);
    return value;
  }
}

const truncated = "the data ends too early";

/** Writes the next bytes as they are. */
export function* literals(source: Source, count: number, window: Window): Generator<Buffer> {
  if (count > source.end - source.at) throw new Error(truncated);
  for (let left = count; left > 0; ) {
    const written = window.write(source.bytes, source.at, left);
    source.at += written;
    left -= written;
    if (window.isFull) yield window.take();
  }
}
