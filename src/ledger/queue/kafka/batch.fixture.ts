import { constants, gzipSync, zstdCompressSync } from "node:zlib";
import {
  type Admin,
  compressionsAlgorithms,
  crc32c,
  createAPI,
  createRecordsBatch,
  type MessageRecord,
  produceV9,
  Writer,
} from "@platformatic/kafka";

/** The bytes before the records of a batch. */
export const headerBytes = 61;

const { lz4, snappy } = compressionsAlgorithms;

/** Snappy as Java clients send it: blocks of 32 KiB, each with its size before it. */
function snappyOfJava(data: Buffer): Buffer {
  const blocks: Buffer[] = [Buffer.from("\x82SNAPPY\0\0\0\0\x01\0\0\0\x01", "latin1")];
  for (let at = 0; at < data.length; at += 2 ** 15) {
    const block = snappy.compressSync(data.subarray(at, at + 2 ** 15));
    const size = Buffer.alloc(4);
    size.writeInt32BE(block.length);
    blocks.push(size, block);
  }
  return Buffer.concat(blocks);
}

/** How producers compress records, and the number of that in a batch. */
export const compressions = {
  none: { number: 0, compress: (data: Buffer) => data },
  gzip: { number: 1, compress: (data: Buffer) => gzipSync(data) },
  "snappy in one block": { number: 2, compress: (data: Buffer) => snappy.compressSync(data) },
  "snappy of Java": { number: 2, compress: snappyOfJava },
  lz4: { number: 3, compress: (data: Buffer) => lz4.compressSync(data) },
  zstd: { number: 4, compress: (data: Buffer) => zstdCompressSync(data) },
};

/** Content of more than 8 MiB has a window of this size then. */
export const zstdOfLargeWindow = {
  number: 4,
  compress: (data: Buffer) => zstdCompressSync(data, { params: { [constants.ZSTD_c_windowLog]: 27 } }),
};

export type Compression = (typeof compressions)[keyof typeof compressions];

/** A batch of these messages, as a producer sends it. */
export function newBatch(
  messages: Omit<MessageRecord, "topic">[],
  { number, compress }: Compression,
): Buffer {
  const plain = createRecordsBatch(messages.map((each) => ({ topic: "", ...each }))).buffer;
  const batch = Buffer.concat([plain.subarray(0, headerBytes), compress(plain.subarray(headerBytes))]);
  batch.writeInt16BE(number, 21);
  return sealed(batch);
}

/** Writes the length and the checksum of a batch. */
export function sealed(batch: Buffer): Buffer {
  batch.writeInt32BE(batch.length - 12, 8);
  batch.writeUInt32BE(crc32c(batch.subarray(21)) >>> 0, 17);
  return batch;
}

const produce = createAPI<[topic: string, batch: Buffer], unknown>(
  produceV9.api.key,
  produceV9.api.version,
  (topic: string, batch: Buffer) =>
    Writer.create()
      .appendString(null)
      .appendInt16(-1)
      .appendInt32(30_000)
      .appendArray([topic], (topics) => {
        topics.appendString(topic).appendArray([0], (partitions) => {
          partitions
            .appendInt32(0)
            .appendUnsignedVarInt(batch.length + 1)
            .append(batch);
        });
      })
      .appendTaggedFields(),
  produceV9.parseResponse,
);

/** Publishes a batch, as it is, to partition 0 of a topic of one broker. */
export async function publishBatch(admin: Admin, topic: string, batch: Buffer): Promise<void> {
  const { brokers } = await admin.metadata({ topics: [topic] });
  const [broker] = brokers.values();
  if (broker) await produce.async(await admin.connections.get(broker), topic, batch);
}
