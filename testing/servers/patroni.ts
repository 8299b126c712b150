import { existsSync, readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { retry } from "../../src/waiting/retry.ts";
import { disposing } from "../disposing.ts";
import { freePort } from "../free-port.ts";
import { testWaitMaxMs } from "../test-wait-max.ts";
import { isEtcdInstalled, startEtcd } from "./etcd.ts";
import { type Installable, installFolder, runToEnd } from "./install.ts";
import { postgresProgram, postgresUser, probe, removeSharedMemory } from "./postgres.ts";
import { childrenOf, findProgram, type Instance, killTree, startServer, type TestServer } from "./server.ts";

/** That of the system, for which Debian installs Patroni. */
const python = () => findProgram("python3", ["/usr/bin"]) ?? "python3";

/** A command that runs Patroni, and the variables that it needs. */
interface Program {
  command: string[];
  environment?: Record<string, string>;
}

/** The Patroni of the machine. */
export function installedPatroni(): Program | undefined {
  const path = findProgram("patroni");
  return path === undefined ? undefined : { command: [python(), path] };
}

const newPatroniFolder = "/opt/patroni-4.1.5";
const newPatroniPackages = ["patroni[etcd3]==4.1.5", "psycopg[binary]==3.3.9"];

/** Patroni 4. With etcd, Patroni 3.0 takes the place of the primary back when it goes on after a suspension. */
export const patroni4 = (): Program | undefined =>
  existsSync(newPatroniFolder)
    ? { command: [python(), "-m", "patroni"], environment: { PYTHONPATH: newPatroniFolder } }
    : undefined;

const isPairInstalled = (program: Program | undefined) =>
  program !== undefined && postgresProgram("postgres") !== undefined && isEtcdInstalled();

export const isPatroniInstalled = () => isPairInstalled(installedPatroni());

/** It makes one of two PostgreSQL servers the primary, as etcd records. Only tests and simulations start it. */
export const patroni: Installable = {
  name: "Patroni",
  aptPackages: ["postgresql", "patroni", "etcd-server", "python3-etcd"],
  isInstalled: isPatroniInstalled,
};

/** Debian 12 has an older version. */
export const newPatroni: Installable = {
  name: "Patroni 4",
  aptPackages: ["postgresql", "etcd-server", "python3-pip"],
  isInstalled: () => isPairInstalled(patroni4()),
  install: (stop) =>
    installFolder(newPatroniFolder, stop, (incomplete) =>
      runToEnd(
        [
          python(),
          "-m",
          "pip",
          "install",
          "--quiet",
          "--root-user-action=ignore",
          "--target",
          incomplete,
          ...newPatroniPackages,
        ],
        stop,
      ),
    ),
};

export type PatroniNode = Awaited<ReturnType<typeof startNode>>;
export type PatroniPair = Awaited<ReturnType<typeof startPatroniPair>>;

/** How a pair takes over quickly: a dead PostgreSQL is not restarted before, and the nodes check every second. */
const cluster = {
  ttl: 20,
  loop_wait: 1,
  retry_timeout: 3,
  synchronous_mode: true,
  // The name before and since Patroni 3.0.
  master_start_timeout: 0,
  primary_start_timeout: 0,
  postgresql: {
    use_pg_rewind: true,
    parameters: { max_connections: 200, wal_keep_size: "128MB", wal_retrieve_retry_interval: "1s" },
  },
};

/**
 * Starts a synchronous pair: a primary, and a standby that has every commit before it is confirmed. Default: under the Patroni
 * of the machine.
 */
export async function startPatroniPair(find = installedPatroni) {
  await using opening = new AsyncDisposableStack();
  const program = find();
  if (!program) throw new Error("Patroni is not installed");
  const etcd = opening.use(await startEtcd());
  // One after the other: the first becomes the primary. A node cannot be called `first` or `any`: these are words of
  // `synchronous_standby_names`, where Patroni 3.0 does not quote a name.
  const first = opening.use(await startNode("node1", program, etcd));
  const second = opening.use(await startNode("node2", program, etcd));
  const nodes: [PatroniNode, PatroniNode] = [first, second];

  async function synchronousPrimary(): Promise<PatroniNode> {
    const members = await membersOf(nodes);
    const primary = nodes.find(({ name }) => isIn(members, name, "leader", ["running"]));
    const standby = nodes.find(({ name }) => isIn(members, name, "sync_standby", ["running", "streaming"]));
    if (primary && standby) return primary;
    throw new Error(`the pair is not synchronous: ${JSON.stringify(members)}`);
  }
  /** Resolves with the primary when the other node is a synchronous standby: only then can it take over. */
  const whenSynchronous = () => retry(synchronousPrimary, { forMs: testWaitMaxMs });

  const otherThan = (node: PatroniNode) => nodes.find((other) => other !== node) as PatroniNode;
  await whenSynchronous();
  return disposing(opening, {
    /** A URL with both nodes. */
    url: `postgres://postgres@${nodes.map(({ url }) => new URL(url).host).join()}/postgres`,
    nodes,
    whenSynchronous,
    /** Resolves when the other node than this one is the primary. */
    whenReplaced: (former: PatroniNode) =>
      retry(() => requirePrimary(otherThan(former)), { forMs: testWaitMaxMs }),
    /** Makes the other node the primary, in the planned way. Resolves when it is. */
    async switchOver() {
      const former = await whenSynchronous();
      const candidate = otherThan(former);
      const body = JSON.stringify({ leader: former.name, candidate: candidate.name });
      const response = await fetch(`${former.api}/switchover`, { method: "POST", body });
      if (!response.ok) throw new Error(`no switchover: ${response.status} ${await response.text()}`);
    },
  });
}

/** The members of the cluster, from the first node that responds. */
async function membersOf(nodes: PatroniNode[]): Promise<Member[]> {
  const requests = nodes.map(async ({ api }) => {
    const response = await fetch(`${api}/cluster`, { signal: AbortSignal.timeout(requestMaxMs) });
    return ((await response.json()) as { members: Member[] }).members;
  });
  return Promise.any(requests).catch(() => []);
}

async function requirePrimary({ api, name }: PatroniNode): Promise<void> {
  const { ok } = await fetch(`${api}/primary`, { signal: AbortSignal.timeout(requestMaxMs) });
  if (!ok) throw new Error(`${name} is not the primary`);
}

const requestMaxMs = 2000;

/** Starts a Patroni with its PostgreSQL. `kill` is the loss of the machine. */
async function startNode(name: string, program: Program, etcd: TestServer) {
  const api = `127.0.0.1:${await freePort()}`;
  const data = ({ folder }: Instance) => join(folder, "data");
  const server = await startServer({
    name: "patroni",
    user: postgresUser(),
    url: ({ port }) => `postgres://postgres@127.0.0.1:${port}/postgres`,
    prepare: (instance) => {
      const address = `127.0.0.1:${instance.port}`;
      const configuration = {
        scope: "ledger",
        name,
        etcd3: { host: new URL(etcd.url).host },
        restapi: { listen: api, connect_address: api },
        bootstrap: {
          dcs: cluster,
          initdb: [{ encoding: "UTF8" }, { locale: "C.UTF-8" }, { auth: "trust" }, "data-checksums"],
        },
        postgresql: {
          listen: address,
          connect_address: address,
          data_dir: data(instance),
          bin_dir: dirname(postgresProgram("postgres") ?? ""),
          authentication: {
            superuser: { username: "postgres" },
            replication: { username: "postgres" },
            rewind: { username: "postgres" },
          },
          pg_hba: ["host all all 127.0.0.1/32 trust", "host replication all 127.0.0.1/32 trust"],
          parameters: { unix_socket_directories: "", dynamic_shared_memory_type: "mmap" },
        },
      };
      // YAML includes JSON.
      return writeFile(join(instance.folder, "patroni.yml"), JSON.stringify(configuration));
    },
    command: ({ folder }) => [
      python(),
      ...["-c", readFileSync(new URL("machine.py", import.meta.url), "utf8")],
      ...[...program.command, join(folder, "patroni.yml")],
    ],
    environment: () => program.environment ?? {},
    stopSignal: "SIGINT",
    ...probe,
    clean: (instance) => removeSharedMemory(data(instance)),
  });
  return {
    ...server,
    name,
    /** The URL of Patroni's own API. */
    api: `http://${api}`,
    /** Kills the PostgreSQL of the node. Its Patroni continues. */
    async killPostgres() {
      const file = join(data({ folder: server.folder, port: 0 }), "postmaster.pid");
      if (existsSync(file)) await killTree(Number(readFileSync(file, "utf8").split("\n")[0]));
    },
    /** Sends a signal to the Patroni of the node. Its PostgreSQL continues. */
    signalPatroni(signal: NodeJS.Signals) {
      const machine = server.child().pid ?? 0;
      const [patroni] = childrenOf(machine).filter((pid) =>
        readFileSync(`/proc/${pid}/cmdline`, "utf8").includes("patroni.yml"),
      );
      if (patroni === undefined) throw new Error(`${name} has no Patroni`);
      process.kill(patroni, signal);
    },
  };
}

interface Member {
  name: string;
  role: string;
  state: string;
}

const isIn = (members: Member[], name: string, role: string, states: string[]) =>
  members.some((one) => one.name === name && one.role === role && states.includes(one.state));
