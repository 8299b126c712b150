import { rename } from "node:fs/promises";
import { isPatroniInstalled } from "../../testing/servers/patroni.ts";
import { isPgbouncerInstalled } from "../../testing/servers/pgbouncer.ts";
import { isPostgresInstalled } from "../../testing/servers/postgres.ts";
import { isRabbitmqInstalled, laterDebian, rabbitmq4 } from "../../testing/servers/rabbitmq.ts";
import { isRedisInstalled } from "../../testing/servers/redis.ts";
import { type Installable, runToEnd } from "./install.ts";

/** The servers that the services can use, from Debian packages. */
export const postgresql: Installable = {
  name: "PostgreSQL",
  aptPackages: ["postgresql"],
  isInstalled: isPostgresInstalled,
};
export const rabbitmq: Installable = {
  name: "RabbitMQ",
  aptPackages: ["rabbitmq-server"],
  isInstalled: isRabbitmqInstalled,
};
/**
 * RabbitMQ 4 from Debian 13, since Debian 12 has an older version. It runs with `chroot` in a folder of its own. The folder
 * gets its final name when it is complete. Leftovers of an earlier attempt are removed, but no file system mounted there.
 */
export const newRabbitmq: Installable = {
  name: "RabbitMQ 4",
  aptPackages: ["debootstrap", "debian-archive-keyring"],
  isInstalled: () => rabbitmq4() !== undefined,
  async install(stop) {
    const incomplete = `${laterDebian}.incomplete`;
    await runToEnd(["rm", "--recursive", "--force", "--one-file-system", laterDebian, incomplete], stop);
    const options = ["--variant=minbase", "--force-check-gpg", "--include=rabbitmq-server"];
    await runToEnd(["debootstrap", ...options, "trixie", incomplete], stop);
    await rename(incomplete, laterDebian);
  },
};
export const redis: Installable = {
  name: "Redis",
  aptPackages: ["redis-server"],
  isInstalled: isRedisInstalled,
};
/** A connection pooler for PostgreSQL. Only tests start it. */
export const pgbouncer: Installable = {
  name: "PgBouncer",
  aptPackages: ["pgbouncer"],
  isInstalled: isPgbouncerInstalled,
};
/** It makes one of two PostgreSQL servers the primary, as etcd records. Only tests and simulations start it. */
export const patroni: Installable = {
  name: "Patroni",
  aptPackages: ["postgresql", "patroni", "etcd-server", "python3-etcd"],
  isInstalled: isPatroniInstalled,
};
