const units = { y: "years", mo: "months", d: "days" };

/** An age such as `7y`, `18mo` or `90d`, of less than 1000 years, as an interval of PostgreSQL. Undefined for other texts. */
export function intervalOf(age: string): string | undefined {
  const [, count, unit] = /^([1-9]\d{0,2}(?=y)|[1-9]\d{0,3})(y|mo|d)$/.exec(age) ?? [];
  return unit === undefined ? undefined : `${count} ${units[unit as keyof typeof units]}`;
}
