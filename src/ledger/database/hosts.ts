import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import type { Warn } from "../../process/adapter.ts";
import { messageOf } from "../../process/describe-error.ts";
import { shared } from "../../process/shared.ts";
import { withTimeout } from "../../process/with-timeout.ts";

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
  /** Searches again if the host of this client, or any if there is none, is the one to which connections are made. */
  doubt(client?: pg.Client): void;
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

/**
 * If the host in use is lost and another one is found, all connections to the former one are closed: nothing that they wait
 * for can be committed. If a replica is back, connections to the primary are closed after their use.
 */
export function openHosts(hosts: Host[], role: Role, config: pg.ClientConfig, warn: Warn): Hosts {
  const clients = new Set<pg.Client>();
  /** The host in use. Unknown while it is doubted. */
  let current: Host | undefined;
  let last: Host | undefined;
  let searchedAt = Number.NEGATIVE_INFINITY;
  let isClosed = false;

  const search = shared(async () => {
    await sleep(Math.max(0, searchedAt + searchPauseMs - performance.now()));
    const [isLost, former] = [current === undefined, last];
    try {
      current = last = await findHost(hosts, role, config, former);
    } finally {
      searchedAt = performance.now();
    }
    if (former && former !== current) {
      warn(`the database is now ${nameOf(current)}, before it was ${nameOf(former)}`);
    }
    const formerClients = isLost ? [...clients].filter(isFormer) : [];
    for (const { connection } of formerClients)
      connection.stream.destroy(new Error("another host is used now"));
    return current;
  });
  const searchInBackground = () => void search().catch(() => {});

  const isFormer = ({ host, port }: pg.Client) =>
    current !== undefined && (current.host !== host || current.port !== port);

  function doubt(client?: pg.Client): void {
    if (isClosed || (client && isFormer(client))) return;
    current = undefined;
    searchInBackground();
  }

  class Client extends pg.Client {
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
 * Resolves with the first host that responds and has the role; with the last replica if it still is one. Rejects with the
 * reason of each host if none has the role.
 */
async function findHost(
  hosts: Host[],
  role: Role,
  config: pg.ClientConfig,
  last: Host | undefined,
): Promise<Host> {
  const probed = hosts.map((host) => {
    const response = probe(host, config);
    response.catch(() => {}); // Not unhandled if the others are not needed.
    return { host, response };
  });
  const firstOf = (candidates: typeof probed, isWanted: (response: pg.QueryResult) => boolean) =>
    Promise.any(
      candidates.map(async ({ host, response }) => {
        if (!isWanted(await response)) throw new Error("is read-only");
        return host;
      }),
    );
  const primary = () => firstOf(probed, (response) => !isReadOnly(response));
  const replica = () => firstOf(probed, isReadOnly);
  const lastReplica = () =>
    firstOf(
      probed.filter(({ host }) => host === last),
      isReadOnly,
    );
  try {
    return await (role === "primary" ? primary() : lastReplica().catch(replica).catch(primary));
  } catch (error) {
    const reasons = (error as AggregateError).errors.map(
      (reason, index) => `${nameOf(hosts[index] as Host)}: ${messageOf(reason)}`,
    );
    throw new Error(`no host is the primary (${reasons.join("; ")})`, { cause: error });
  }
}

async function probe(host: Host, config: pg.ClientConfig): Promise<pg.QueryResult> {
  const client = new pg.Client({ ...config, ...host });
  client.on("error", () => {});
  const respond = async () => {
    await client.connect();
    const response = await client.query(readOnlyQuery);
    void client.end();
    return response;
  };
  try {
    return await withTimeout(respond(), probeMaxMs, new Error(`no response within ${probeMaxMs} ms`));
  } catch (error) {
    client.connection.stream.destroy();
    throw error;
  }
}
