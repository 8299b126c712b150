import { join } from "node:path";
import { outputOf } from "./child-process.ts";
import { freePort } from "./free-port.ts";
import { startEnvironment, startOptions } from "./npm-start.ts";
import { root } from "./project.ts";
import { startServer, type TestServer } from "./servers/server.ts";

export interface ProgramOptions {
  /** Environment variables in addition to the ports. */
  env?: Record<string, string>;
  /** Options of Node.js. */
  options?: string[];
  /** Changes the command, for example to limit what the process may use. */
  wrap?: (command: string[]) => string[];
  /** The program is ready when it answers a request to this path, with any status. Default: `/`. */
  path?: string;
}

/**
 * Starts a program of this project that serves HTTP, in a folder of its own. It reads its ports from variables of its
 * environment; the URL has the first one. Its channel for messages is open (see `call`).
 */
export async function startProgram(
  [file = "", ...args]: string[],
  [portVariable = "", ...otherVariables]: string[],
  { env, options = [], wrap = (command) => command, path = "/" }: ProgramOptions = {},
): Promise<TestServer & { otherUrls: string[] }> {
  const otherPorts = await Promise.all(otherVariables.map(freePort));
  const otherUrls = otherPorts.map(urlOf);
  const server = await startServer({
    name: args[0] ?? "program",
    url: ({ port }) => urlOf(port),
    otherUrls,
    command: () => wrap([process.execPath, ...options, join(root, file), ...args]) as [string, ...string[]],
    environment: ({ port }) => ({
      [portVariable]: String(port),
      ...Object.fromEntries(otherVariables.map((name, index) => [name, String(otherPorts[index])])),
      ...env,
    }),
    stopSignal: "SIGTERM",
    hasChannel: true,
    probeRequest: `GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`,
    probeResponse: "HTTP/1.1 ",
    // The start is measured.
    probePauseMs: 2,
  });
  return { ...server, otherUrls };
}

const urlOf = (port: number) => `http://127.0.0.1:${port}`;

/** Adds the options and the environment that `npm start` gives a program. They save memory and cost time. */
export const asNpmStart = ({ env, options = [], ...others }: ProgramOptions = {}): ProgramOptions => ({
  ...others,
  env: { ...startEnvironment, ...env },
  options: [...startOptions, ...options],
});

/** Starts a service as `npm start` does, with its settings in `env`. */
export const startService = (
  service: "ledger" | "features",
  options: ProgramOptions = {},
): Promise<TestServer> =>
  startProgram(["src/main.ts", service], [`${service.toUpperCase()}_PORT`], asNpmStart(options));

export type Services = Awaited<ReturnType<typeof startServices>>;

/**
 * Starts both services in one process, as `npm start` does, with their default engines, which are embedded. The ledger
 * also serves the operation that adds events. `settings` are added to these.
 */
export async function startServices(settings: Record<string, string> = {}) {
  const env = {
    QUEUE_URL: `sqs+embedded:./data/queue?port=${await freePort()}`,
    EVENT_WRITES: "true",
    ...settings,
  };
  const server = await startProgram(["src/main.ts"], ["LEDGER_PORT", "FEATURES_PORT"], asNpmStart({ env }));
  const [ledgerUrl, featuresUrl] = [server.url, server.otherUrls[0] ?? ""];
  const ports = { LEDGER_PORT: new URL(ledgerUrl).port, FEATURES_PORT: new URL(featuresUrl).port };
  return {
    ledgerUrl,
    featuresUrl,
    /** Runs the program at this path in the project with the settings of these services. Resolves with its output. Rejects if it fails. */
    run(path: string, args: string[] = [], input = ""): Promise<string> {
      const options = { cwd: server.folder, env: { PATH: process.env.PATH, ...env, ...ports }, input };
      return outputOf([process.execPath, join(root, path), ...args], options);
    },
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}
