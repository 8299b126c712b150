/** The items in order, in chunks of up to `countMax` items and `bytesMax` bytes. A larger item is its own chunk. */
export function inChunks<Item>(
  items: Item[],
  sizeOf: (item: Item) => number,
  bytesMax: number,
  countMax = Number.POSITIVE_INFINITY,
): Item[][] {
  const chunks: Item[][] = [];
  let bytes = 0;
  for (const item of items) {
    const size = sizeOf(item);
    const chunk = chunks.at(-1);
    if (chunk && chunk.length < countMax && bytes + size <= bytesMax) {
      chunk.push(item);
      bytes += size;
    } else {
      chunks.push([item]);
      bytes = size;
    }
  }
  return chunks;
}
