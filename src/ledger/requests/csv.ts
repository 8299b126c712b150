/** True if the request asks for CSV: the parameter `format` has precedence over the header `Accept`. */
export const asksForCsv = (request: { query: { format?: "csv" | "json" | undefined }; mediaType: string }) =>
  request.query.format ? request.query.format === "csv" : request.mediaType === "text/csv";

/**
 * A file that is written while it is read from the database, page by page. The first page is read and written before the
 * response begins, so that a failure until then gets an error response. While the caller reads slowly, only the lines of one
 * page are in memory. It ends with the last line.
 */
export async function csvResponse<Name extends string, Page, Position>(
  fileName: Name,
  header: string,
  first: Page,
  write: (page: Page) => Promise<{ lines: string | Buffer; next: Position | undefined }>,
  readAfter: (position: Position) => Promise<Page>,
  lastLine = "",
) {
  let written = await write(first);
  async function* body(): AsyncGenerator<string | Buffer> {
    yield header;
    for (;;) {
      yield written.lines;
      if (!written.next) break;
      written = await write(await readAfter(written.next));
    }
    yield lastLine;
  }
  return {
    status: 200 as const,
    type: "text/csv" as const,
    headers: { "Content-Disposition": `attachment; filename="${fileName}"` as const },
    body: body(),
  };
}
