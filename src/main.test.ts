import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { request } from "undici";
import { describe, expect, test } from "vitest";
import { runProcess, startProcess } from "../testing/child-process.ts";
import { describeIfAvailable } from "../testing/describe-if-available.ts";
import { describeOnSmallDisk } from "../testing/describe-small-disk.ts";
import { eventually } from "../testing/eventually.ts";
import { freePort } from "../testing/free-port.ts";
import { newFolder, run } from "../testing/run.ts";
import { openDatabase } from "./database/databases.ts";
import { newEmbedded, newPostgres, postgresServer } from "./database/new-database.fixture.ts";
import { openFeatureStore } from "./features/store/stores.ts";
import { statusOf } from "./http/service.fixture.ts";
import { migrate } from "./ledger/tables/migrate.ts";
import { fatalMessages, inMemory, runServices, urlIn } from "./main.fixture.ts";

const program = fileURLToPath(new URL("main.ts", import.meta.url));

test("an error that ends the process is a line of text for people, and of JSON where the log is JSON", async () => {
  const env = { ...inMemory, LEDGER_PORT: "x" };
  const message = "LEDGER_PORT must be a whole number from 0 to 65535";
  for (const LOG_FORMAT of ["text", "json", "auto", "json\n", "yaml"]) {
    const { errors, output } = await runServices({ ...env, LOG_FORMAT }).exit;
    expect(output).toBe("");
    if (LOG_FORMAT === "text") expect(errors).toBe(`start: ${message}\n`);
    else expect(fatalMessages(errors)).toContain(message);
  }
});

test("wrong settings are all reported by name, without their values, with exit code 2", async () => {
  const secret = "hunter2";
  const env = {
    FEATURES_PORT: "99999",
    LEDGER_PORT: secret,
    DATABASE_URL: `mysql://user:${secret}@host`,
    QUEUE_URL: `sqs+embedded:./q?prot=${secret}`,
    FEATURES_STORE_URL: secret,
    QUEUE_RECEIVER_BACKGROUND_PROCESSING: "yes",
    AUTH_JWKS_URL: `ftp://${secret}`,
    AUTH_ISSUER: secret,
    LOG_LEVEL: "loud",
    LOG_FORMAT: "xml",
    PUBLIC_URL: `https://a.test/?key=${secret}`,
    TRUSTED_PROXIES: `10.0.0.0/33,${secret}`,
  };
  const { code, output, errors } = await runServices(env).exit;
  expect(code).toBe(2);
  expect(output + errors).not.toContain(secret);
  expect(fatalMessages(errors).sort()).toEqual([
    "AUTH_AUDIENCE must be set together with AUTH_JWKS_URL and AUTH_ISSUER",
    "AUTH_JWKS_URL must be a URL of http: or https:, without credentials",
    expect.stringMatching(/^DATABASE_URL must be one of pglite:FOLDER or pglite:memory, postgres:\/\//),
    "FEATURES_PORT must be a whole number from 0 to 65535",
    expect.stringMatching(/^FEATURES_STORE_URL must be one of memory:, lmdb:FOLDER, redis:/),
    "LEDGER_PORT must be a whole number from 0 to 65535",
    "LOG_FORMAT must be one of auto, text, json",
    "LOG_LEVEL must be one of fatal, error, warn, info, debug, trace, silent",
    "PUBLIC_URL must be a URL of http: or https:, without credentials and query, with up to 2000 characters",
    "QUEUE_RECEIVER_BACKGROUND_PROCESSING must be true or false",
    "QUEUE_URL has a parameter prot that sqs+embedded: does not have; known: port, allowed_hosts",
    "TRUSTED_PROXIES must be a list of addresses, networks such as 10.0.0.0/8, loopback, linklocal, uniquelocal",
  ]);
});

test("KEEP_ALIVE_TIMEOUT_MS decides how long an idle connection stays open", async () => {
  const services = runServices({ ...inMemory, KEEP_ALIVE_TIMEOUT_MS: "3620000" }, ["features"]);
  await services.isListening();
  const { headers, body } = await request(urlIn(services.output()));
  await body.dump();
  expect(headers["keep-alive"]).toBe("timeout=3620");
  await services.stop();
});

test("a setting of the service that a process does not run is no mistake", async () => {
  const services = runServices({ ...inMemory, EVENT_WRITES: "true", LOG_LEVEL: "warn", LOG_FOLDER: "a" }, [
    "features",
  ]);
  await services.waitForOutput("LOG_FOLDER is not a setting and has no effect; did you mean LOG_FORMAT?");
  expect(await services.stop()).not.toContain("EVENT_WRITES");
});

test("variables that are probably misspelt settings are named with the nearest setting", async () => {
  const env = {
    ...inMemory,
    EVENT_WRITE: "true",
    QUEUE_RECEIVER_BATCHSIZE: "9",
    // Variables of a cluster and of the system are no mistakes.
    LEDGER_PORT_80_TCP: "tcp://10.0.0.1:80",
    FEATURES_SERVICE_HOST: "10.0.0.1",
    HOSTNAME: "machine",
    // The white space of a secret that was made with echo.
    FEATURES_STORE_URL: "memory:\n",
    LOG_LEVEL: " info\r\n",
  };
  const services = runServices(env);
  await services.isListening(2);
  await services.stop();
  const warnings = services.output().matchAll(/"msg":"(\w+ is not a setting[^"]*)"/g);
  expect(Array.from(warnings, ([, text]) => text)).toEqual([
    "EVENT_WRITE is not a setting and has no effect; did you mean EVENT_WRITES?",
    "QUEUE_RECEIVER_BATCHSIZE is not a setting and has no effect; did you mean QUEUE_RECEIVER_BATCH_SIZE?",
  ]);
});

