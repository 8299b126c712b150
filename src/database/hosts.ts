import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import type { Warn } from "../process/adapter.ts";
import { messageOf } from "../process/describe-error.ts";
import { shared } from "../process/shared.ts";
import { withTimeout } from "../process/with-timeout.ts";

/** A host of a URL that names several. */
export interface Host {
  host: string;
  port: number;
}

/** The host to connect to: the primary; or a replica, or the primary if no replica responds. */
export type Role = "primary" | "replica";

/** The hosts of a URL that names several. Connections are made to one of them at a time. */
export interface Hosts extends Disposable {
  /** A client that finds its host when it connects. */
  Client: new () => pg.Client;
  /** Connections wait for a search, if the host of this client is the one to which they are made. */
  doubt(client: pg.Client): void;
  /** Searches again, while connections are still made to the present host. */
  search(): void;
  /** True if connections are now made to another host than that of this client. */
  isFormer(client: pg.Client): boolean;
  /** Throws if the response to `readOnlyQuery` shows that the host of this client is not the primary that it should be. */
  verify(client: pg.Client, response: pg.QueryResult): void;
}

const nameOf = ({ host, port }: Host) => `${host}:${port}`;

/** Limit for the response of a host. A pooler accepts connections while its server is down, and remains silent. */
const probeMaxMs = 1000;
/** The minimum interval of searches, since a server that is being promoted has other work. */
const searchPauseMs = 250;
/** The interval of searches for a replica while the primary has its place. */
const replicaPauseMs = 10_000;

/** Read-only is a replica, and a primary with `default_transaction_read_only`. A pooler passes the response on. */
export const readOnlyQuery = "show transaction_read_only";
const isReadOnly = ({ rows }: pg.QueryResult): boolean => rows[0]?.transaction_read_only === "on";

/** The kind of client that connections use. */
const clientOf = ({ Client = pg.Client }: pg.PoolConfig) => Client as typeof pg.Client;

/**
 * If the host in use is lost and another one is found, all connections to the former one are closed: nothing that they wait
 * for can be committed. If a replica is back, connections to the primary are closed after their use.
 */
export function openHosts(hosts: Host[], role: Role, config: pg.PoolConfig, warn: Warn): Hosts {
  const clients = new Set<pg.Client>();
  /** The host in use. Unknown while it is doubted. */
  let current: Host | undefined;
  let last: Host | undefined;
  let searchedAt = Number.NEGATIVE_INFINITY;
  let isClosed = false;

  const search = shared(async () => {
    await sleep(Math.max(0, searchedAt + searchPauseMs - performance.now()));
    const found = await findHost(hosts, role, config, last).finally(() => {
      searchedAt = performance.now();
    });
    const isLost = role === "primary" || current === undefined;
    if (last && last !== found) warn(`the database is now ${nameOf(found)}, before it was ${nameOf(last)}`);
    current = last = found;
    const formerClients = isLost ? [...clients].filter(isFormer) : [];
    for (const { connection } of formerClients) {
      connection.stream.destroy(new Error("another host is used now"));
    }
    return found;
  });
  const searchInBackground = () => void search().catch(() => {});

  const isFormer = ({ host, port }: pg.Client) =>
    current !== undefined && (current.host !== host || current.port !== port);

  function doubt(client: pg.Client): void {
    if (isClosed || isFormer(client)) return;
    current = undefined;
    searchInBackground();
  }

  class Client extends clientOf(config) {
    // The pool gives a callback, which gets the error, if any.
    override connect(callback?: unknown): Promise<pg.Client> {
      const connected = this.#connect();
      if (typeof callback === "function") connected.then(() => callback(), callback as () => void);
      return connected;
    }

    async #connect(): Promise<pg.Client> {
      Object.assign(this, current ?? (await search()));
      clients.add(this);
      this.on("error", () => doubt(this));
      this.once("end", () => clients.delete(this));
      try {
        return await super.connect();
      } catch (error) {
        doubt(this);
        throw error;
      }
    }
  }

  return {
    Client,
    doubt,
    search: searchInBackground,
    isFormer,
    verify(client, response) {
      if (isReadOnly(response) === (role === "replica")) return;
      if (role === "primary") {
        doubt(client);
        throw new Error(`${nameOf(client)} is read-only`);
      }
      if (performance.now() > searchedAt + replicaPauseMs) searchInBackground();
    },
    [Symbol.dispose]() {
      isClosed = true;
    },
  };
}

/**
 * Resolves with the first host that has the role; with the last replica if it still is one; with the last primary if it is
 * silent and there is no other, since it may only be slow. Rejects with the reason of each host if there is none.
 */
async function findHost(
  hosts: Host[],
  role: Role,
  config: pg.PoolConfig,
  last: Host | undefined,
): Promise<Host> {
  const probed = hosts.map((host) => ({ host, state: probe(host, config) }));
  const firstThat = (wanted: State, candidates = probed) =>
    Promise.any(
      candidates.map(async ({ host, state }) => {
        if ((await state) !== wanted) throw new Error(`not ${wanted}`);
        return host;
      }),
    );
  const probedLast = probed.filter(({ host }) => host === last);
  try {
    return role === "primary"
      ? await firstThat(writable).catch(() => firstThat(silent, probedLast))
      : await firstThat(readOnly, probedLast)
          .catch(() => firstThat(readOnly))
          .catch(() => firstThat(writable));
  } catch {
    const states = await Promise.all(probed.map(({ state }) => state));
    const reasons = states.map((state, index) => `${nameOf(hosts[index] as Host)}: ${messageOf(state)}`);
    throw new Error(`no host is the primary (${reasons.join("; ")})`);
  }
}

type State = string | Error;
const writable = "accepts writes";
const readOnly = "is read-only";
const silent = `no response within ${probeMaxMs} ms`;

/** Resolves with the state of a host, or with the error if it refuses the connection. */
async function probe(host: Host, config: pg.PoolConfig): Promise<State> {
  const client = new (clientOf(config))({ ...config, ...host });
  client.on("error", () => {});
  const respond = async () => {
    await client.connect();
    const response = await client.query(readOnlyQuery);
    void client.end();
    return isReadOnly(response) ? readOnly : writable;
  };
  const timeout = new Error(silent);
  try {
    return await withTimeout(respond(), probeMaxMs, timeout);
  } catch (error) {
    client.connection.stream.destroy();
    return error === timeout ? silent : (error as Error);
  }
}
