/**
 * Whether values of this schema need a bigint: a 64-bit integer whose declared bounds do not keep it within what a
 * double holds exactly. Codegen types it so and the request reader reads it so.
 */
export function needsBigInt(schema: {
  format?: string;
  minimum?: number | string;
  maximum?: number | string;
}): boolean {
  const { format, minimum = -Infinity, maximum = Infinity } = schema;
  return (
    format === "int64" &&
    !(Number(minimum) >= Number.MIN_SAFE_INTEGER && Number(maximum) <= Number.MAX_SAFE_INTEGER)
  );
}
