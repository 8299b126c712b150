import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { freePort } from "../testing/free-port.ts";
import { root } from "./project.ts";

export interface Services extends AsyncDisposable {
  /** Where they listen. */
  ledgerUrl: string;
  featuresUrl: string;
  /** Runs a program of the project with the settings of these services; rejects when it fails. */
  run(path: string): Promise<void>;
}

const startMaxMs = 60_000;

/**
 * Starts both services as a user would, on embedded engines in a folder of their own, at ports that are free; those of
 * this repository, or of another folder with its programs.
 */
export async function startServices(project = root): Promise<Services> {
  await using opening = new AsyncDisposableStack();
  const folder = await mkdtemp(join(tmpdir(), "services-"));
  opening.defer(() => rm(folder, { recursive: true }));
  const [ledgerPort, featuresPort] = [await freePort(), await freePort()];
  const env = {
    PATH: process.env.PATH,
    LEDGER_PORT: String(ledgerPort),
    FEATURES_PORT: String(featuresPort),
    QUEUE_URL: `sqs+embedded:./data/queue?port=${await freePort()}`,
  };
  const child = spawn(process.execPath, [join(project, "src/main.ts")], {
    cwd: folder,
    env,
    stdio: ["ignore", "pipe", "inherit"],
  });
  const ended = once(child, "exit");
  opening.defer(async () => {
    child.kill("SIGTERM");
    await ended;
  });
  const late = setTimeout(() => child.kill("SIGKILL"), startMaxMs);
  let listening = 0;
  for await (const line of createInterface(child.stdout)) {
    if (line.includes("Server listening")) listening += 1;
    if (listening === 2) break;
  }
  clearTimeout(late);
  if (listening < 2) throw new Error("the services did not start");
  child.stdout.resume();

  const opened = opening.move();
  return {
    ledgerUrl: `http://127.0.0.1:${ledgerPort}`,
    featuresUrl: `http://127.0.0.1:${featuresPort}`,
    async run(path) {
      const tool = spawn(process.execPath, [join(project, path)], {
        cwd: folder,
        env,
        stdio: ["ignore", "ignore", "inherit"],
      });
      const [code] = await once(tool, "exit");
      if (code !== 0) throw new Error(`${path} ended with exit code ${code}`);
    },
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}
