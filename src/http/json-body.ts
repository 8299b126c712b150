import { type JsonBytes, JsonOutput } from "../values/json-output.ts";
import { type Writer, writer } from "../values/json-writer.ts";
import { mapInTurns } from "../waiting/turns.ts";

/** About the bytes of an object, so that few outputs grow. */
const objectBytes = 1024;

/** Writes a value as a line, for newline-delimited JSON. */
export const lineWriter = <Source>(write: Writer<Source, unknown>) =>
  writer<Source, string>((source, out) => {
    write(source, out);
    out.ascii("\n");
    return true;
  });

/** A body with what a writer writes of a source. */
export function bodyOf<Source, Value>(write: Writer<Source, Value>, source: Source): JsonBytes<Value> {
  const out = new JsonOutput(2 * objectBytes);
  write(source, out);
  out.ascii("\n");
  return out.take();
}

/** What a writer writes of each element, in turns of the event loop. */
export async function bytesOf<Source>(elements: Source[], write: Writer<Source, string>): Promise<Buffer> {
  const out = new JsonOutput((elements.length + 1) * objectBytes);
  await mapInTurns(elements, (element) => write(element, out));
  return out.take();
}

/**
 * A body that is an object with a list among its members. The elements of the list are written in turns of the event loop.
 * Some members are before it, and others after it.
 */
export async function listBody<
  Before extends object,
  Name extends string,
  Source,
  Value,
  After extends object,
>(
  before: Before,
  name: Name,
  { elements, write }: { elements: Source[]; write: Writer<Source, Value> },
  after: After,
): Promise<JsonBytes<Before & { [Key in Name]: Value[] } & After>> {
  const out = new JsonOutput((elements.length + 2) * objectBytes);
  out.json(before);
  out.cutTo(out.length - "}".length);
  out.ascii(`${out.length > "{".length ? "," : ""}"${name}":[`);
  const { length } = out;
  await mapInTurns(elements, (element) => {
    if (out.length > length) out.ascii(",");
    write(element, out);
  });
  out.ascii("]");
  const rest = JSON.stringify(after);
  out.text(rest === "{}" ? "}\n" : `,${rest.slice("{".length)}\n`);
  return out.take();
}
