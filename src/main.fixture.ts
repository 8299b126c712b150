import { request } from "undici";
import { expect } from "vitest";
import { story } from "../testing/messages.ts";
import { run } from "../testing/run.ts";

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

/** Resolves with the status of the response to a GET request. */
export async function statusOf(url: string, headers: Record<string, string> = {}): Promise<number> {
  const { statusCode, body } = await request(url, { headers });
  await body.dump();
  return statusCode;
}

/** The message that creates a payment of account 57, on a line. */
export const createdPayment = (id: string, details: object = {}) =>
  `${JSON.stringify(story("payment", id, ["09:14:22", "PAYMENT_CREATED", details])[0])}\n`;
