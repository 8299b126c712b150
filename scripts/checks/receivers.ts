import { copyFile, mkdtempDisposable } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Webhook } from "standardwebhooks";
import { request } from "undici";
import { rejectUnknown, runCommand, say } from "../../src/process/command.ts";
import { stopOnSignals } from "../../src/process/stop.ts";
import { retry } from "../../src/waiting/retry.ts";
import { outputOf } from "../../testing/child-process.ts";
import { story } from "../../testing/messages.ts";
import { root } from "../../testing/project.ts";
import { findProgram, startServer } from "../../testing/servers/server.ts";
import { startServices } from "../../testing/services.ts";
import { openWebhook, type Received } from "../../testing/webhook.ts";
import { installPythonPackages } from "./generators/install.ts";
import { versions } from "./generators/versions.ts";

const usage = `Usage: npm run receivers

Runs the programs examples/webhook-*, which receive webhooks, and a ledger that publishes events to them. Each must print
every event once, although requests are repeated, and respond with 204 to what is signed and with 401 to what is forged.

A program whose language is not installed is skipped, with a message; with CI=true that is an error.

  --help   print this text
`;

const arriveMaxMs = 60_000;
const program = (path: string) => join(root, "examples", path);

/** Compiles the program in Go in a folder. Resolves with its command. */
async function buildInGo(folder: string): Promise<string[]> {
  await copyFile(program("webhook-go/receive.go"), join(folder, "receive.go"));
  for (const step of [
    "mod init example",
    `get ${versions.goStandardWebhooks}`,
    "vet .",
    "build -o receive .",
  ])
    await outputOf(["go", ...step.split(" ")], { cwd: folder });
  return [join(folder, "receive")];
}

/** The programs, with what makes the command of each. */
const receivers: Record<string, { needs?: string; build(folder: string): Promise<string[]> }> = {
  typescript: { build: async () => [process.execPath, program("webhook-typescript/receive.ts")] },
  python: {
    needs: "python3",
    build: async () => [
      join(await installPythonPackages(versions.pythonStandardWebhooks), "python"),
      program("webhook-python/receive.py"),
    ],
  },
  go: { needs: "go", build: buildInGo },
};

type Receiver = Awaited<ReturnType<typeof startReceiver>>;

