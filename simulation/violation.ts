import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { TestServer } from "../testing/servers/server.ts";

/** A violation of a guarantee that no injected fault excuses. */
export class Violation extends Error {}
/** The exit code of a simulation that found a violation. Node.js and the commands use it for nothing else. */
export const violationExitCode = 64;

/** Ignores other errors: a fault excuses the absence of a response. */
export function rethrowViolation(error: unknown): void {
  if (error instanceof Violation) throw error;
}

const errorsMax = 3;
const errorMaxLength = 1500;

/** Runs a simulation and appends the last errors in the servers' logs to the message of a violation. */
export async function withServerErrors<Result>(
  servers: TestServer[],
  work: () => Promise<Result>,
): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof Violation)) throw error;
    const serverErrors = servers.flatMap(({ url, folder }) => {
      const errors = readFileSync(join(folder, "log"), "utf8")
        .split("\n")
        .filter((line) => !/"level":[1-4]\d,/.test(line) && line !== "");
      return [
        `the last errors of ${url}`,
        ...errors.slice(-errorsMax).map((line) => line.slice(0, errorMaxLength)),
      ];
    });
    throw new Violation([error.message, ...serverErrors].join("\n"));
  }
}
