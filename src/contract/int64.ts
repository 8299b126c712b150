type IntegerSchema = { format?: string; minimum?: number | string; maximum?: number | string };

/**
 * True if values of this schema need a bigint: 64-bit integers without bounds that keep them within the safe integers.
 * Codegen, the reader of parameters and the client follow this rule.
 */
export function needsBigInt({ format, minimum = -Infinity, maximum = Infinity }: IntegerSchema): boolean {
  const isSafe = Number(minimum) >= Number.MIN_SAFE_INTEGER && Number(maximum) <= Number.MAX_SAFE_INTEGER;
  return format === "int64" && !isSafe;
}
