import { zstdCompressSync } from "node:zlib";
import type { ByteWriter as Bytes, ParquetWriter as Parquet } from "hyparquet-writer";
import { JsonOutput } from "../../values/json-output.ts";
import type { Writer } from "../../values/json-writer.ts";
import { csvFormat } from "../views/csv.ts";
import type { Column, ColumnTypes } from "../views/exported.ts";

/** Encodes the rows of one file. What `add` and `end` return are the next bytes of the file. */
export interface Encoder<Row, Shown> {
  add(rows: Row[], read: (row: Row) => Shown): Uint8Array;
  end(): Uint8Array;
}

/** The lines of a file of CSV. */
export interface CsvLines<Row, Shown> {
  header: string;
  writeLine(row: Row, shown: Shown, out: JsonOutput): void;
}

/** About the bytes of a row. */
const rowBytes = 512;
const nothing = new Uint8Array();

export const encodeNdjson = <Row, Shown>(write: Writer<Shown, unknown>): Encoder<Row, Shown> => ({
  add(rows, read) {
    const out = new JsonOutput(rows.length * rowBytes);
    for (const row of rows) {
      write(read(row), out);
      out.ascii("\n");
    }
    return out.take();
  },
  end: () => nothing,
});

export function encodeCsv<Row, Shown>({ header, writeLine }: CsvLines<Row, Shown>): Encoder<Row, Shown> {
  let isFirst = true;
  const begin = (out: JsonOutput) => {
    if (isFirst) out.text(header);
    isFirst = false;
    return out;
  };
  return {
    add(rows, read) {
      const out = begin(new JsonOutput(rows.length * rowBytes));
      for (const row of rows) writeLine(row, read(row), out);
      return out.take();
    },
    end: () => begin(new JsonOutput(rowBytes)).take(),
  };
}

/** CSV with these columns. JSON is only quoted, so that it stays the same. */
export function csvOfColumns<Shown>(columns: Column<Shown>[]): CsvLines<unknown, Shown> {
  const format = csvFormat({ separator: "comma", byte_order_mark: false });
  return {
    header: format.header(columns.map(({ name }) => name)),
    writeLine(_row, shown, out) {
      const cells = columns.map(({ type, read }) => {
        const value = read(shown);
        if (value === null) return "";
        return type === "text" ? format.cell(value as string) : format.quote(String(value));
      });
      out.text(format.line(cells));
    },
  };
}

/** Limits of a row group, which is in memory as a whole. It has one more row than the characters permit. */
const groupRowsMax = 10_000;
const groupCharactersMax = 16 * 2 ** 20;

const parquetTypes = {
  text: { type: "BYTE_ARRAY", converted_type: "UTF8" },
  json: { type: "BYTE_ARRAY", converted_type: "UTF8" },
  instant: {
    type: "INT64",
    converted_type: "TIMESTAMP_MICROS",
    logical_type: { type: "TIMESTAMP", isAdjustedToUTC: true, unit: "MICROS" },
  },
  boolean: { type: "BOOLEAN" },
  integer: { type: "INT64" },
} as const satisfies Record<keyof ColumnTypes, object>;

/** Encodes files of Parquet. The library is loaded only then. */
export async function parquetEncoders<Row, Shown>(
  columns: Column<Shown>[],
): Promise<() => Encoder<Row, Shown>> {
  const library = await import("hyparquet-writer");
  return () => encodeParquet(library, columns);
}

function encodeParquet<Row, Shown>(
  library: { ByteWriter: typeof Bytes; ParquetWriter: typeof Parquet },
  columns: Column<Shown>[],
): Encoder<Row, Shown> {
  const bytes = new library.ByteWriter();
  const writer = new library.ParquetWriter({
    writer: bytes,
    schema: [
      { name: "row", num_children: columns.length },
      ...columns.map(({ name, type }) => ({
        name,
        repetition_type: "OPTIONAL" as const,
        ...parquetTypes[type],
      })),
    ],
    codec: "ZSTD",
    compressors: { ZSTD: zstdCompressSync },
    createdBy: "payment-ledger-services",
  });
  let data: unknown[][] = columns.map(() => []);
  let characters = 0;
  const flush = () => {
    const columnData = columns.map(({ name }, index) => ({ name, data: data[index] as string[] }));
    writer.write({ columnData, rowGroupSize: groupRowsMax });
    data = columns.map(() => []);
    characters = 0;
  };
  /** The bytes that were written since the last call. */
  const take = () => {
    const taken = bytes.getBytes().slice();
    bytes.index = 0;
    return taken;
  };
  return {
    add(rows, readRow) {
      for (const row of rows) {
        const shown = readRow(row);
        for (const [index, { type, read }] of columns.entries()) {
          const value = read(shown);
          if (typeof value === "string") characters += value.length;
          data[index]?.push(type === "instant" && value !== null ? microsecondsOf(value as string) : value);
        }
        if (data[0]?.length === groupRowsMax || characters >= groupCharactersMax) flush();
      }
      return take();
    },
    end() {
      if (data[0]?.length !== 0) flush();
      writer.finish();
      return take();
    },
  };
}

/** Since 1970. */
const microsecondsOf = (instant: string): bigint =>
  BigInt(Date.parse(`${instant.slice(0, 23)}Z`)) * 1000n + BigInt(instant.slice(23, 26));
