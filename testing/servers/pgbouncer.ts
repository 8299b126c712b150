import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Installable } from "./install.ts";
import { postgresUser, probe } from "./postgres.ts";
import { findProgram, startServer, type TestServer } from "./server.ts";

/** Debian installs it in a folder that only the PATH of root has. */
const program = () => findProgram("pgbouncer", ["/usr/sbin"]);

export const isPgbouncerInstalled = () => program() !== undefined;

/** A connection pooler for PostgreSQL. Only tests start it. */
export const pgbouncer: Installable = {
  name: "PgBouncer",
  aptPackages: ["pgbouncer"],
  isInstalled: isPgbouncerInstalled,
};

/** Starts a PgBouncer in front of a PostgreSQL. Its configuration is the defaults and these lines. */
export const startPgbouncer = (postgres: TestServer, ...lines: string[]): Promise<TestServer> =>
  startServer({
    name: "pgbouncer",
    user: postgresUser(),
    url: ({ port }) => `postgres://postgres@127.0.0.1:${port}/postgres`,
    prepare: async ({ folder, port }) => {
      const { hostname, port: postgresPort } = new URL(postgres.url);
      const configuration = [
        "[databases]",
        `* = host=${hostname} port=${postgresPort}`,
        "[pgbouncer]",
        ...["listen_addr = 127.0.0.1", `listen_port = ${port}`, "unix_socket_dir ="],
        ...["auth_type = trust", `auth_file = ${join(folder, "users")}`],
        ...lines,
      ];
      await writeFile(join(folder, "users"), '"postgres" ""\n');
      await writeFile(join(folder, "pgbouncer.ini"), `${configuration.join("\n")}\n`);
    },
    command: ({ folder }) => [program() ?? "pgbouncer", join(folder, "pgbouncer.ini")],
    stopSignal: "SIGINT",
    ...probe,
  });
