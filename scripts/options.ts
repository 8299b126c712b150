import { parseArgs } from "node:util";
import { UsageFault } from "../src/service/command.ts";

/** The options `--name VALUE` of a command that takes nothing else. */
export function readOptions<Name extends string>(
  args: string[],
  names: Name[],
): Partial<Record<Name, string>> {
  try {
    const options = Object.fromEntries(names.map((name) => [name, { type: "string" as const }]));
    return parseArgs({ args, options }).values as Partial<Record<Name, string>>;
  } catch (error) {
    throw new UsageFault((error as Error).message);
  }
}

export function wholeNumber(name: string, text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new UsageFault(`--${name} must be a whole number`);
  return Number(text);
}
