import { existsSync, realpathSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findProgram, startServer, type TestServer } from "./server.ts";

/** A RabbitMQ that is installed on this machine. */
export interface Rabbitmq {
  /** For example 4.0.5. */
  version: string;
  /** The folder that its processes see as `/`, for `chroot`; empty when it is that of the machine. */
  root: string;
  /** The path of its program, seen from the root. */
  program: string;
}

/** Where a Debian of a later release is, whose RabbitMQ is 4: that of the machine itself may be older. */
export const laterDebian = "/opt/debian-trixie";

/** The program itself: what Debian has on the PATH changes to a user of its own. */
const folder = "/usr/lib/rabbitmq/bin";

function installedAt(root: string, path: string | undefined): Rabbitmq | undefined {
  const home = path && /rabbitmq_server-([\d.]+)/.exec(realpathSync(path));
  return home ? { version: home[1] as string, root, program: path.slice(root.length) } : undefined;
}

/** The RabbitMQ of the machine, whatever its version. */
export const machinesRabbitmq = () => installedAt("", findProgram("rabbitmq-server", [folder]));

/** A RabbitMQ 4 or newer: that of the machine, or the one of a later Debian, which root alone can start. */
export function rabbitmq4(): Rabbitmq | undefined {
  const path = join(laterDebian, folder, "rabbitmq-server");
  const later = process.getuid?.() === 0 && existsSync(path) ? installedAt(laterDebian, path) : undefined;
  return [machinesRabbitmq(), later].find((one) => one && Number.parseInt(one.version, 10) >= 4);
}

export const isRabbitmqInstalled = () => machinesRabbitmq() !== undefined;

/** Publishers are to be held up by tests alone, not by how full this machine is. */
const settings = `
disk_free_limit.absolute = 1MB
vm_memory_high_watermark.relative = 0.9
`;

/**
 * Starts a RabbitMQ, that of the machine unless another is given, with a node, a cookie and data of its own and no plugins.
 * Its node has a name before the server looks, so that it does without Erlang's port mapper (epmd), a process that would
 * stay behind: whoever wants to speak to the node, which no test does, finds it at the port after the server's.
 */
export async function startRabbitmq(find = machinesRabbitmq): Promise<TestServer> {
  const rabbitmq = find();
  if (!rabbitmq) throw new Error("not installed: the RabbitMQ that is to be started");
  const { root, program } = rabbitmq;
  return startServer(
    {
      name: "rabbitmq",
      url: ({ port }) => `amqp://guest:guest@127.0.0.1:${port}`,
      prepare: ({ folder }) => writeFile(join(folder, "rabbitmq.conf"), settings),
      command: ({ port }) => [
        ...((root ? ["chroot", root, program] : [program]) as [string, ...string[]]),
        ...["-noinput", "-sname", nodeName(port), "-start_epmd", "false", "-erl_epmd_port", String(port + 1)],
        ...["-kernel", "inet_dist_use_interface", "{127,0,0,1}"],
        ...["-rabbit", "dead_letter_worker_publisher_confirm_timeout", String(deadLetterAgainMs)],
      ],
      environment({ folder, port }) {
        const home = folder.slice(root.length);
        return {
          HOME: home,
          TMPDIR: home,
          RABBITMQ_NODENAME: nodeName(port),
          RABBITMQ_NODE_IP_ADDRESS: "127.0.0.1",
          RABBITMQ_NODE_PORT: String(port),
          RABBITMQ_CONF_ENV_FILE: join(home, "none"),
          RABBITMQ_CONFIG_FILE: join(home, "rabbitmq.conf"),
          RABBITMQ_ENABLED_PLUGINS_FILE: join(home, "none"),
          RABBITMQ_MNESIA_BASE: join(home, "data"),
          RABBITMQ_LOG_BASE: home,
          RABBITMQ_LOGS: "-",
          // Without it a shell would stand between us and the server; -noinput takes back what else it means.
          RABBITMQ_ALLOW_INPUT: "true",
        };
      },
      stopSignal: "SIGTERM",
      hello: "AMQP\0\0\x09\x01",
      // The method connection.start.
      welcome: "\0\x0a\0\x0a",
    },
    root ? join(root, "tmp") : tmpdir(),
  );
}

/** After which a queue sends again what its dead-letter exchange has not taken: 3 minutes unless it is set. */
const deadLetterAgainMs = 2000;

const nodeName = (port: number) => `test-${port}@localhost`;
