import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { outputOf, startProcess } from "./child-process.ts";
import { freePort } from "./free-port.ts";
import { root } from "./project.ts";

export interface Services extends AsyncDisposable {
  ledgerUrl: string;
  featuresUrl: string;
  /** Runs the program at this path in the project with the settings of these services. Rejects if it fails. */
  run(path: string, args?: string[], input?: string): Promise<void>;
}

const startMaxMs = 60_000;

/**
 * Starts both services with their default engines, which are embedded, in a new folder and at free ports. The ledger also
 * serves the operation that adds events. `settings` are added to these.
 */
export async function startServices(settings: Record<string, string> = {}): Promise<Services> {
  await using opening = new AsyncDisposableStack();
  const folder = await mkdtemp(join(tmpdir(), "services-"));
  opening.defer(() => rm(folder, { recursive: true }));
  const [ledgerPort, featuresPort] = [await freePort(), await freePort()];
  const env = {
    PATH: process.env.PATH,
    LEDGER_PORT: String(ledgerPort),
    FEATURES_PORT: String(featuresPort),
    QUEUE_URL: `sqs+embedded:./data/queue?port=${await freePort()}`,
    EVENT_WRITES: "true",
    ...settings,
  };
  const command = (path: string) => [process.execPath, join(root, path)];
  const services = opening.use(startProcess(command("src/main.ts"), { cwd: folder, env, errors: "inherit" }));
  const timeout = AbortSignal.timeout(startMaxMs);
  while (services.output().split("Server listening").length <= 2) {
    if (services.hasExited() || timeout.aborted) throw new Error("the services did not start");
    await sleep(20);
  }
  const opened = opening.move();
  return {
    ledgerUrl: `http://127.0.0.1:${ledgerPort}`,
    featuresUrl: `http://127.0.0.1:${featuresPort}`,
    run: (path, args = [], input = "") =>
      outputOf([...command(path), ...args], { cwd: folder, env, input }).then(() => {}),
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}
