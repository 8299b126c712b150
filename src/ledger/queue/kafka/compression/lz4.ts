import { literals, Source, Window } from "./window.ts";

const frameMagic = 0x184d2204;
const flags = { dictionary: 0b1, contentSize: 0b1000, blockChecksum: 0b1_0000 };
/** The high bit of the size of a block that is not compressed. */
const isStored = 2 ** 31;
/** Copies go back at most 65,535 bytes, also into an earlier block. */
const reach = 2 ** 16;
const shortestCopy = 4;

/** The content of an LZ4 frame in pieces. The memory for it does not depend on its blocks. Throws if the data is damaged. */
export function* lz4Pieces(data: Buffer): Generator<Buffer> {
  const header = new Source(data);
  if (header.number(4) !== frameMagic) throw new Error("the data is no LZ4 frame");
  const [descriptor] = [header.byte(), header.byte()];
  if (descriptor & flags.dictionary) throw new Error("the LZ4 frame needs a dictionary");
  // The size of the content and the checksum of the header.
  header.number((descriptor & flags.contentSize ? 8 : 0) + 1);
  const window = new Window(reach);
  for (let at = header.at; ; ) {
    const size = new Source(data, at, at + 4).number(4);
    if (size === 0) break;
    const block = new Source(data, at + 4, at + 4 + (size % isStored));
    if (size >= isStored) yield* literals(block, block.end - block.at, window);
    else yield* sequences(block, window);
    at = block.end + (descriptor & flags.blockChecksum ? 4 : 0);
  }
  yield window.take();
}

function* sequences(block: Source, window: Window): Generator<Buffer> {
  while (block.at < block.end) {
    const token = block.byte();
    yield* literals(block, lengthOf(block, token >> 4), window);
    // The last sequence has no copy.
    if (block.at === block.end) return;
    const distance = block.number(2);
    let left = shortestCopy + lengthOf(block, token & 15);
    while (left > 0) {
      left -= window.repeat(distance, left);
      if (window.isFull) yield window.take();
    }
  }
}

/** A length whose first part, of four bits, is in the token of a sequence. */
function lengthOf(block: Source, first: number): number {
  let length = first;
  for (let more = first === 15 ? 255 : 0; more === 255; length += more) more = block.byte();
  return length;
}
