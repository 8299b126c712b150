import { execFile, execFileSync } from "node:child_process";
import { existsSync, globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import type { Account, TestServer } from "./server.ts";
import { findProgram, type Place, plainEnvironment, startServer } from "./server.ts";

/** A program of the newest version that is installed. */
function program(name: string): string | undefined {
  const byVersion = new Intl.Collator("en", { numeric: true }).compare;
  return findProgram(name, globSync("/usr/lib/postgresql/*/bin").sort(byVersion).reverse());
}

export const isPostgresInstalled = () => program("postgres") !== undefined;

/** Starts a PostgreSQL with an empty database; its folder can be made within another. */
export const startPostgres = (within?: string) =>
  start(
    (data) => [
      "initdb",
      ...["--pgdata", data, "--username", "postgres", "--auth", "trust", "--no-sync"],
      ...["--encoding", "UTF8", "--locale", "C.UTF-8"],
    ],
    within,
  );

/** Starts a PostgreSQL that follows another one, and answers what only reads. */
export const startReplicaOf = (primary: TestServer) =>
  start((data) => [
    "pg_basebackup",
    ...["--pgdata", data, "--dbname", primary.url, "--write-recovery-conf"],
    ...["--checkpoint", "fast", "--no-sync"],
  ]);

function start(
  filling: (data: string) => [name: string, ...args: string[]],
  within?: string,
): Promise<TestServer> {
  const account = postgresAccount();
  const data = ({ folder }: Place) => join(folder, "data");
  return startServer(
    {
      name: "postgres",
      account,
      url: ({ port }) => `postgres://postgres@127.0.0.1:${port}/postgres`,
      async prepare(place) {
        const [name, ...args] = filling(data(place));
        const surroundings = { cwd: place.folder, env: plainEnvironment(place.folder), ...account };
        await promisify(execFile)(program(name) ?? name, args, surroundings);
      },
      command: (place) => [
        program("postgres") ?? "postgres",
        ...["-D", data(place), "-p", String(place.port), "-c", "listen_addresses=127.0.0.1"],
        ...["-c", "unix_socket_directories=", "-c", "max_connections=200"],
        // In the folder, not in the system's shared memory, where it would stay when the server is killed.
        ...["-c", "dynamic_shared_memory_type=mmap"],
      ],
      stopSignal: "SIGINT",
      hello: startup,
      welcome,
      clean: (place) => removeSegment(data(place)),
    },
    within,
  );
}

/** PostgreSQL refuses to run as root. Debian's package brings a user for it. */
export function postgresAccount(): Account | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const number = (option: string) => Number(execFileSync("id", [option, "postgres"], { encoding: "utf8" }));
  return { uid: number("-u"), gid: number("-g") };
}

/**
 * Takes back the segment of shared memory by which a PostgreSQL knew that it ran: the system keeps that of a killed
 * one. Its number is in a file's seventh line.
 */
function removeSegment(data: string): void {
  const file = join(data, "postmaster.pid");
  const line = existsSync(file) ? readFileSync(file, "utf8").split("\n")[6] : undefined;
  const number = line?.trim().split(/\s+/)[1];
  if (number) execFileSync("ipcrm", ["--shmem-id", number]);
}

/** The first message of the protocol, version 3.0: the length of it all, then who wants which database. */
export const startup = "\0\0\0\x29\0\x03\0\0user\0postgres\0database\0postgres\0\0";
/** Ready for a query. */
export const welcome = "Z\0\0\0\x05I";
