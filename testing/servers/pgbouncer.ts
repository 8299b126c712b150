import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { postgresAccount, startup, welcome } from "./postgres.ts";
import { findProgram, startServer, type TestServer } from "./server.ts";

/** Debian has it where only root's PATH leads. */
const program = () => findProgram("pgbouncer", ["/usr/sbin"]);

export const isPgbouncerInstalled = () => program() !== undefined;

/** Starts a PgBouncer in front of a PostgreSQL, with these lines of configuration, and the defaults for everything else. */
export const startPgbouncer = (postgres: TestServer, ...lines: string[]): Promise<TestServer> =>
  startServer({
    name: "pgbouncer",
    account: postgresAccount(),
    url: ({ port }) => `postgres://postgres@127.0.0.1:${port}/postgres`,
    prepare: ({ folder, port }) => {
      const { hostname, port: postgresPort } = new URL(postgres.url);
      const configuration = [
        "[databases]",
        `* = host=${hostname} port=${postgresPort}`,
        "[pgbouncer]",
        ...["listen_addr = 127.0.0.1", `listen_port = ${port}`, "unix_socket_dir ="],
        ...["auth_type = trust", `auth_file = ${join(folder, "users")}`],
        ...lines,
      ];
      return Promise.all([
        writeFile(join(folder, "users"), '"postgres" ""\n'),
        writeFile(join(folder, "pgbouncer.ini"), `${configuration.join("\n")}\n`),
      ]).then(() => {});
    },
    command: ({ folder }) => [program() ?? "pgbouncer", join(folder, "pgbouncer.ini")],
    stopSignal: "SIGINT",
    hello: startup,
    welcome,
  });
