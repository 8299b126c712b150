import { once } from "node:events";
import { chmodSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { request } from "undici";
import { describe, expect, test } from "vitest";
import { runProcess, startProcess } from "../testing/child-process.ts";
import { eventually } from "../testing/eventually.ts";
import { freePort } from "../testing/free-port.ts";
import { newFolder, run } from "../testing/run.ts";
import { openDatabase } from "./database/database.ts";
import { newEmbedded } from "./database/new-database.fixture.ts";
import { migrate } from "./ledger/tables/migrate.ts";

/** The end of a start with these settings, of both services or of one. */
const startOf = (env: object, ...args: string[]) => run("src/main.ts", { env: { ...env }, args }).exit;

const memory = { DATABASE_URL: "pglite:memory", QUEUE_URL: "memory:", LEDGER_PORT: "0", FEATURES_PORT: "0" };

describe("wrong settings", () => {
  test("are all reported by name, without their values, with exit code 2", async () => {
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
    const { code, output, errors } = await startOf(env);
    expect(code).toBe(2);
    expect(output + errors).not.toContain(secret);
    expect(errors.trim().split("\n").sort()).toEqual([
      "start: AUTH_AUDIENCE must be set together with AUTH_JWKS_URL and AUTH_ISSUER",
      "start: AUTH_JWKS_URL must be a URL of http: or https:, without credentials",
      expect.stringMatching(
        /^start: DATABASE_URL must be one of pglite:FOLDER or pglite:memory, postgres:\/\//,
      ),
      "start: FEATURES_PORT must be a whole number from 0 to 65535",
      expect.stringMatching(/^start: FEATURES_STORE_URL must be one of memory:, lmdb:FOLDER, redis:/),
      "start: LEDGER_PORT must be a whole number from 0 to 65535",
      "start: LOG_FORMAT must be one of auto, text, json",
      "start: LOG_LEVEL must be one of fatal, error, warn, info, debug, trace, silent",
      "start: PUBLIC_URL must be a URL of http: or https:, without credentials and query",
      "start: QUEUE_RECEIVER_BACKGROUND_PROCESSING must be true or false",
      "start: QUEUE_URL has a parameter prot that sqs+embedded: does not have; known: port",
      "start: TRUSTED_PROXIES must be a list of addresses, networks such as 10.0.0.0/8, loopback, linklocal, uniquelocal",
    ]);
  });

  test.each([
    [{ QUEUE_URL: "sqs+embedded:./q?port=x" }, "QUEUE_URL has a parameter port that is not a whole number"],
    [{ DATABASE_URL: "pglite:" }, "DATABASE_URL has no folder"],
    [{ DATABASE_URL: "./data" }, "DATABASE_URL must be one of"],
  ])("are reported with the reason: %j", async (env, message) => {
    const { code, errors } = await startOf(env, "ledger");
    expect(errors).toContain(message);
    expect(code).toBe(2);
  });

  test("for one service cannot be given to both", async () => {
    const { code, errors } = await startOf({ PUBLIC_URL: "https://a.test" });
    expect(errors).toBe(
      "start: PUBLIC_URL is for a process that runs one service; TRUSTED_PROXIES is for both\n",
    );
    expect(code).toBe(2);
  });

  test("and an unknown service end with exit code 2", async () => {
    const { code, errors } = await startOf({}, "lodger");
    expect([code, errors]).toEqual([2, "start: unknown: lodger; known: ledger, features, --help\n"]);
  });
});

describe("a failed start prints one line, with exit code 1:", () => {
  test("no binary of the default feature store for this machine", async () => {
    // The package reads the name of the platform from this variable first.
    const env = { npm_config_platform: "plan9" };
    const { code, errors } = await startOf(env, "features");
    expect(errors).toMatch(
      /^start: features: the package lmdb does not run on this machine \(No native build .*\); set FEATURES_STORE_URL to .* memory:.*\n$/,
    );
    expect(code).toBe(1);
  });

  test("a port in use", async () => {
    await using server = createServer().listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as { port: number };
    await using made = await newEmbedded();
    const env = { ...memory, DATABASE_URL: made.url, LEDGER_PORT: String(port) };
    const { code, errors } = await startOf(env);
    expect(errors).toBe(
      `start: ledger: port ${port} of 127.0.0.1 is in use by another program; set LEDGER_PORT to another port (0 selects a free one)\n`,
    );
    expect(code).toBe(1);
    const queue = { ...memory, QUEUE_URL: `sqs+embedded:${newFolder()}?port=${port}` };
    expect((await startOf(queue)).errors).toMatch(
      `start: ledger: port ${port} of the embedded queue is in use by another program; set QUEUE_URL to sqs+embedded:FOLDER?port=PORT`,
    );
  });

  test("an address that this machine does not have", async () => {
    const { code, errors } = await startOf({ ...memory, HOST: "192.0.2.1" }, "features");
    expect(errors).toMatch(/^start: features: HOST 192.0.2.1 is no address of this machine: .*\n$/);
    expect(code).toBe(1);
  });

  test("a data folder in use by another process", async () => {
    await using made = await newEmbedded();
    const env = { ...memory, DATABASE_URL: made.url };
    const first = run("src/main.ts", { env, args: ["ledger"] });
    await first.waitForOutput("listening");
    const second = await startOf(env, "ledger");
    const holder = `is in use by process ${first.child.pid} (main.ts)`;
    expect(second.errors).toMatch(/^start: ledger: the folder .* is in use by .*\n$/);
    expect(second.errors).toContain(holder);
    expect(second.output).toContain(`${holder}; it is awaited for 5 s`);
    expect(second.code).toBe(1);
    first.child.kill("SIGTERM");
    expect((await first.exit).code).toBe(0);
  });

  test("tables of a newer release", async () => {
    await using made = await newEmbedded();
    {
      await using database = await openDatabase(made.url);
      await migrate(database);
      await database.query("insert into migration (name) values ('9999-newer.sql')");
    }
    const { code, errors } = await startOf({ ...memory, DATABASE_URL: made.url }, "ledger");
    expect({ code, errors }).toEqual({
      code: 1,
      errors:
        "start: ledger: the database has the migrations 9999-newer.sql, which this version does not know; " +
        "start the newer version, or restore a backup from before these migrations\n",
    });
  });

  test("a folder that cannot be written", async () => {
    const file = join(newFolder(), "file");
    writeFileSync(file, "");
    chmodSync(file, 0o400);
    for (const url of [`pglite:${file}`, `pglite:${file}/below`]) {
      const { code, errors } = await startOf({ ...memory, DATABASE_URL: url }, "ledger");
      expect(errors).toMatch(/^start: ledger: the folder .* cannot be written: E\w+\n$/);
      expect(code).toBe(1);
    }
  });
});

describe("a stop", () => {
  test.each(["SIGTERM", "SIGINT"] as const)("by %s ends both services with exit code 0", async (signal) => {
    await using made = await newEmbedded();
    const services = run("src/main.ts", { env: { ...memory, DATABASE_URL: made.url } });
    await eventually(() => expect(services.output().match(/listening/g)).toHaveLength(2));
    services.child.kill(signal);
    expect(await services.exit).toMatchObject({ code: 0, errors: "" });
  });

  test("while the ledger creates its database ends both services too", async () => {
    const services = run("src/main.ts", { env: { ...memory, DATABASE_URL: `pglite:${newFolder()}` } });
    await services.waitForOutput('"service":"features","docs"');
    expect(services.output()).not.toContain('"database"');
    services.child.kill("SIGINT");
    expect(await services.exit).toMatchObject({ code: 0, errors: "" });
  });
});

test("an address that is not loopback causes a warning if authentication is off", async () => {
  const authentication = {
    AUTH_JWKS_URL: "http://127.0.0.1:1/keys",
    AUTH_ISSUER: "https://issuer.test/",
    AUTH_AUDIENCE: "https://services.test/",
  };
  for (const [env, warnings] of [
    [{}, 1],
    [authentication, 0],
  ] as const) {
    const services = run("src/main.ts", { env: { ...memory, HOST: "0.0.0.0", ...env }, args: ["features"] });
    await services.waitForOutput("listening");
    services.child.kill("SIGTERM");
    const { output } = await services.exit;
    expect(output.split("\n").filter((line) => line.includes('"level":40'))).toHaveLength(warnings);
  }
});

test("at level info, a service logs only that it starts, and its addresses", async () => {
  const port = String(await freePort());
  const services = run("src/main.ts", { env: { ...memory, FEATURES_PORT: port }, args: ["features"] });
  await services.waitForOutput("listening");
  await request(`http://127.0.0.1:${port}/features/a/b`).then(({ body }) => body.dump());
  services.child.kill("SIGTERM");
  const { output } = await services.exit;
  expect(
    output
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line)),
  ).toMatchObject([
    { msg: "starting features; Ctrl-C stops this process" },
    {
      service: "features",
      msg: `Server listening at http://127.0.0.1:${port}`,
      docs: `http://127.0.0.1:${port}/docs`,
      store: "lmdb:./data/features",
    },
  ]);
});

