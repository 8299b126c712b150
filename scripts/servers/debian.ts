import { rename } from "node:fs/promises";
import { isPgbouncerInstalled } from "../../testing/servers/pgbouncer.ts";
import { isPostgresInstalled } from "../../testing/servers/postgres.ts";
import { isRabbitmqInstalled, laterDebian, rabbitmq4 } from "../../testing/servers/rabbitmq.ts";
import { isRedisInstalled } from "../../testing/servers/redis.ts";
import { type Installable, runToEnd } from "./install.ts";

/** The servers that the services can be run on, as Debian has them. */
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
 * Of the next Debian, in a folder that `chroot` can enter, since Debian 12 has an older one. The folder gets its name once
 * it is complete; what a try before has left is removed, but nothing that is mounted there.
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
/** In front of PostgreSQL: tests start it where they need it. */
export const pgbouncer: Installable = {
  name: "PgBouncer",
  aptPackages: ["pgbouncer"],
  isInstalled: isPgbouncerInstalled,
};
