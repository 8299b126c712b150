import { existsSync, realpathSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "../free-port.ts";
import type { Installable } from "./install.ts";
import { laterDebian, laterPackage } from "./later-debian.ts";
import { findProgram, startServer, type TestServer } from "./server.ts";

/** The folder of the program itself: the script that Debian has on the PATH changes the user. */
const folder = "/usr/lib/rabbitmq/bin";

/** An installed RabbitMQ: its version, the root folder of its processes for `chroot`, and its program in this folder. */
function installedAt(root: string, path: string | undefined) {
  const [, version] = (path && /rabbitmq_server-([\d.]+)/.exec(realpathSync(path))) || [];
  return path && version ? { version, root, program: path.slice(root.length) } : undefined;
}

/** The RabbitMQ of the machine, of any version. */
export const installedRabbitmq = () => installedAt("", findProgram("rabbitmq-server", [folder]));

/** RabbitMQ 4 or later: that of the machine, or that in `laterDebian`, which only root can start. */
export function rabbitmq4() {
  const path = join(laterDebian, folder, "rabbitmq-server");
  const later = process.getuid?.() === 0 && existsSync(path) ? installedAt(laterDebian, path) : undefined;
  return [installedRabbitmq(), later].find((found) => found && Number.parseInt(found.version, 10) >= 4);
}

export const isRabbitmqInstalled = () => installedRabbitmq() !== undefined;

export const rabbitmq: Installable = {
  name: "RabbitMQ",
  aptPackages: ["rabbitmq-server"],
  isInstalled: isRabbitmqInstalled,
};
/** Debian 12 has an older version. */
export const newRabbitmq = laterPackage("RabbitMQ 4", "rabbitmq-server", () => rabbitmq4() !== undefined);

/** A full disk or memory of this machine must not block publishers; only tests do. */
const settings = `
disk_free_limit.absolute = 1MB
vm_memory_high_watermark.relative = 0.9
`;

/**
 * Starts a RabbitMQ with its own node, cookie and data and without plugins. Default: that of the machine. It does not
 * start Erlang's port mapper (epmd), whose process would remain after the server: the node listens for other nodes at
 * a port of its own.
 */
export async function startRabbitmq(find = installedRabbitmq): Promise<TestServer> {
  const found = find();
  if (!found) throw new Error("RabbitMQ is not installed");
  const { root, program } = found;
  const nodesPort = await freePort();
  return startServer(
    {
      name: "rabbitmq",
      url: ({ port }) => `amqp://guest:guest@127.0.0.1:${port}`,
      prepare: ({ folder }) => writeFile(join(folder, "rabbitmq.conf"), settings),
      command: ({ port }) => [
        ...((root ? ["chroot", root, program] : [program]) as [string, ...string[]]),
        ...["-noinput", "-sname", nodeName(port)],
        ...["-start_epmd", "false", "-erl_epmd_port", String(nodesPort)],
        ...["-kernel", "inet_dist_use_interface", "{127,0,0,1}"],
        ...["-rabbit", "dead_letter_worker_publisher_confirm_timeout", String(deadLetterRetryMs)],
      ],
      environment({ folder, port }) {
        const home = folder.slice(root.length);
        return {
          ...{ HOME: home, TMPDIR: home, RABBITMQ_LOG_BASE: home, RABBITMQ_LOGS: "-" },
          ...{ RABBITMQ_NODENAME: nodeName(port), RABBITMQ_NODE_IP_ADDRESS: "127.0.0.1" },
          RABBITMQ_NODE_PORT: String(port),
          RABBITMQ_CONF_ENV_FILE: join(home, "none"),
          RABBITMQ_CONFIG_FILE: join(home, "rabbitmq.conf"),
          RABBITMQ_ENABLED_PLUGINS_FILE: join(home, "none"),
          RABBITMQ_MNESIA_BASE: join(home, "data"),
          // Without it, a shell is the parent process of the server. -noinput undoes its other effect.
          RABBITMQ_ALLOW_INPUT: "true",
        };
      },
      stopSignal: "SIGTERM",
      probeRequest: "AMQP\0\0\x09\x01",
      // The method connection.start.
      probeResponse: "\0\x0a\0\x0a",
    },
    root ? join(root, "tmp") : tmpdir(),
  );
}

/** The interval at which a queue resends unconfirmed messages to its dead-letter exchange. The default is 3 minutes. */
const deadLetterRetryMs = 2000;

const nodeName = (port: number) => `test-${port}@localhost`;
