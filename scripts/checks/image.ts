import { rejectUnknown, runCommand, say } from "../../src/process/command.ts";
import { stopOnSignals } from "../../src/process/stop.ts";
import { retry } from "../../src/waiting/retry.ts";
import { outputOf } from "../../testing/child-process.ts";
import { root } from "../../testing/project.ts";

const usage = `Usage: npm run image-check

Builds the image of deploy/Dockerfile and runs both services from it, in memory, with a read-only file system. Requests
the documents that each service reads from a file or a package, then stops it. Requires Docker.

  --help   print this text
`;

const image = "payment-ledger-services:image-check";
const startMaxMs = 60_000;
const descriptions = ["/.well-known/api-catalog", "/openapi.yaml", "/openapi.json"];
const documents = [...descriptions, "/docs", "/docs/swagger-ui.js"];
const services = [
  { name: "features", port: 8080, environment: ["FEATURES_STORE_URL=memory:"], documents },
  {
    name: "ledger",
    port: 8081,
    environment: ["DATABASE_URL=pglite:memory", "QUEUE_URL=memory:"],
    documents: [...documents, "/asyncapi.yaml", "/docs/queue", "/healthcheck"],
  },
];

await runCommand("image-check", usage, async (args) => {
  rejectUnknown(args, []);
  const stop = stopOnSignals();
  const docker = (...args: string[]) => outputOf(["docker", ...args], { cwd: root, signal: stop.signal });
  say("building the image");
  await docker("build", "--tag", image, "--file", "deploy/Dockerfile", ".");
  for (const { name, port, environment, documents } of services) {
    const options = ["--detach", "--read-only", "--publish", `127.0.0.1::${port}`];
    const settings = environment.flatMap((setting) => ["--env", setting]);
    const container = (await docker("run", ...options, ...settings, image, name)).trim();
    try {
      const address = (await docker("port", container, `${port}/tcp`)).trim();
      const mayPass = () => !stop.signal.aborted;
      await retry(() => fetch(`http://${address}/`), { forMs: startMaxMs, mayPass });
      for (const path of documents) {
        const { status } = await fetch(`http://${address}${path}`, { signal: stop.signal });
        if (status !== 200) throw new Error(`${name}: the status of ${path} is ${status}; expected 200`);
      }
      await docker("stop", container);
      const code = (await docker("inspect", "--format={{.State.ExitCode}}", container)).trim();
      if (code !== "0") throw new Error(`${name}: the exit code is ${code}`);
      say(`${name}: the image serves ${documents.length} documents`);
    } finally {
      await outputOf(["docker", "rm", "--force", container]);
    }
  }
});
