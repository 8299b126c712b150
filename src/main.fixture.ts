import { expect } from "vitest";
import { freePort } from "../testing/free-port.ts";
import { story } from "../testing/messages.ts";
import { newFolder, run, withoutProgress } from "../testing/run.ts";
import { statusOf } from "./http/service.fixture.ts";

/** Settings of services without data from before, whose ports are free ones. */
export const inMemory = {
  ...{ DATABASE_URL: "pglite:memory", QUEUE_URL: "memory:", FEATURES_STORE_URL: "memory:" },
  ...{ LEDGER_PORT: "0", FEATURES_PORT: "0" },
};

/** Starts services as `npm start` does, with these settings. Default of the services: both. */
export function runServices(env: object, services: string[] = [], folder?: string) {
  const running = run("src/main.ts", { env, args: services, ...(folder !== undefined && { folder }) });
  return {
    ...running,
    /** Waits until this many services listen. */
    isListening: (count = 1) =>
      expect.poll(() => running.output().split("Server listening").length - 1).toBe(count),
    /** Sends a signal. Resolves with the output of the process that ends by it, with exit code 0 and no errors. */
    async stop(signal: NodeJS.Signals = "SIGTERM") {
      running.child.kill(signal);
      const { code, output, errors } = await running.exit;
      expect([code, errors]).toEqual([0, ""]);
      return output;
    },
  };
}

/** The URL at which a service listens, from the JSON lines of its log. */
export const urlIn = (output: string): string => /listening at (http:[^"]*)/.exec(output)?.[1] ?? "";

/** The messages of the errors that have ended services whose log has JSON lines. Nothing else is on standard error. */
export const fatalMessages = (errors: string): string[] =>
  errors
    .trim()
    .split("\n")
    .map((line) => {
      const { level, msg } = JSON.parse(line);
      expect(level).toBe(60);
      return msg;
    });

/** The message that creates a payment of account 57, on a line. */
export const createdPayment = (id: string, details: object = {}) =>
  `${JSON.stringify(story("payment", id, ["09:14:22", "PAYMENT_CREATED", details])[0])}\n`;

/** Settings of services and commands whose embedded engines are in a new folder. */
export async function newInstallation(settings: Record<string, string> = {}) {
  const folder = newFolder();
  const env: Record<string, string> = {
    LEDGER_PORT: String(await freePort()),
    FEATURES_PORT: String(await freePort()),
    QUEUE_URL: `sqs+embedded:./data/queue?port=${await freePort()}`,
    ...settings,
  };
  const ledger = `http://127.0.0.1:${env.LEDGER_PORT}`;
  return {
    folder,
    env,
    ledger,
    features: `http://127.0.0.1:${env.FEATURES_PORT}`,
    runServices: (services: string[] = []) => runServices(env, services, folder),
    /** Starts both services, with changed settings. Resolves with a function that stops them. */
    async start(changed: Record<string, string> = {}) {
      Object.assign(env, changed);
      const services = runServices(env, [], folder);
      await services.isListening(2);
      return () => services.stop();
    },
    /** Resolves with the output of a command of the ledger, or of a program at a path. It must succeed. */
    async command(name: string, args: string[] = [], input = "") {
      const program = name.includes("/") ? name : `src/ledger/commands/${name}.ts`;
      const { code, output, errors } = await run(program, { args, env, folder, input }).exit;
      expect({ name, code, errors: withoutProgress(errors) }).toEqual({ name, code: 0, errors: "" });
      return output;
    },
    /** The status of the response to a request for a payment. */
    payment: (id: string) => statusOf(`${ledger}/v1/transaction/${id}?account_id=57`),
  };
}