/** Expects that a start prints one line. */
async function refuses(env: object, services: string[], code: number, line: string | RegExp) {
  const exit = await runServices({ ...inMemory, ...env }, services).exit;
  const messages = fatalMessages(exit.errors);
  expect(messages).toHaveLength(1);
  expect(`${messages[0]}\n`).toMatch(line);
  expect(exit.code).toBe(code);
  return { ...exit, errors: `${messages[0]}\n` };
}

describe("a start prints one line if it is impossible:", () => {
  const noBinary =
    /^features: the package lmdb does not run on this machine \(No native build .*\); set FEATURES_STORE_URL to .* memory:/;
  const noAddress = /^features: HOST 192.0.2.1 is no address of this machine: /;
  const forOne = "PUBLIC_URL is for a process that runs one service; TRUSTED_PROXIES is for both\n";
  test.each<[string, env: object, services: string[], code: number, line: string | RegExp]>([
    ["a port of a queue", { QUEUE_URL: "sqs+embedded:./q?port=x" }, ["ledger"], 2, "is not a whole number"],
    ["no folder", { DATABASE_URL: "pglite:" }, ["ledger"], 2, "DATABASE_URL has no folder"],
    ["no scheme", { DATABASE_URL: "./data" }, ["ledger"], 2, "DATABASE_URL must be one of"],
    ["a URL of one service for both", { PUBLIC_URL: "https://a.test" }, [], 2, forOne],
    ["an unknown service", {}, ["lodger"], 2, "unknown: lodger; known: ledger, features, --help\n"],
    // The package reads the name of the platform from this variable first.
    ["no binary", { npm_config_platform: "plan9", FEATURES_STORE_URL: "" }, ["features"], 1, noBinary],
    ["an address of another machine", { HOST: "192.0.2.1" }, ["features"], 1, noAddress],
  ])("%s", async (_name, env, services, code, line) => {
    await refuses(env, services, code, line);
  });

  test("a port in use", async () => {
    await using server = createServer().listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as { port: number };
    const others = "set LEDGER_PORT to another port (0 selects a free one)";
    const inUse = `ledger: port ${port} of 127.0.0.1 is in use by another program; ${others}\n`;
    await refuses({ LEDGER_PORT: String(port) }, [], 1, inUse);
    const QUEUE_URL = `sqs+embedded:${newFolder()}?port=${port}`;
    const queue =
      "of the embedded queue is in use by another program; set QUEUE_URL to sqs+embedded:FOLDER?port=";
    await refuses({ QUEUE_URL }, [], 1, `ledger: port ${port} ${queue}`);
  });

  test("a data folder in use by another process", async () => {
    await using made = await newEmbedded();
    const env = { DATABASE_URL: made.url };
    const first = runServices({ ...inMemory, ...env }, ["ledger"]);
    await first.isListening();
    const holder = `is in use by process ${first.child.pid} (main.ts)`;
    const { errors, output } = await refuses(env, ["ledger"], 1, /^ledger: the folder .* is in use by .*\n$/);
    expect(errors).toContain(holder);
    expect(output).toContain(`${holder}; it is awaited for 5 s`);
    await first.stop();
  });

  test("tables of a newer release", async () => {
    await using made = await newEmbedded();
    {
      await using database = await openDatabase(made.url);
      await migrate(database);
      await database.query("insert into migration (name) values ('9999-newer.sql')");
    }
    const advice = "start the newer version, or restore a backup from before these migrations";
    const line = `ledger: the database has the migrations 9999-newer.sql, which this version does not know; ${advice}\n`;
    await refuses({ DATABASE_URL: made.url }, ["ledger"], 1, line);
  });

  test("a folder that cannot be written", async () => {
    const file = join(newFolder(), "file");
    writeFileSync(file, "");
    chmodSync(file, 0o400);
    const line =
      /^\w+: the folder .* cannot be written: (there is a file of this name|a part of its path is a file)\n$/;
    for (const folder of [file, `${file}/below`]) {
      await refuses({ DATABASE_URL: `pglite:${folder}` }, ["ledger"], 1, line);
      await refuses({ FEATURES_STORE_URL: `lmdb:${folder}` }, ["features"], 1, line);
    }
  });

  test("a file that is not one of LMDB", async () => {
    for (const bytes of [Buffer.from("text"), randomBytes(20_000)]) {
      const folder = newFolder();
      writeFileSync(join(folder, "data.mdb"), bytes);
      const line = /^features: .*data.mdb is damaged or not a store of features; restore a copy, or .*\n$/;
      await refuses({ FEATURES_STORE_URL: `lmdb:${folder}` }, ["features"], 1, line);
    }
  });
});

