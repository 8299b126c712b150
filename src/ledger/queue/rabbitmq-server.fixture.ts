import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { findProgram, startServer, type TestServer } from "../../service/test-server.fixture.ts";

/** The program itself: what Debian has on the PATH changes to a user of its own. */
const program = () => findProgram("rabbitmq-server", ["/usr/lib/rabbitmq/bin"]);

export const isRabbitmqInstalled = () => program() !== undefined;

/** Publishers are to be held up by tests alone, not by how full this machine is. */
const settings = `
disk_free_limit.absolute = 1MB
vm_memory_high_watermark.relative = 0.9
`;

/**
 * Starts a RabbitMQ with a node, a cookie and data of its own and no plugins. Its node has a name before the server
 * looks, so that it does without Erlang's port mapper (epmd), a process that would stay behind: whoever wants to speak
 * to the node, which no test does, finds it at the port after the server's.
 */
export const startRabbitmq = (): Promise<TestServer> =>
  startServer({
    name: "rabbitmq",
    url: ({ port }) => `amqp://guest:guest@127.0.0.1:${port}`,
    prepare: ({ folder }) => writeFile(join(folder, "rabbitmq.conf"), settings),
    command: ({ port }) => [
      program() ?? "rabbitmq-server",
      ...["-noinput", "-sname", nodeName(port), "-start_epmd", "false", "-erl_epmd_port", String(port + 1)],
      ...["-kernel", "inet_dist_use_interface", "{127,0,0,1}"],
    ],
    environment: ({ folder, port }) => ({
      RABBITMQ_NODENAME: nodeName(port),
      RABBITMQ_NODE_IP_ADDRESS: "127.0.0.1",
      RABBITMQ_NODE_PORT: String(port),
      RABBITMQ_CONF_ENV_FILE: join(folder, "none"),
      RABBITMQ_CONFIG_FILE: join(folder, "rabbitmq.conf"),
      RABBITMQ_ENABLED_PLUGINS_FILE: join(folder, "none"),
      RABBITMQ_MNESIA_BASE: join(folder, "data"),
      RABBITMQ_LOG_BASE: folder,
      RABBITMQ_LOGS: "-",
      // Without it a shell would stand between us and the server; -noinput takes back what else it means.
      RABBITMQ_ALLOW_INPUT: "true",
    }),
    stopSignal: "SIGTERM",
    hello: "AMQP\0\0\x09\x01",
    // The method connection.start.
    welcome: "\0\x0a\0\x0a",
  });

const nodeName = (port: number) => `test-${port}@localhost`;