test("on a terminal the log is text, unless LOG_FORMAT is json", async () => {
  const program = fileURLToPath(new URL("main.ts", import.meta.url));
  for (const [format, line] of [
    ["auto", /^\d\d:\d\d:\d\d INFO {2}features Server listening at http:\/\/127\.0\.0\.1:\d+\r$/m],
    ["json", /^\{"level":30,.*"msg":"Server listening at .*"\}\r$/m],
  ] as const) {
    // The program of util-linux gives its command a terminal.
    const terminal = startProcess(
      ["script", "--quiet", "--return", "--command", `${process.execPath} ${program} features`, "/dev/null"],
      { cwd: newFolder(), env: { ...process.env, ...memory, LOG_FORMAT: format, NO_COLOR: "1" } },
    );
    await eventually(() => expect(terminal.output()).toMatch(line));
    await terminal[Symbol.asyncDispose]();
  }
});

test("npm start with an older Node.js says which one is required", async () => {
  const preload = fileURLToPath(new URL("../scripts/require-node.cjs", import.meta.url));
  const older = "Object.defineProperty(process.versions, 'node', { value: '20.20.2' })";
  const { code, errors } = await runProcess([
    ...[process.execPath, "--import", `data:text/javascript,${older}`, "--import", preload],
    fileURLToPath(new URL("main.ts", import.meta.url)),
  ]);
  expect(errors).toMatch(/^Node\.js 24 or newer is required; this is v.*\n$/);
  expect(code).toBe(1);
});
