import { parseCommandLine, UsageError } from "../src/process/command.ts";

/** The options `--name VALUE` of a command that takes no other arguments. */
export function readOptions<Name extends string>(
  args: string[],
  names: Name[],
): Partial<Record<Name, string>> {
  const options = Object.fromEntries(names.map((name) => [name, { type: "string" as const }]));
  return parseCommandLine({ args, options }).values as Partial<Record<Name, string>>;
}

/** The items of a part, given as `1/4`, of a list that is dealt out like cards. Default: all items. */
export function partOf<Item>(items: Item[], part = "1/1"): Item[] {
  const [, number, parts] = /^([1-9]\d?)\/([1-9]\d?)$/.exec(part)?.map(Number) ?? [];
  if (!number || !parts || number > parts) throw new UsageError("--part must be like 1/4");
  return items.filter((_, index) => index % parts === number - 1);
}

export function wholeNumber(name: string, text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new UsageError(`--${name} must be a whole number`);
  return Number(text);
}