describeOnSmallDisk("on a read-only disk a start says so", 16, (openDisk) => {
  test("for new folders and for those of an earlier start", async () => {
    await using disk = await openDisk();
    const settingsIn = (folder: string) => ({
      DATABASE_URL: `pglite:${join(disk.folder, folder, "ledger")}`,
      QUEUE_URL: `sqs+embedded:${join(disk.folder, folder, "queue")}?port=0`,
      FEATURES_STORE_URL: `lmdb:${join(disk.folder, folder, "features")}`,
    });
    for (const name of ["ledger", "queue"]) mkdirSync(join(disk.folder, "old", name), { recursive: true });
    await (await openFeatureStore(settingsIn("old").FEATURES_STORE_URL))[Symbol.asyncDispose]();
    await disk.makeReadOnly();
    const line = /its file system is read-only\n$/;
    for (const folder of ["old", "new/below"]) {
      const { DATABASE_URL, QUEUE_URL, FEATURES_STORE_URL } = settingsIn(folder);
      await refuses({ DATABASE_URL }, ["ledger"], 1, line);
      await refuses({ QUEUE_URL }, ["ledger"], 1, line);
      await refuses({ FEATURES_STORE_URL }, ["features"], 1, line);
    }
  });
});

describeIfAvailable("TEST_POSTGRES_URL", postgresServer !== undefined)("URLs with several hosts", () => {
  test("are those of the ledger and of its commands", async () => {
    await using made = await newPostgres();
    const env = {
      ...inMemory,
      DATABASE_URL: made.url.replace(new URL(made.url).host, "127.0.0.1:1,$&"),
      QUEUE_URL: "kafka://127.0.0.1:1,127.0.0.1:2/events",
    };
    const services = runServices({ ...env, QUEUE_URL: "memory:" }, ["ledger"]);
    await services.isListening();
    await services.stop();
    const redact = run("src/ledger/commands/redact.ts", { env, args: ["unknown", "--unknown", "--rewrite"] });
    expect((await redact.exit).code).toBe(0);
  });
});

