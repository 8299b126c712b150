import { chmodSync, globSync, mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, expect, test } from "vitest";
import { describeIfAvailable } from "../../testing/describe-if-available.ts";
import { run } from "../../testing/run.ts";
import type { Installable } from "../../testing/servers/install.ts";
import { kafka } from "../../testing/servers/kafka.ts";
import { newPatroni, patroni } from "../../testing/servers/patroni.ts";
import { pgbouncer } from "../../testing/servers/pgbouncer.ts";
import { newPostgresql, postgresql } from "../../testing/servers/postgres.ts";
import { proxies } from "../../testing/servers/proxies.ts";
import { newRabbitmq, rabbitmq } from "../../testing/servers/rabbitmq.ts";
import { redis, valkey } from "../../testing/servers/redis.ts";

// The folders of all servers are in this folder. Other users may enter it.
const scratch = mkdtempSync(join(tmpdir(), "servers-"));
chmodSync(scratch, 0o755);
afterAll(() => rmSync(scratch, { recursive: true }));

/** The processes with the scratch folder in their working directory or environment. */
const leftoverProcesses = () =>
  globSync("/proc/[0-9]*").filter((path) => {
    try {
      const text = readlinkSync(`${path}/cwd`) + readFileSync(`${path}/environ`, "utf8");
      return text.includes(scratch);
    } catch {
      return false;
    }
  });

const runServers = (args: string[], env = {}) =>
  run("scripts/servers/servers.ts", { args, env: { TMPDIR: scratch, ...env } });

const areInstalled = (programs: Installable[]) => programs.every(({ isInstalled }) => isInstalled());
const servers = [postgresql, pgbouncer, rabbitmq, redis, kafka];
describeIfAvailable("PostgreSQL, PgBouncer, RabbitMQ, Redis and Kafka", areInstalled(servers))(
  "npm run servers",
  () => {
    afterEach(() => expect([leftoverProcesses(), readdirSync(scratch)]).toEqual([[], []]));

    test("runs a command with the addresses of the servers, and exits with its exit code", async () => {
      const names = ["POSTGRES", "AMQP", "REDIS", "REDIS_CLUSTER", "KAFKA"];
      const values = names.map((name) => `process.env.TEST_${name}_URL`);
      const command = `console.log(${values.join()}); process.exit(7)`;
      const host = "127\\.0\\.0\\.1:\\d+";
      const cluster = `redis\\+cluster://${host},${host},${host}`;
      const urls = `postgres://postgres@${host}/postgres amqp://guest:guest@${host} redis://${host} ${cluster}`;
      const output = expect.stringMatching(`^${urls} kafka://${host}\n$`);
      const { exit } = runServers([process.execPath, "-e", command]);
      expect(await exit).toEqual({ code: 7, output, errors: "" });
    });

    test("runs until SIGINT, and ignores a second one", async () => {
      const { child, exit, waitForOutput } = runServers([]);
      await waitForOutput("TEST_KAFKA_URL=kafka://");
      expect(leftoverProcesses().length).toBeGreaterThan(3);
      child.kill("SIGINT");
      child.kill("SIGINT");
      expect(await exit).toMatchObject({ code: 0, errors: "" });
    });

    test("stops the command and the servers on SIGTERM", async () => {
      const { child, exit, waitForOutput } = runServers(["sh", "-c", "echo begun; exec sleep 1000"]);
      await waitForOutput("begun");
      child.kill("SIGTERM");
      expect(await exit).toMatchObject({ code: 128 + 15, errors: "" });
    });
  },
);

const everything = [...servers, patroni, newPatroni, newRabbitmq, newPostgresql, valkey, ...proxies];
describeIfAvailable("RabbitMQ 4, Patroni and the other servers", areInstalled(everything))(
  "all servers",
  () => {
    test("npm run servers -- --install installs nothing if nothing is missing", async () => {
      const names =
        "PostgreSQL, RabbitMQ, Redis, Redis Cluster, Kafka, PgBouncer, Patroni, Patroni 4, RabbitMQ 4, PostgreSQL 18, Valkey, " +
        "nginx, Caddy, HAProxy, Apache";
      const output = `nothing to install; installed: ${names}\n`;
      expect(await runServers(["--install"]).exit).toMatchObject({ code: 0, output });
    });
  },
);

test("npm run servers names the missing servers and the command that installs them", async () => {
  const { code, output, errors } = await runServers(["true"], { PATH: scratch }).exit;
  expect([code, output]).toEqual([1, ""]);
  expect(errors).toMatch(
    /^servers: not installed: .*Redis, Redis Cluster, Kafka; to install: npm run servers -- --install\n$/,
  );
});

test("npm run servers rejects an unknown option", async () => {
  const errors = "servers: unknown: --instal; known: COMMAND ARG..., --install, --help\n";
  expect(await runServers(["--instal"]).exit).toMatchObject({ code: 2, errors });
});
