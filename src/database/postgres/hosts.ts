import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import type { Warn } from "../../engines/adapter.ts";
import { messageOf } from "../../process/describe-error.ts";
import { shared } from "../../waiting/shared.ts";
import { withTimeout } from "../../waiting/with-timeout.ts";

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
  /** Connections wait for a new look at the hosts, if that of this client is the one to which they are made. */
  doubt(client: pg.Client): void;
  /** True if connections are now made to another host than that of this client. */
  isFormer(client: pg.Client): boolean;
  /** To be awaited before each use of a connection. Undefined if every host was looked at within the last 2 seconds. */
  whenLookedAt(): Promise<unknown> | undefined;
  /** Throws if the response to `readOnlyQuery` shows that the host of this client is not the primary that it should be. */
  verify(client: pg.Client, response: pg.QueryResult): void;
}

const nameOf = ({ host, port }: Host) => `${host}:${port}`;

/** The interval in which every host is looked at: a server can be promoted while the former primary goes on. */
const lookEveryMs = 500;
/** The minimum interval of looks for which connections wait, since a server that is being promoted has other work. */
const lookPauseMs = 250;
/** Limit for the response of a host. A pooler accepts connections while its server is down, and remains silent. */
const lookMaxMs = 750;
/** For how long a look is valid. A process that was suspended looks again before it reads from a former primary. */
const lookValidMs = 2000;

/** Read-only is a replica, and a primary with `default_transaction_read_only`. A pooler passes the response on. */
export const readOnlyQuery = "show transaction_read_only";
const isReadOnly = ({ rows }: pg.QueryResult): boolean => rows[0]?.transaction_read_only === "on";

/** The kind of client that connections use. */
const clientOf = ({ Client = pg.Client }: pg.PoolConfig) => Client as typeof pg.Client;

/**
 * Looks at every host again and again, and leads to one of them. Of several that accept writes, the one of the highest
 * timeline is the primary, since each promotion begins a timeline. One of a lower timeline than was seen is not used again.
 *
 * If another primary is found, all connections to the former one are closed: the outcome of their work is unknown. If a
 * replica is back, connections to the primary are closed after their use.
 */
