import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, globSync, mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { afterAll, afterEach, expect, test } from "vitest";
import { describeNeeding } from "../testing/describe-needing.ts";
import { eventually } from "../testing/eventually.ts";
import { isPgbouncerInstalled } from "../testing/servers/pgbouncer.ts";
import { isPostgresInstalled } from "../testing/servers/postgres.ts";
import { isRabbitmqInstalled, rabbitmq4 } from "../testing/servers/rabbitmq.ts";
import { isRedisInstalled } from "../testing/servers/redis.ts";

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

const program = fileURLToPath(new URL("servers.ts", import.meta.url));
function run(args: string[], env = {}) {
  const script = spawn(process.execPath, [program, ...args], {
    env: { ...process.env, TMPDIR: scratch, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  script.stdout.on("data", (chunk) => (output += chunk));
  const ended = Promise.all([once(script, "exit"), text(script.stderr)]).then(([[code], errors]) => ({
    code,
    output,
    errors,
  }));
  return {
    script,
    ended,
    says: (words: string) => eventually(() => expect(output).toContain(words)),
  };
}

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
    expect(await run(args).ended).toEqual({
      code: 7,
      output: expect.stringMatching(`^${addresses.join(" ")}\n$`),
      errors: "",
    });
  });

  test("runs until it is stopped, by a Ctrl-C that comes twice", async () => {
    const { script, ended, says } = run([]);
    await says("TEST_REDIS_CLUSTER_URL=redis+cluster://");
    expect(processesLeft().length).toBeGreaterThan(3);
    script.kill("SIGINT");
    script.kill("SIGINT");
    expect(await ended).toMatchObject({ code: 0, errors: "" });
  });

  test("stops the command, then the servers", async () => {
    const { script, ended, says } = run(["sh", "-c", "echo begun; exec sleep 1000"]);
    await says("begun");
    script.kill("SIGTERM");
    expect(await ended).toMatchObject({ code: 128 + 15, errors: "" });
  });
});

const nothingIsMissing = areInstalled && rabbitmq4() !== undefined;
describeNeeding("RabbitMQ 4 or another server", nothingIsMissing)("npm run servers -- --install", () => {
  test("has nothing to install", async () => {
    expect(await run(["--install"]).ended).toMatchObject({
      code: 0,
      output:
        "there is PostgreSQL, RabbitMQ, Redis, Redis Cluster, PgBouncer, RabbitMQ 4: nothing to install\n",
    });
  });
});

test("npm run servers tells what is missing, and how to install it", async () => {
  const { code, output, errors } = await run(["true"], { PATH: scratch }).ended;
  expect([code, output]).toEqual([1, ""]);
  expect(errors).toMatch(
    /^servers: not installed: .*Redis, Redis Cluster; npm run servers -- --install installs what is missing\n$/,
  );
});

test("npm run servers knows no other options", async () => {
  expect(await run(["--instal"]).ended).toMatchObject({
    code: 2,
    errors: "servers: unknown: --instal; known: COMMAND ARG..., --install, --help\n",
  });
});
