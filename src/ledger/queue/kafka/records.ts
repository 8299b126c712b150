import { IS_COMPRESSED, IS_CONTROL, type KafkaRecord, Reader, readRecord } from "@platformatic/kafka";
import { piecesOf } from "./compression/pieces.ts";

/** A batch of records as a broker stores it. Its records are not read, and may be compressed. */
export interface Batch {
  firstOffset: bigint;
  /** The offset behind the batch. */
  nextOffset: bigint;
  firstTimestamp: bigint;
  producerId: bigint;
  /** True if it has no messages: it ends a transaction. */
  isControl: boolean;
  /** The number of its compression, 0 for none. */
  compression: number;
  /** The number of its records. */
  count: number;
  records: Buffer;
}

/** The bytes before the length of a batch has its effect, and those of its header. */
const [lengthEnd, headerBytes] = [12, 61];

/** The batches of a response. The last one may be cut off, and is then left out. */
export function readBatches(bytes: Buffer): Batch[] {
  const batches: Batch[] = [];
  for (let at = 0; at + lengthEnd <= bytes.length; ) {
    const end = at + lengthEnd + bytes.readInt32BE(at + lengthEnd - 4);
    if (end > bytes.length) break;
    if (end < at + headerBytes) throw new Error("a batch of records is shorter than its header");
    batches.push(readBatch(bytes.subarray(at, end)));
    at = end;
  }
  return batches;
}

function readBatch(bytes: Buffer): Batch {
  const firstOffset = bytes.readBigInt64BE(0);
  const attributes = bytes.readInt16BE(21);
  return {
    firstOffset,
    nextOffset: firstOffset + BigInt(bytes.readInt32BE(23)) + 1n,
    firstTimestamp: bytes.readBigInt64BE(27),
    producerId: bytes.readBigInt64BE(43),
    isControl: (attributes & IS_CONTROL) !== 0,
    compression: attributes & IS_COMPRESSED,
    count: bytes.readInt32BE(57),
    records: bytes.subarray(headerBytes),
  };
}

/** A group of records ends when they have this size. */
const groupBytes = 2 ** 16;
/** A decompressed record is in memory as a whole. Legal messages have up to 1 MiB; longer ones become dead letters. */
export const recordBytesMax = 32 * 2 ** 20;
/** Every record has more bytes than its length, which comes first. */
const shortestRecord = 7;

/**
 * The records of a batch in groups of about 64 KiB, or of one record. Decompresses only what it needs for the next group.
 * Throws if the batch cannot be read within the memory for it, or is damaged.
 */
export async function* recordsOf({
  compression,
  count,
  records,
}: Batch): AsyncGenerator<ReturnType<typeof readGroup>> {
  let left = count;
  let parts: Buffer[] = [];
  let [bytes, needed] = [0, shortestRecord];
  for await (const piece of piecesOf(compression, records)) {
    parts.push(piece);
    bytes += piece.length;
    if (bytes < needed) continue;
    const data = parts.length === 1 ? piece : Buffer.concat(parts);
    const reader = Reader.from(data);
    while (left > 0) {
      const group = readGroup(reader, left);
      if (group.bytes === 0) break;
      left -= group.records.length;
      yield group;
    }
    if (left === 0) return;
    needed = sizeOfNext(reader);
    if (needed > recordBytesMax) throw new Error(recordTooLarge);
    parts = [data.subarray(reader.position)];
    bytes = reader.remaining;
  }
  if (left > 0) throw new Error("its data ends before its last record");
}

const recordDamaged = "a record of it is damaged";
const recordTooLarge = `a record of it is larger than ${recordBytesMax / 2 ** 20} MiB; messages may have 1 MiB, and its \
producer can reject larger ones (max.request.size)`;

/** Reads up to `max` records that the data has as a whole, of about 64 KiB. Returns them and their size. */
function readGroup(reader: Reader, max: number) {
  const records: KafkaRecord[] = [];
  const start = reader.position;
  while (records.length < max && reader.position - start < groupBytes) {
    const size = sizeOfNext(reader);
    if (size > reader.remaining) break;
    records.push(readWhole(reader, reader.position + size));
  }
  return { records, bytes: reader.position - start };
}

/** Reads a record that ends at `end`. */
function readWhole(reader: Reader, end: number): KafkaRecord {
  try {
    const record = readRecord(reader);
    if (reader.position === end) return record;
  } catch {
    // It has a length that goes behind the end of the data.
  }
  throw new Error(recordDamaged);
}

/** The size of the next record with its length; if the data has too little of it, the bytes that are needed to know it. */
function sizeOfNext(reader: Reader): number {
  if (reader.remaining < shortestRecord) return shortestRecord;
  const start = reader.position;
  const length = reader.readVarInt();
  const size = reader.position - start + length;
  reader.position = start;
  if (size < shortestRecord) throw new Error(recordDamaged);
  return size;
}