async function startReceiver(name: string, command: string[], secret: string) {
  const server = await startServer({
    name: `webhook-${name}`,
    url: ({ port }) => `http://127.0.0.1:${port}`,
    command: () => command as [string, ...string[]],
    environment: ({ port }) => ({ PORT: String(port), WEBHOOK_SECRET: secret }),
    stopSignal: "SIGTERM",
    probeRequest: "GET / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n",
    probeResponse: "HTTP/1.1 ",
  });
  return {
    name,
    url: server.url,
    /** The lines that it has printed, sorted. */
    lines: () => server.lastOutput(1000).split("\n").toSorted(),
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

const lineOf = ({ body }: Received): string => {
  const { event_type, resource_type, resource_external_id } = JSON.parse(body);
  return `${event_type} ${resource_type}/${resource_external_id}`;
};

/** Throws unless the receiver prints an event for each of these and nothing else. Waits for them. */
async function expectPrinted({ name, lines }: Receiver, events: Received[]): Promise<void> {
  const expected = events.map(lineOf).toSorted().join("\n");
  await retry(
    async () => {
      const found = lines().join("\n");
      if (found !== expected) throw new Error(`${name} printed\n${found}\ninstead of\n${expected}`);
    },
    { forMs: arriveMaxMs },
  );
}

/** Throws unless the receiver responds with the status to a request with this signature. */
async function expectStatus(receiver: Receiver, { id, body }: Received, signature: string, expected: number) {
  const headers = {
    "content-type": "application/json",
    "webhook-id": id,
    "webhook-timestamp": String(Math.floor(Date.now() / 1000)),
    ...(signature && { "webhook-signature": signature }),
  };
  const response = await request(receiver.url, { method: "POST", headers, body });
  await response.body.dump();
  const status = response.statusCode;
  if (status !== expected) throw new Error(`${receiver.name} responded with ${status} to "${signature}"`);
}

/** Sends a request of the ledger again, and forged ones. */
async function repeatAndForge(receiver: Receiver, received: Received, secret: string): Promise<void> {
  const signedBy = (key: string, { id, body }: Received) => new Webhook(key).sign(id, new Date(), body);
  const signature = signedBy(secret, received);
  await expectStatus(receiver, received, signature, 204);
  const other = `whsec_${Buffer.from("the secret of somebody else").toString("base64")}`;
  const changed = { ...received, body: received.body.replace("payment", "refund") };
  const renamed = { ...received, id: `${received.id}-again` };
  await expectStatus(receiver, received, signedBy(other, received), 401);
  await expectStatus(receiver, changed, signature, 401);
  await expectStatus(receiver, renamed, signature, 401);
  for (const malformed of ["", "v1", "v1,", "v2,x", "v1,é"])
    await expectStatus(receiver, received, malformed, 401);
}

const payments = (name: string, count: number) =>
  Array.from({ length: count }, (_, index) =>
    story(
      "payment",
      `${name}-${index}`,
      ["10:00", "PAYMENT_CREATED", { amount: 5 }],
      ["10:01", "PAYMENT_STARTED"],
    ),
  ).flat();

async function add(ledgerUrl: string, events: object[]): Promise<void> {
  const headers = { "content-type": "application/json" };
  const body = JSON.stringify(events);
  const response = await request(`${ledgerUrl}/v1/event`, { method: "POST", headers, body });
  if (response.statusCode !== 202) throw new Error(await response.body.text());
}

await runCommand("receivers", usage, async (args) => {
  rejectUnknown(args, []);
  const { signal } = stopOnSignals();
  await using running = new AsyncDisposableStack();
  const { path: folder } = running.use(await mkdtempDisposable(join(tmpdir(), "receivers-")));
  // It knows what the ledger sends, and holds it against the contract.
  const webhook = running.use(await openWebhook());
  const secret = decodeURIComponent(new URL(webhook.url).password);
  const started: Receiver[] = [];
  for (const [name, { needs, build }] of Object.entries(receivers)) {
    if (needs && findProgram(needs) === undefined) {
      if (process.env.CI) throw new Error(`${needs} is not installed`);
      say(`${name}: SKIPPED: not installed: ${needs}`);
    } else started.push(running.use(await startReceiver(name, await build(folder), secret)));
  }
  const urlTo = ({ url }: Receiver) => url.replace("//", `//:${encodeURIComponent(secret)}@`);
  const targets = [webhook.url, ...started.map(urlTo)];
  const { ledgerUrl } = running.use(await startServices({ PUBLISH_URL: targets.join(" ") }));
  await retry(
    async () => {
      const { body } = await request(`${ledgerUrl}/healthcheck`);
      const { publishing = [] } = (await body.json()) as { publishing?: object[] };
      if (publishing.length < targets.length) throw new Error("the ledger does not publish");
    },
    { forMs: arriveMaxMs },
  );
  for (const [round, count] of [20, 1].entries()) {
    await add(ledgerUrl, payments(`round-${round}`, count));
    const expected = round === 0 ? 40 : 42;
    const received = () => [...new Map(webhook.received.map((one) => [one.id, one])).values()];
    await retry(
      async () => {
        signal.throwIfAborted();
        if (received().length < expected) throw new Error("an event has not arrived");
      },
      { forMs: arriveMaxMs },
    );
    for (const receiver of started) {
      // The second round shows that the repetitions of the first were not printed.
      await expectPrinted(receiver, received());
      for (const one of received().slice(0, 3)) await repeatAndForge(receiver, one, secret);
      if (round === 1) say(`${receiver.name}: printed each of ${expected} events once`);
    }
  }
});
