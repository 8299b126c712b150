const lineFeed = 0x0a;

/**
 * The lines of a file of JSON lines. Rejects at a line that is not valid UTF-8. `readline` of Node.js would also end a
 * line at U+2028, which JSON texts can contain.
 */
export async function* linesOf(input: AsyncIterable<Buffer>): AsyncGenerator<string> {
  const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  let number = 0;
  function read(pieces: Buffer[]): string {
    number += 1;
    try {
      const line = decoder.decode(Buffer.concat(pieces));
      return number === 1 ? line.replace(/^\uFEFF/, "") : line;
    } catch {
      throw new Error(`line ${number} is not valid UTF-8`);
    }
  }
  let rest: Buffer[] = [];
  for await (const bytes of input) {
    let start = 0;
    for (let end = bytes.indexOf(lineFeed); end !== -1; end = bytes.indexOf(lineFeed, start)) {
      yield read([...rest, bytes.subarray(start, end)]);
      rest = [];
      start = end + 1;
    }
    if (start < bytes.length) rest.push(bytes.subarray(start));
  }
  if (rest.length > 0) yield read(rest);
}