describe("a stop", () => {
  test.each(["SIGTERM", "SIGINT"] as const)("by %s ends both services with exit code 0", async (signal) => {
    await using made = await newEmbedded();
    const services = runServices({ ...inMemory, DATABASE_URL: made.url });
    await services.isListening(2);
    await services.stop(signal);
  });

  test("while the ledger creates its database ends both services too", async () => {
    const services = runServices({ ...inMemory, DATABASE_URL: `pglite:${newFolder()}` });
    await services.waitForOutput('"service":"features","docs"');
    expect(services.output()).not.toContain('"database"');
    await services.stop("SIGINT");
  });
});

const tokens = {
  ...{ AUTH_JWKS_URL: "http://127.0.0.1:1/", AUTH_ISSUER: "https://a/", AUTH_AUDIENCE: "https://b/" },
  AUDIT_DATABASE_URL: "postgres://u:p@127.0.0.1:1/db",
};
const open = /anyone who can reach this address/;
test.each([
  ["causes a warning without tokens", {}, [open]],
  ["causes none with tokens", tokens, []],
  [
    "causes none with tokens, but the lack of records does",
    { ...tokens, AUDIT_DATABASE_URL: "" },
    [/^changes of features are not recorded/],
  ],
])("an address that is not loopback %s", async (_, env, warnings) => {
  const services = runServices({ ...inMemory, HOST: "0.0.0.0", ...env }, ["features"]);
  await services.isListening();
  const output = await services.stop();
  const lines = output.split("\n").filter((line) => line.includes('"level":40'));
  expect(lines.map((line) => JSON.parse(line).msg)).toEqual(
    warnings.map((text) => expect.stringMatching(text)),
  );
});

test("at level info, a service logs only that it starts, and its addresses", async () => {
  const base = `http://127.0.0.1:${await freePort()}`;
  const env = { ...inMemory, FEATURES_PORT: new URL(base).port, FEATURES_STORE_URL: "" };
  const services = runServices(env, ["features"], newFolder());
  await services.isListening();
  await statusOf(`${base}/features/a/b`);
  const lines = (await services.stop()).trim().split("\n");
  const pages = { console: `${base}/console`, docs: `${base}/docs` };
  const listening = { service: "features", ...pages, store: "lmdb:./data/features" };
  expect(lines.map((line) => JSON.parse(line))).toMatchObject([
    { msg: "authentication is off: accesses are not recorded" },
    { msg: "starting features; Ctrl-C stops this process" },
    { msg: `Server listening at ${base}`, ...listening },
  ]);
});

test.each([
  ["auto", /^\d\d:\d\d:\d\d INFO {2}features Server listening at http:\/\/127\.0\.0\.1:\d+\r$/m],
  ["json", /^\{"level":30,.*"msg":"Server listening at .*"\}\r$/m],
])("on a terminal the log is text, unless LOG_FORMAT is json: %s", async (LOG_FORMAT, line) => {
  // The program of util-linux gives its command a terminal.
  const command = `${process.execPath} ${program} features`;
  await using terminal = startProcess(["script", "--quiet", "--return", "--command", command, "/dev/null"], {
    ...{ cwd: newFolder(), env: { ...process.env, ...inMemory, LOG_FORMAT, NO_COLOR: "1" } },
  });
  await eventually(() => expect(terminal.output()).toMatch(line));
});

test("npm start with an older Node.js says which one is required", async () => {
  const preload = fileURLToPath(new URL("../scripts/require-node.cjs", import.meta.url));
  const older = "Object.defineProperty(process.versions, 'node', { value: '20.20.2' })";
  const preloads = ["--import", `data:text/javascript,${older}`, "--import", preload];
  const { code, errors } = await runProcess([process.execPath, ...preloads, program]);
  expect(errors).toMatch(/^Node\.js 24 or newer is required; this is v.*\n$/);
  expect(code).toBe(1);
});
