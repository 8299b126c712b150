import { literals, Source, Window } from "./window.ts";

/** How Java clients begin: with blocks of 32 KiB, each with its size before it. Others send one block without a header. */
const xerialMagic = Buffer.from("\x82SNAPPY\0", "latin1");
const xerialHeaderBytes = 16;
/** How far copies may go back. Most clients go back 64 KiB at most, and some as far as a batch is long: 1 MB by default. */
const reach = 4 * 2 ** 20;

/** The content of Snappy data in pieces. Throws if the data is damaged, or if it would take more than 8 MiB of memory. */
export function* snappyPieces(data: Buffer): Generator<Buffer> {
  if (!data.subarray(0, xerialMagic.length).equals(xerialMagic)) {
    yield* blockPieces(new Source(data));
    return;
  }
  for (let at = xerialHeaderBytes; at < data.length; ) {
    const size = data.readUInt32BE(at);
    yield* blockPieces(new Source(data, at + 4, at + 4 + size));
    at += 4 + size;
  }
}

function* blockPieces(block: Source): Generator<Buffer> {
  const window = new Window(reach, declaredLength(block));
  while (block.at < block.end) {
    const tag = block.byte();
    const kind = tag & 3;
    if (kind === 0) {
      const short = tag >> 2;
      yield* literals(block, 1 + (short < 60 ? short : block.number(short - 59)), window);
      continue;
    }
    const distance = kind === 1 ? (tag >> 5) * 256 + block.byte() : block.number(kind === 2 ? 2 : 4);
    if (distance > reach) throw new Error(tooFar);
    let left = kind === 1 ? 4 + ((tag >> 2) & 7) : 1 + (tag >> 2);
    while (left > 0) {
      left -= window.repeat(distance, left);
      if (window.isFull) yield window.take();
    }
  }
  yield window.take();
}

const tooFar = `it repeats what lies more than ${reach / 2 ** 20} MiB back; batches of its producer must be \
smaller (batch.size), or have another compression (compression.type)`;

/** A block begins with the length of its content, seven bits in each byte. */
function declaredLength(block: Source): number {
  let length = 0;
  for (let [byte, weight] = [0x80, 1]; byte >= 0x80; weight *= 0x80) {
    byte = block.byte();
    length += (byte & 0x7f) * weight;
  }
  return length;
}
