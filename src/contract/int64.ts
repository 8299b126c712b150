/**
 * True if values of this schema need a bigint: 64-bit integers without bounds that keep them within the safe integers.
 * Codegen, the reader of parameters and the client follow this rule.
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