export function openHosts(hosts: Host[], role: Role, config: pg.PoolConfig, warn: Warn): Hosts {
  const watched = hosts.map((host) => watchHost(host, config));
  const clients = new Set<pg.Client>();
  let highestTimeline = 0;
  /** The host in use. Undefined while it is doubted. */
  let current: WatchedHost | undefined;
  let last: WatchedHost | undefined;
  let found = Promise.withResolvers<Host>();
  let searchedAt = Number.NEGATIVE_INFINITY;
  let isClosed = false;

  function use(host: WatchedHost): void {
    if (host === current) return;
    if (last && last !== host) warn(`the database is now ${nameOf(host)}, before it was ${nameOf(last)}`);
    const canFinish = role === "replica" && current && isUsable(current.state, highestTimeline);
    current = last = host;
    found.resolve(host);
    if (canFinish) return;
    for (const client of clients) {
      if (isFormer(client)) client.connection.stream.destroy(new Error("another host is used now"));
    }
  }

  function decide(): void {
    highestTimeline = Math.max(highestTimeline, ...watched.map(({ state }) => timelineOf(state) ?? 0));
    // At first, a host that has not responded yet can be the primary.
    if (!last && watched.some(({ state }) => state === undefined)) return;
    const host = choose(watched, role, last, highestTimeline);
    if (host) use(host);
    // A silent host may only be slow.
    else if (current?.state !== silent) current = undefined;
  }

  const look = async (host: WatchedHost): Promise<void> => {
    await host.look();
    decide();
  };

  async function lookAtAll(): Promise<Host> {
    await sleep(Math.max(0, searchedAt + lookPauseMs - performance.now()));
    searchedAt = performance.now();
    await Promise.all(watched.map(look));
    if (!current && last?.state === silent) use(last);
    if (current) return current;
    const reasons = watched.map((host) => `${nameOf(host)}: ${reasonOf(host.state, highestTimeline)}`);
    throw new Error(`no host is the primary (${reasons.join("; ")})`);
  }

  /** Resolves with the host as soon as it is known. Rejects with the reason of each host if there is none. */
  const search = shared(() => {
    found = Promise.withResolvers();
    return Promise.race([found.promise, lookAtAll()]);
  });

  const isFormer = ({ host, port }: pg.Client) =>
    current !== undefined && (current.host !== host || current.port !== port);

  function doubt(client: pg.Client): void {
    if (isClosed || !current || isFormer(client)) return;
    current.state = undefined;
    current = undefined;
    void search().catch(() => {});
  }

  class Client extends clientOf(config) {
    // The pool gives a callback, which gets the error, if any.
    override connect(callback?: unknown): Promise<pg.Client> {
      const connected = this.#connect();
      if (typeof callback === "function") connected.then(() => callback(), callback as () => void);
      return connected;
    }

    async #connect(): Promise<pg.Client> {
      const { host, port } = current ?? (await search());
      Object.assign(this, { host, port });
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

  async function watch(host: WatchedHost): Promise<void> {
    while (!isClosed) {
      await look(host);
      const nextMs = host.lookedAt() + lookEveryMs - performance.now();
      await sleep(Math.max(0, nextMs), undefined, { ref: false });
    }
  }

  for (const host of watched) void watch(host);
  return {
    Client,
    doubt,
    isFormer,
    whenLookedAt() {
      const isValid = ({ lookedAt }: WatchedHost) => lookedAt() + lookValidMs > performance.now();
      return watched.every(isValid) ? undefined : Promise.all(watched.map(look));
    },
    verify(client, response) {
      if (role === "replica" || !isReadOnly(response)) return;
      doubt(client);
      throw new Error(`${nameOf(client)} is read-only`);
    },
    [Symbol.dispose]() {
      isClosed = true;
      for (const host of watched) host[Symbol.dispose]();
    },
  };
}

/** The last response of a host, or the error in its place. Undefined before the first look, and while the host is doubted. */
type State = { timeline: number } | typeof readOnly | Error | undefined;

const readOnly = "is read-only";
const silent = new Error(`no response within ${lookMaxMs} ms`);

/** The timeline of a host that accepts writes; undefined for others. */
const timelineOf = (state: State): number | undefined =>
  typeof state === "object" && "timeline" in state ? state.timeline : undefined;
const isUsable = (state: State, highestTimeline: number) =>
  state === readOnly || timelineOf(state) === highestTimeline;

/** The host that has the role: the last one if it still has it. Undefined if there is none. */
function choose(
  hosts: WatchedHost[],
  role: Role,
  last: WatchedHost | undefined,
  highestTimeline: number,
): WatchedHost | undefined {
  const lastFirst = last ? [last, ...hosts] : hosts;
  const replica = lastFirst.find(({ state }) => state === readOnly);
  const primary = lastFirst.find(({ state }) => timelineOf(state) === highestTimeline);
  return role === "primary" ? primary : (replica ?? primary);
}

function reasonOf(state: State, highestTimeline: number): string {
  if (state instanceof Error) return messageOf(state);
  if (state === readOnly) return readOnly;
  return `accepts writes on timeline ${timelineOf(state)}, but another host had timeline ${highestTimeline}`;
}

type WatchedHost = ReturnType<typeof watchHost>;

/** A host that is looked at over a connection of its own, which is kept. */
function watchHost(host: Host, config: pg.PoolConfig) {
  let connected: pg.Client | undefined;
  let lookedAt = Number.NEGATIVE_INFINITY;

  async function connect(): Promise<pg.Client> {
    const client = new (clientOf(config))({ ...config, ...host });
    connected = client;
    client.on("error", () => {});
    client.once("end", () => {
      if (connected === client) connected = undefined;
    });
    await client.connect();
    return client;
  }
  function close(): void {
    connected?.connection.stream.destroy();
    connected = undefined;
  }
  const readState = async () => stateOf(connected ?? (await connect()));
  const watched = {
    ...host,
    state: undefined as State,
    /** When the look began that led to the state. */
    lookedAt: () => lookedAt,
    /** Updates the state. */
    look: shared(async () => {
      const beganAt = performance.now();
      try {
        watched.state = await withTimeout(readState(), lookMaxMs, silent);
      } catch (error) {
        watched.state = error as Error;
        close();
      }
      lookedAt = beganAt;
    }),
    [Symbol.dispose]: close,
  };
  return watched;
}

async function stateOf(client: pg.Client): Promise<State> {
  if (isReadOnly(await client.query(readOnlyQuery))) return readOnly;
  return { timeline: await readTimeline(client) };
}

/** The first eight digits of the name of the present WAL file. 0 if the server has no such files, as Amazon Aurora. */
async function readTimeline(client: pg.Client): Promise<number> {
  try {
    const { rows } = await client.query("select pg_walfile_name(pg_current_wal_lsn()) as name");
    return Number.parseInt(rows[0]?.name.slice(0, 8), 16);
  } catch (error) {
    if (error instanceof pg.DatabaseError) return 0;
    throw error;
  }
}
