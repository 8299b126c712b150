/** A currency of ISO 4217. */
export interface Currency {
  /** For example `GBP`. */
  code: string;
  /** The number of fraction digits of the currency: its minor unit is a power of ten below it. */
  digits: number;
}

/**
 * The currencies of ISO 4217 whose minor unit is no hundredth, by the number of its digits. `Intl` has the digits of the
 * Unicode CLDR, which are those that prices have: none for 17 other currencies.
 */
const otherDigits: Record<number, string> = {
  0: "BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF",
  3: "BHD IQD JOD KWD LYD OMR TND",
  4: "CLF UYW",
};
const digitsOf = new Map(
  Object.entries(otherDigits).flatMap(([digits, codes]) =>
    codes.split(" ").map((code) => [code, Number(digits)] as const),
  ),
);

/** The currency with a code, which is in upper case; undefined if there is none. */
export const currencyOf = (code: string): Currency | undefined =>
  Intl.supportedValuesOf("currency").includes(code) ? { code, digits: digitsOf.get(code) ?? 2 } : undefined;

/** The default of a ledger. */
export const pounds: Currency = { code: "GBP", digits: 2 };

/** An amount of minor units, an integer, in the unit of the currency: `-1234567` pence are `-12345.67`. */
export function toMajorUnits(amount: number | bigint, { digits }: Currency): string {
  const [, sign = "", minor = ""] = /^(-?)(\d+)$/.exec(String(amount)) ?? [];
  if (digits === 0) return sign + minor;
  const padded = minor.padStart(digits + 1, "0");
  return `${sign}${padded.slice(0, -digits)}.${padded.slice(-digits)}`;
}
