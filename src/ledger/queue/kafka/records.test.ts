import { randomBytes } from "node:crypto";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type Compression, compressions, headerBytes, newBatch, zstdOfLargeWindow } from "./batch.fixture.ts";
import { readBatches, recordsOf } from "./records.ts";

/** The values of all messages in batches. */
async function valuesIn(bytes: Buffer): Promise<string[]> {
  const values: string[] = [];
  for (const batch of readBatches(bytes))
    for await (const { records } of recordsOf(batch))
      values.push(...records.map(({ value }) => String(value)));
  return values;
}

const batchOf = (values: string[], compression: Compression) =>
  newBatch(
    values.map((value) => ({ value: Buffer.from(value) })),
    compression,
  );
/** A batch of this content, which can be damaged. Its header says that it has one record. */
const batchWith = (number: number, records: Buffer) => batchOf(["x"], { number, compress: () => records });

/** An unsigned number, seven bits in each byte. */
const varint = (value: number): Buffer =>
  value < 0x80 ? Buffer.from([value]) : Buffer.from([(value & 0x7f) | 0x80, ...varint(value >>> 7)]);

/** Texts that repeat themselves in part, up to some pieces of a decompressor. */
const anyValue = fc
  .tuple(fc.array(fc.string({ maxLength: 300 }), { minLength: 1, maxLength: 8 }), fc.nat(20_000))
  .map(([parts, length]) =>
    parts
      .join("")
      .repeat(1000)
      .slice(0, length * parts.length),
  );

describe.each(Object.entries(compressions))("batches with the compression %s", (_, compression) => {
  test("have the records that were sent", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.array(anyValue, { minLength: 1 }), { maxLength: 3 }), async (batches) => {
        const bytes = Buffer.concat(batches.map((values) => batchOf(values, compression)));
        expect(await valuesIn(bytes)).toEqual(batches.flat());
      }),
      { numRuns: 50 },
    );
  });

  test("have large and small records after each other", async () => {
    const values = ["", "a".repeat(3_000_000), "b", Buffer.alloc(200_000, "xyz").toString(), ""];
    expect(await valuesIn(batchOf(values, compression))).toEqual(values);
  });

  test("cannot be read to the end if they are cut off or damaged", async () => {
    const values = Array.from({ length: 200 }, (_, index) => `${index}`.repeat(500));
    const batch = batchOf(values, compression);
    const records = batch.subarray(headerBytes);
    const cut = newBatch(
      values.map((value) => ({ value: Buffer.from(value) })),
      { ...compression, compress: () => records.subarray(0, records.length - 20) },
    );
    await expect(valuesIn(cut)).rejects.toThrow();
    // Some bytes do not matter to some of them, as those of a value do without compression.
    for (let at = headerBytes; at < batch.length; at += Math.ceil(batch.length / 100)) {
      const damaged = Buffer.from(batch);
      damaged[at] = (damaged[at] as number) ^ 0xff;
      const read = await valuesIn(damaged).catch(() => []);
      expect(read.length === 0 || read.length === values.length).toBe(true);
    }
  });
});

test("the last batch of a response is left out if it is cut off", async () => {
  const batches = ["1", "2"].map((value) => batchOf([value], compressions.none));
  expect(await valuesIn(Buffer.concat(batches).subarray(0, -1))).toEqual(["1"]);
});

test("an LZ4 frame can have blocks that repeat earlier ones, blocks without compression and checksums", async () => {
  const [record] = [Buffer.from("0123456789".repeat(3))];
  const plain = batchOf([record.toString()], compressions.none).subarray(headerBytes);
  // The first block has the first twenty digits as they are, the second repeats ten of them, and the third ends the record.
  const [head, tail] = [plain.subarray(0, plain.length - 11), plain.subarray(plain.length - 1)];
  const block = (bytes: Buffer, isStored: boolean) => {
    const size = Buffer.alloc(4);
    size.writeUInt32LE(bytes.length + (isStored ? 2 ** 31 : 0));
    return Buffer.concat([size, bytes, Buffer.from("sum.")]);
  };
  const frame = Buffer.concat([
    Buffer.from([0x04, 0x22, 0x4d, 0x18, 0b0101_1000, 0x40, ...Buffer.alloc(8), 0]),
    ...[block(head, true), block(Buffer.from([0x06, 10, 0]), false), block(tail, true)],
    Buffer.alloc(4),
  ]);
  expect(await valuesIn(batchWith(3, frame))).toEqual([record.toString()]);
});

test("a block of Snappy can repeat what is 3 MiB back, however long it is", async () => {
  const part = randomBytes(1.5 * 2 ** 20).toString("hex");
  const value = part.repeat(4);
  const plain = batchOf([value], compressions.none).subarray(headerBytes);
  // The record begins with its lengths, and ends with the number of its headers.
  const start = plain.length - 1 - value.length;
  const literal = (bytes: Buffer) => {
    const tag = Buffer.from([62 << 2, 0, 0, 0]);
    tag.writeUIntLE(bytes.length - 1, 1, 3);
    return Buffer.concat([tag, bytes]);
  };
  const distance = part.length;
  const copy = Buffer.from([(63 << 2) | 3, 0, 0, 0, 0]);
  copy.writeUInt32LE(distance, 1);
  const copies = Array((3 * distance) / 64).fill(copy);
  const block = Buffer.concat([
    varint(plain.length),
    ...[literal(plain.subarray(0, start + distance)), ...copies],
    literal(plain.subarray(-1)),
  ]);
  expect((await valuesIn(batchWith(2, block))).map((each) => each === value)).toEqual([true]);
});

test.each(["gzip", "snappy of Java", "lz4", "zstd"] as const)(
  "a record of half a gibibyte in %s is not decompressed",
  async (name) => {
    const { number, compress } = compressions[name];
    // The length of the record, and the first part of its content.
    const length = Buffer.from([0x80, 0x80, 0x80, 0x80, 0x04]);
    const records = compress(Buffer.concat([length, Buffer.alloc(1000)]));
    const message = "a record of it is larger than 32 MiB";
    await expect(valuesIn(batchWith(number, records))).rejects.toThrow(message);
  },
);

test.each([
  ["a compression that nobody knows", 5, Buffer.from("x"), "only newer clients know"],
  [
    "zstd with a window of 9 MiB",
    4,
    zstdOfLargeWindow.compress(Buffer.alloc(9 * 2 ** 20)),
    "compression.zstd.level",
  ],
  [
    "snappy that repeats what is far back",
    2,
    Buffer.from([100, 0, 1, 0xff, 0xff, 0xff, 0xff, 0x7f]),
    "batch.size",
  ],
  ["snappy of more than it declares", 2, Buffer.from([1, 4, 1, 2, 4, 1, 2]), "longer than it declares"],
  [
    "an LZ4 frame that needs a dictionary",
    3,
    Buffer.from([4, 0x22, 0x4d, 0x18, 0x61, 0x40, 0]),
    "dictionary",
  ],
  ["bytes that are no LZ4 frame", 3, Buffer.alloc(100), "no LZ4 frame"],
  ["a record that is longer than its length", 0, Buffer.from([14, 0, 0, 0, 1, 40, 1, 0]), "damaged"],
])("a batch with %s is rejected", async (_, number, records, message) => {
  await expect(valuesIn(batchWith(number, records))).rejects.toThrow(message);
});
