import { chmodSync, globSync, mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, expect, test } from "vitest";
import { describeNeeding } from "../../testing/describe-needing.ts";
import { run } from "../../testing/run.ts";
import { isPgbouncerInstalled } from "../../testing/servers/pgbouncer.ts";
import { isPostgresInstalled } from "../../testing/servers/postgres.ts";
import { isRabbitmqInstalled, rabbitmq4 } from "../../testing/servers/rabbitmq.ts";
import { isRedisInstalled } from "../../testing/servers/redis.ts";

// All that is started here has its folder in this one, which other users may enter.
const scratch = mkdtempSync(join(tmpdir(), "servers-"));
chmodSync(scratch, 0o755);
afterAll(() => rmSync(scratch, { recursive: true }));

/** The processes that work in the scratch folder, or have been told of it. */
const processesLeft = () =>
  globSync("/proc/[0-9]*").filter((path) => {
    try {
      const told = readlinkSync(`${path}/cwd`) + readFileSync(`${path}/environ`, "utf8");
      return told.includes(scratch);
    } catch {
      return false;
    }
  });

const runServers = (args: string[], env = {}) =>
  run("scripts/servers/servers.ts", { args, env: { TMPDIR: scratch, ...env } });

const areInstalled =
  isPostgresInstalled() && isPgbouncerInstalled() && isRabbitmqInstalled() && isRedisInstalled();
describeNeeding("PostgreSQL, PgBouncer, RabbitMQ or Redis", areInstalled)("npm run servers", () => {
  afterEach(() => expect([processesLeft(), readdirSync(scratch)]).toEqual([[], []]));

  test("runs a command with the servers' addresses, and ends with its exit code", async () => {
    const names = "TEST_POSTGRES_URL: p, TEST_AMQP_URL: a, TEST_REDIS_URL: r, TEST_REDIS_CLUSTER_URL: c";
    const command = `const { ${names} } = process.env; console.log(p, a, r, c); process.exit(7)`;
    const args = [process.execPath, "-e", command];
    const address = (scheme: string) => `${scheme}127\\.0\\.0\\.1:\\d+`;
    const addresses = [
      `${address("postgres://postgres@")}/postgres`,
      address("amqp://guest:guest@"),
      address("redis://"),
      [address("redis\\+cluster://"), address(""), address("")].join(),
    ];
    expect(await runServers(args).exit).toEqual({
      code: 7,
      output: expect.stringMatching(`^${addresses.join(" ")}\n$`),
      errors: "",
    });
  });

  test("runs until it is stopped, by a Ctrl-C that comes twice", async () => {
    const { child, exit, waitForOutput } = runServers([]);
    await waitForOutput("TEST_REDIS_CLUSTER_URL=redis+cluster://");
    expect(processesLeft().length).toBeGreaterThan(3);
    child.kill("SIGINT");
    child.kill("SIGINT");
    expect(await exit).toMatchObject({ code: 0, errors: "" });
  });

  test("stops the command, then the servers", async () => {
    const { child, exit, waitForOutput } = runServers(["sh", "-c", "echo begun; exec sleep 1000"]);
    await waitForOutput("begun");
    child.kill("SIGTERM");
    expect(await exit).toMatchObject({ code: 128 + 15, errors: "" });
  });
});

const nothingIsMissing = areInstalled && rabbitmq4() !== undefined;
describeNeeding("RabbitMQ 4 or another server", nothingIsMissing)("npm run servers -- --install", () => {
  test("has nothing to install", async () => {
    expect(await runServers(["--install"]).exit).toMatchObject({
      code: 0,
      output:
        "there is PostgreSQL, RabbitMQ, Redis, Redis Cluster, PgBouncer, RabbitMQ 4: nothing to install\n",
    });
  });
});

test("npm run servers tells what is missing, and how to install it", async () => {
  const { code, output, errors } = await runServers(["true"], { PATH: scratch }).exit;
  expect([code, output]).toEqual([1, ""]);
  expect(errors).toMatch(
    /^servers: not installed: .*Redis, Redis Cluster; npm run servers -- --install installs what is missing\n$/,
  );
});

test("npm run servers knows no other options", async () => {
  expect(await runServers(["--instal"]).exit).toMatchObject({
    code: 2,
    errors: "servers: unknown: --instal; known: COMMAND ARG..., --install, --help\n",
  });
});
