import { type ParseArgsConfig, parseArgs } from "node:util";
import { describeError, messageOf } from "./describe-error.ts";
import { SettingsError } from "./settings.ts";

/** The arguments of a command are wrong. */
export class UsageError extends Error {}

/**
 * Parses a command line with `parseArgs` of Node.js. What follows an option with a value is the value, unless it is an option
 * of the command: a position of the feed can begin with "-". Throws `UsageError`.
 */
export function parseCommandLine<Config extends ParseArgsConfig & { args: string[] }>(config: Config) {
  try {
    return parseArgs({ ...config, args: joinValues(config.args, config.options ?? {}) });
  } catch (error) {
    throw new UsageError((error as Error).message);
  }
}

/** Makes `--name -value`, which `parseArgs` rejects, `--name=-value`. */
function joinValues(args: string[], options: NonNullable<ParseArgsConfig["options"]>): string[] {
  const isOption = (arg: string) => arg === "--" || Object.hasOwn(options, arg.replace(/^--|=.*/gs, ""));
  const joined: string[] = [];
  for (let index = 0; index < args.length; index++) {
    const [arg = "", next = ""] = args.slice(index, index + 2);
    if (arg === "--") return [...joined, ...args.slice(index)];
    const takesValue = arg.startsWith("--") && options[arg.slice(2)]?.type === "string";
    if (takesValue && next.startsWith("-") && !isOption(next)) {
      joined.push(`${arg}=${next}`);
      index += 1;
    } else joined.push(arg);
  }
  return joined;
}

/** Throws `UsageError` if there are other arguments. */
export function rejectUnknown(args: string[], known: string[]): void {
  const unknown = args.filter((arg) => !known.includes(arg));
  if (unknown.length > 0) {
    throw new UsageError(`unknown: ${unknown.join(" ")}; known: ${[...known, "--help"].join(", ")}`);
  }
}

/** Foreign text with its control characters escaped, for a terminal. */
export const printable = (text: string) =>
  text.replaceAll(/\p{Cc}/gu, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`);

export const say = (line: string) => process.stdout.write(`${line}\n`);
export const complain = (line: string) => process.stderr.write(`${line}\n`);

/** Reports an error that ends a command: a message for an operator, and the error if it is unexpected. */
export type Report = (message: string, unexpected?: unknown) => void;

/**
 * Runs this process as a command. `--help` prints the usage. Errors are reported, by default on standard error with the
 * name of the command; the exit code is 2 for a wrong argument or setting and 1 for any other error.
 */
export async function runCommand(
  name: string,
  usage: string,
  work: (args: string[]) => Promise<void>,
  report: Report = (message, unexpected) =>
    complain(`${name}: ${message}${unexpected ? ` ${JSON.stringify(describeError(unexpected))}` : ""}`),
) {
  const args = process.argv.slice(2);
  if (args.includes("--help")) {
    process.stdout.write(usage);
    return;
  }
  // The reader of the output may have closed it, as `head` does.
  process.stdout.on("error", (error: Error & { code?: string }) => {
    if (error.code !== "EPIPE") throw error;
    process.exit();
  });
  // Node.js would print every property of the error.
  process.on("uncaughtException", (error) => {
    report("uncaught error", error);
    process.exit(1);
  });
  try {
    await work(args);
  } catch (error) {
    const messages = error instanceof SettingsError ? error.messages : messagesOf(error);
    for (const message of messages) report(message);
    process.exitCode = error instanceof SettingsError || error instanceof UsageError ? 2 : 1;
    exitWithin(exitMaxMs);
  }
}

function messagesOf(error: unknown): string[] {
  if (error instanceof AggregateError) return error.errors.flatMap(messagesOf);
  return [messageOf(error)];
}

/** How long open handles of a library can delay the exit of a finished process. */
export const exitMaxMs = 2000;

/** Exits after this many milliseconds, unless the process has exited by itself. */
export const exitWithin = (limitMs: number) => {
  setTimeout(() => process.exit(), limitMs).unref();
};
