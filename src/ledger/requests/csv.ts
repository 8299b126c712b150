interface CsvRequest {
  query: { format?: "csv" | "json" | undefined };
  /** The media type that the header `Accept` asks for. */
  mediaType: string;
}

/** True if the request asks for CSV: the parameter `format` has precedence over the header `Accept`. */
export const asksForCsv = ({ query: { format }, mediaType }: CsvRequest): boolean =>
  format === undefined ? mediaType === "text/csv" : format === "csv";

/** A file that is written while it is read from the database. */
export const csvResponse = (fileName: string, body: AsyncGenerator<string>) => ({
  status: 200 as const,
  type: "text/csv" as const,
  headers: { "Content-Disposition": `attachment; filename="${fileName}"` },
  body,
});
