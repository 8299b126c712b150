import { type ParseArgsConfig, parseArgs } from "node:util";
import { describeError, messageOf } from "./describe-error.ts";
import { SettingsFault } from "./settings.ts";

/** Arguments that cannot be used, in words for whoever typed them. */
export class UsageFault extends Error {}

/** The options and the other words of a command line, as the platform reads them. */
export function parseCommandLine<Config extends ParseArgsConfig>(config: Config) {
  try {
    return parseArgs(config);
  } catch (error) {
    throw new UsageFault((error as Error).message);
  }
}

/** Throws when there are arguments other than these. */
export function refuseUnknown(args: string[], known: string[]): void {
  const unknown = args.filter((arg) => !known.includes(arg));
  if (unknown.length > 0) {
    throw new UsageFault(`unknown: ${unknown.join(" ")}; known: ${[...known, "--help"].join(", ")}`);
  }
}

/** A text from elsewhere, in which what would steer a terminal can be seen. */
export const printable = (text: string) =>
  text.replaceAll(/\p{Cc}/gu, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`);

export const say = (line: string) => process.stdout.write(`${line}\n`);
export const complain = (line: string) => process.stderr.write(`${line}\n`);

/**
 * Runs this process as a command: `--help` prints the usage; what goes wrong is told in lines that name the command,
 * and the exit code is 2 for a wrong argument or setting, 1 for every other failure.
 */
export async function runCommand(name: string, usage: string, work: (args: string[]) => Promise<void>) {
  const args = process.argv.slice(2);
  if (args.includes("--help")) {
    process.stdout.write(usage);
    return;
  }
  // Whoever reads the output may have read enough, as `head` has.
  process.stdout.on("error", (error: Error & { code?: string }) => {
    if (error.code !== "EPIPE") throw error;
    process.exit();
  });
  // The platform would print all that hangs on the error.
  process.on("uncaughtException", (error) => {
    complain(`${name}: nobody caught ${JSON.stringify(describeError(error))}`);
    process.exit(1);
  });
  try {
    await work(args);
  } catch (error) {
    const faults = error instanceof SettingsFault ? error.faults : describe(error);
    for (const fault of faults) complain(`${name}: ${fault}`);
    process.exitCode = error instanceof SettingsFault || error instanceof UsageFault ? 2 : 1;
    endWithin(endMaxMs);
  }
}

function describe(error: unknown): string[] {
  if (error instanceof AggregateError) return error.errors.flatMap(describe);
  return [messageOf(error)];
}

/** How long what a library left open may keep a process whose work is over. */
export const endMaxMs = 2000;

/** Ends this process so many milliseconds from now, unless it has ended by itself. */
export const endWithin = (limitMs: number) => {
  setTimeout(() => process.exit(), limitMs).unref();
};
