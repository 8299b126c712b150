import { copyFile, mkdtempDisposable, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { request } from "undici";
import { rejectUnknown, runCommand, say } from "../../src/process/command.ts";
import { stopOnSignals } from "../../src/process/stop.ts";
import { retry } from "../../src/waiting/retry.ts";
import { outputOf, runProcess, startProcess } from "../../testing/child-process.ts";
import { story } from "../../testing/messages.ts";
import { root } from "../../testing/project.ts";
import { startServer } from "../../testing/servers/server.ts";
import { startServices } from "../../testing/services.ts";
import { installPythonPackages } from "./generators/install.ts";
import { versions } from "./generators/versions.ts";

const usage = `Usage: npm run log-verifiers

Runs a ledger with a transparency log, and programs of others: a verifier (Tessera), the library of the Go checksum database, and
a witness (litewitness). Each must find the log true: with all its entries and, after a tenth of the payments was redacted, with
the entries that it had. The programs examples/transparency-proof must accept its proofs, and no changed one.

  --help   print this text
`;

const example = (path: string) => join(root, "examples", path);
const origin = "ledger.example.com/log";
const witnessName = "witness.example.com";
const publishMaxMs = 60_000;
/** The numbers of payments, of those that are redacted, and of those in a request. */
const [paymentsCount, redactedCount, batchSize] = [1000, 100, 100];
const ids = Array.from({ length: paymentsCount }, (_, index) => `payment-${index}`);

interface Tools {
  fsck: string;
  litewitness: string;
  witnessctl: string;
  verify: string;
  python: string;
}

/** Builds the programs in Go in a folder, and installs the package of that in Python. */
async function install(folder: string): Promise<Tools> {
  const environment = { ...process.env, GOBIN: folder, GOFLAGS: "-mod=mod" };
  say("building the programs in Go");
  for (const program of [versions.tesseraFsck, ...versions.litewitness])
    await outputOf(["go", "install", program], { env: environment });
  await copyFile(example("transparency-verifier/verify.go"), join(folder, "verify.go"));
  for (const step of ["mod init example", `get ${versions.goMod}`, "vet .", "build -o verify ."])
    await outputOf(["go", ...step.split(" ")], { cwd: folder, env: environment });
  const [fsck, litewitness, witnessctl, verify] = ["fsck", "litewitness", "witnessctl", "verify"].map(
    (name) => join(folder, name),
  ) as [string, string, string, string];
  const python = join(await installPythonPackages(versions.pythonCryptography), "python");
  return { fsck, litewitness, witnessctl, verify, python };
}

/** Starts a witness of the log with a public key. Resolves with the setting of the ledger for it. */
async function startWitness(tools: Tools, folder: string, publicKey: string) {
  const started = new AsyncDisposableStack();
  const agent = join(folder, "agent.sock");
  started.use(startProcess(["ssh-agent", "-D", "-a", agent], { output: "ignore" }));
  const key = join(folder, "witness");
  await outputOf(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", key]);
  const env = { ...process.env, SSH_AUTH_SOCK: agent };
  await retry(() => outputOf(["ssh-add", "-q", key], { env }), { forMs: 10_000 });
  const [, fingerprint = ""] = (await outputOf(["ssh-keygen", "-lf", `${key}.pub`])).split(" ");
  const database = ["-db", join(folder, "witness.db")];
  await outputOf([tools.witnessctl, "add-log", ...database, "-origin", origin]);
  await outputOf([tools.witnessctl, "add-key", ...database, "-origin", origin, "-key", publicKey]);
  const server = started.use(
    await startServer({
      name: "litewitness",
      url: ({ port }) => `http://localhost:${port}`,
      command: ({ port }) =>
        [
          ...[tools.litewitness, ...database, "-name", witnessName, "-key", fingerprint],
          ...["-listen", `localhost:${port}`, "-ssh-agent", agent],
        ] as [string, ...string[]],
      stopSignal: "SIGTERM",
      probeRequest: "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n",
      probeResponse: "HTTP/1.1 ",
    }),
  );
  const [, witnessKey] = /vkey=(\S+)/.exec(server.lastOutput(100)) ?? [];
  return { setting: `${server.url}#${witnessKey}`, [Symbol.asyncDispose]: () => started.disposeAsync() };
}

/** Resolves with the newest checkpoint when it has all entries and is signed by the witness. */
const publishedOf = (ledgerUrl: string) =>
  retry(
    async () => {
      const health = await request(`${ledgerUrl}/healthcheck`);
      const { transparency_log: log } = (await health.body.json()) as {
        transparency_log?: { size: number; checkpoint_size: number; behind_ms: number };
      };
      if (!log || log.size === 0 || log.behind_ms > 0 || log.size !== log.checkpoint_size)
        throw new Error("the log is behind");
      const { body } = await request(`${ledgerUrl}/log/checkpoint`);
      const checkpoint = await body.text();
      if (!checkpoint.includes(`\n\u2014 ${witnessName} `)) throw new Error("the witness has not signed");
      return checkpoint;
    },
    { forMs: publishMaxMs },
  );

/** Throws unless the programs of others find the log true. */
async function verifyAll(tools: Tools, folder: string, ledgerUrl: string, publicKey: string): Promise<void> {
  await publishedOf(ledgerUrl);
  const url = `${ledgerUrl}/log/`;
  const keyFile = join(folder, "public-key");
  await outputOf([tools.fsck, "--storage_url", url, "--public_key", keyFile, "--ui=false"]);
  say("Tessera: the log is whole");
  say((await outputOf([tools.verify, publicKey, url, join(folder, "checkpoint")])).trim());
}

/** Throws unless each checker accepts the proof, and rejects changed ones. */
async function checkProof(tools: Tools, publicKey: string, proof: string): Promise<void> {
  const checkers = {
    TypeScript: [process.execPath, example("transparency-proof/check.ts"), publicKey],
    Python: [tools.python, example("transparency-proof/check.py"), publicKey],
  };
  const changed = {
    text: proof.replace("EVENT_AT_10", "EVENT_AT_11"),
    "personal data": proof.replace("@example.org", "@example.com"),
    tag: proof.replace(/"tag": "[^"]*"/, `"tag": "${Buffer.alloc(16).toString("base64")}"`),
    index: proof.replace(/"index": (\d+)/, (_, index) => `"index": ${Number(index) + 1}`),
    checkpoint: proof.replace(/\\n(\d+)\\n/, "\\n1$1\\n"),
    "inclusion proof": proof.replace(/"inclusion_proof": \[\s*"[^"]*",/, '"inclusion_proof": ['),
    salt: proof.replace(/"salt": "[^"]*"/, `"salt": "${Buffer.alloc(16).toString("base64")}"`),
  };
  const outputs: string[] = [];
  for (const [name, command] of Object.entries(checkers)) {
    outputs.push(await outputOf(command, { input: proof }));
    for (const [what, input] of Object.entries(changed)) {
      if (input === proof) throw new Error(`the proof has no ${what}`);
      const { code, errors } = await runProcess(command, { input });
      if (code !== 1 || !errors.startsWith("not proved: "))
        throw new Error(`${name} has accepted a proof with a changed ${what}: ${errors}`);
    }
    say(`${name}: accepts the proof, and rejects ${Object.keys(changed).length} changed ones`);
  }
  if (new Set(outputs).size !== 1)
    throw new Error(`the programs print different texts:\n${outputs.join("\n")}`);
}

await runCommand("log-verifiers", usage, async (args) => {
  rejectUnknown(args, []);
  const { signal } = stopOnSignals();
  await using running = new AsyncDisposableStack();
  const { path: folder } = running.use(await mkdtempDisposable(join(tmpdir(), "log-verifiers-")));
  const tools = await install(folder);
  signal.throwIfAborted();
  const keyFile = join(folder, "key");
  const logCommand = join(root, "src/ledger/commands/log.ts");
  const publicKey = (await outputOf([process.execPath, logCommand, "make-key", origin, keyFile])).trim();
  await writeFile(join(folder, "public-key"), publicKey);
  const witness = running.use(await startWitness(tools, folder, publicKey));
  const env = { TLOG_KEY_FILE: keyFile, TLOG_PUBLIC: "true", TLOG_WITNESSES: witness.setting };
  const services = running.use(await startServices(env));
  await addPayments(services.ledgerUrl, "10:00");
  await verifyAll(tools, folder, services.ledgerUrl, publicKey);
  const [erased, ...others] = ids.slice(0, redactedCount) as [string, ...string[]];
  const prove = () => services.run("src/ledger/commands/log.ts", ["prove", erased, "--personal"]);
  await checkProof(tools, publicKey, await prove());
  signal.throwIfAborted();
  await services.run("src/ledger/commands/redact.ts", [erased, ...others]);
  await addPayments(services.ledgerUrl, "11:00");
  await verifyAll(tools, folder, services.ledgerUrl, publicKey);
  if ((await prove()).includes("@example.org"))
    throw new Error("the proof of a redacted payment has personal data");
  const checkpoint = ["--checkpoint", join(folder, "checkpoint")];
  say((await services.run("src/ledger/commands/log.ts", ["verify", ...checkpoint])).trim());
});

/** Adds an event of each payment at a time of the day. */
async function addPayments(ledgerUrl: string, time: string): Promise<void> {
  for (let start = 0; start < ids.length; start += batchSize) {
    const events = ids
      .slice(start, start + batchSize)
      .flatMap((id) =>
        story("payment", id, [time, `EVENT_AT_${time.slice(0, 2)}`, { email: `${id}@example.org` }]),
      );
    const headers = { "content-type": "application/json" };
    const { statusCode, body } = await request(`${ledgerUrl}/v1/event`, {
      method: "POST",
      headers,
      body: JSON.stringify(events),
    });
    const text = await body.text();
    if (statusCode !== 202) throw new Error(text);
  }
}
