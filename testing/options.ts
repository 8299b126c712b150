import { parseCommandLine, UsageError } from "../src/process/command.ts";

/** The options `--name VALUE` of a command that takes no other arguments. */
export function readOptions<Name extends string>(
  args: string[],
  names: Name[],
): Partial<Record<Name, string>> {
  const options = Object.fromEntries(names.map((name) => [name, { type: "string" as const }]));
  return parseCommandLine({ args, options }).values as Partial<Record<Name, string>>;
}

export function wholeNumber(name: string, text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new UsageError(`--${name} must be a whole number`);
  return Number(text);
}
