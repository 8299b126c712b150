import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import type { Warn } from "../../engines/adapter.ts";
import { messageOf } from "../../process/describe-error.ts";
import { repeat } from "../../waiting/repeat.ts";
import { shared } from "../../waiting/shared.ts";
import { type Host, isReadOnly, readOnly, type State, silent, type WatchedHost, watchHost } from "./host.ts";

/** The host to connect to: the primary; or a replica, or the primary if no replica responds. */
export type Role = "primary" | "replica";

/** The hosts of a URL that names several. Connections are made to one of them at a time. */
export type Hosts = ReturnType<typeof openHosts>;

const nameOf = ({ host, port }: Host) => `${host}:${port}`;

/** The interval in which every host is looked at: a server can be promoted while the former primary goes on. */
const lookEveryMs = 500;
/** The minimum interval of looks for which connections wait, since a server that is being promoted has other work. */
const lookPauseMs = 250;
/** For how long a look is valid. A process that was suspended looks again before it reads from a former primary. */
const lookValidMs = 2000;

/** The choice of a host. */
interface Choice {
  readonly hosts: WatchedHost[];
  readonly role: Role;
  readonly warn: Warn;
  /** The connected clients, and those that connect. */
  readonly clients: Set<pg.Client>;
  /** The host that was chosen last. Undefined before the first choice. */
  chosen: WatchedHost | undefined;
  /** True while the chosen host may not have the role. Connections wait for a search meanwhile. */
  isDoubted: boolean;
  /** The highest timeline that was seen. */
  timeline: number;
  /** Resolves with the host as soon as it is known. Rejects with the reason of each host if there is none. */
  readonly search: () => Promise<Host>;
  /** The next host that is chosen. */
  found: PromiseWithResolvers<Host>;
  searchedAt: number;
  isClosed: boolean;
}

/** The host in use. Undefined while it is doubted. */
const currentOf = ({ chosen, isDoubted }: Choice) => (isDoubted ? undefined : chosen);

/**
 * Looks at every host again and again, and leads to one of them. Of several that accept writes, the one of the highest
 * timeline is the primary, since each promotion begins a timeline. One of a lower timeline than was seen is not used again.
 *
 * If another primary is found, all connections to the former one are closed: the outcome of their work is unknown. If a
 * replica is back, connections to the primary are closed after their use.
 */
export function openHosts(hosts: Host[], role: Role, config: pg.PoolConfig, warn: Warn) {
  const Client = (config.Client ?? pg.Client) as typeof pg.Client;
  const choice: Choice = {
    hosts: hosts.map((host) => watchHost(host, Client, config)),
    role,
    warn,
    clients: new Set(),
    chosen: undefined,
    isDoubted: true,
    timeline: 0,
    search: shared(() => search(choice)),
    found: Promise.withResolvers(),
    searchedAt: Number.NEGATIVE_INFINITY,
    isClosed: false,
  };
  const watching = choice.hosts.map((host) => watch(choice, host));
  return {
    /** A client that finds its host when it connects. */
    Client: clientOf(choice, Client),
    /** True if connections are now made to another host than that of this client. */
    isFormer: (client: pg.Client) => isFormer(choice, client),
    /** To be awaited before each use of a connection. Undefined if every host was looked at within the last 2 seconds. */
    whenLookedAt(): Promise<unknown> | undefined {
      const isValid = ({ lookedAt }: WatchedHost) => lookedAt + lookValidMs > performance.now();
      return choice.hosts.every(isValid) ? undefined : lookAtAll(choice);
    },
    /** Throws if the response to `readOnlyQuery` shows that the host of this client is not the primary that it should be. */
    verify(client: pg.Client, response: pg.QueryResult): void {
      if (role === "replica" || !isReadOnly(response)) return;
      doubt(choice, client);
      throw new Error(`${nameOf(client)} is read-only`);
    },
    async [Symbol.asyncDispose](): Promise<void> {
      choice.isClosed = true;
      const ended = watching.map((one) => one[Symbol.asyncDispose]());
      for (const host of choice.hosts) host.close();
      await Promise.all(ended);
    },
  };
}

/** A client that connects to the chosen host. */
const clientOf = (choice: Choice, Client: typeof pg.Client) =>
  class extends Client {
    // The pool gives a callback, which gets the error, if any.
    override connect(callback?: unknown): Promise<pg.Client> {
      const connected = this.#connect();
      if (typeof callback === "function") connected.then(() => callback(), callback as () => void);
      return connected;
    }

    async #connect(): Promise<pg.Client> {
      const { host, port } = currentOf(choice) ?? (await choice.search());
      Object.assign(this, { host, port });
      choice.clients.add(this);
      this.on("error", () => doubt(choice, this));
      this.once("end", () => choice.clients.delete(this));
      try {
        return await super.connect();
      } catch (error) {
        doubt(choice, this);
        throw error;
      }
    }
  };

/** True if connections are now made to another host than that of this client. */
function isFormer(choice: Choice, { host, port }: pg.Client): boolean {
  const current = currentOf(choice);
  return current !== undefined && (current.host !== host || current.port !== port);
}

/** Connections wait for a new look at the hosts, if they are now made to the host of this client. */
function doubt(choice: Choice, client: pg.Client): void {
  const current = currentOf(choice);
  if (choice.isClosed || !current || isFormer(choice, client)) return;
  current.state = undefined;
  choice.isDoubted = true;
  void choice.search().catch(() => {});
}

function search(choice: Choice): Promise<Host> {
  choice.found = Promise.withResolvers();
  return Promise.race([choice.found.promise, searchAll(choice)]);
}

async function searchAll(choice: Choice): Promise<Host> {
  await sleep(Math.max(0, choice.searchedAt + lookPauseMs - performance.now()));
  choice.searchedAt = performance.now();
  await lookAtAll(choice);
  if (choice.chosen?.state === silent) use(choice, choice.chosen);
  const current = currentOf(choice);
  if (current) return current;
  const reasons = choice.hosts.map((host) => `${nameOf(host)}: ${reasonOf(choice, host.state)}`);
  throw new Error(`no host is the primary (${reasons.join("; ")})`);
}

const lookAtAll = (choice: Choice) => Promise.all(choice.hosts.map((host) => look(choice, host)));

const watch = (choice: Choice, host: WatchedHost) =>
  repeat(
    async () => {
      await look(choice, host);
      return Math.max(0, host.lookedAt + lookEveryMs - performance.now());
    },
    { keepsProcess: false },
  );

async function look(choice: Choice, host: WatchedHost): Promise<void> {
  await host.look();
  decide(choice);
}

function decide(choice: Choice): void {
  const { hosts, chosen } = choice;
  choice.timeline = Math.max(choice.timeline, ...hosts.map(({ state }) => timelineOf(state) ?? 0));
  // At first, a host that has not responded yet can be the primary.
  if (!chosen && hosts.some(({ state }) => state === undefined)) return;
  const host = hostWithRole(choice);
  if (host) use(choice, host);
  // A silent host may only be slow.
  else if (chosen?.state !== silent) choice.isDoubted = true;
}

function use(choice: Choice, host: WatchedHost): void {
  const { role, warn, clients, chosen, found } = choice;
  const current = currentOf(choice);
  if (host === current) return;
  if (chosen && chosen !== host) warn(`the database is now ${nameOf(host)}, before it was ${nameOf(chosen)}`);
  const canFinish = role === "replica" && current && isUsable(choice, current);
  choice.chosen = host;
  choice.isDoubted = false;
  found.resolve(host);
  if (canFinish) return;
  for (const client of clients) {
    if (isFormer(choice, client)) client.connection.stream.destroy(new Error("another host is used now"));
  }
}

/** The host that has the role: the one chosen last if it still has it. Undefined if there is none. */
function hostWithRole({ hosts, role, chosen, timeline }: Choice): WatchedHost | undefined {
  const lastFirst = chosen ? [chosen, ...hosts] : hosts;
  const replica = lastFirst.find(({ state }) => state === readOnly);
  const primary = lastFirst.find(({ state }) => timelineOf(state) === timeline);
  return role === "primary" ? primary : (replica ?? primary);
}

/** The timeline of a host that accepts writes; undefined for others. */
const timelineOf = (state: State): number | undefined =>
  typeof state === "object" && "timeline" in state ? state.timeline : undefined;
const isUsable = ({ timeline }: Choice, { state }: WatchedHost) =>
  state === readOnly || timelineOf(state) === timeline;

function reasonOf({ timeline }: Choice, state: State): string {
  if (state instanceof Error) return messageOf(state);
  if (state === readOnly) return readOnly;
  return `accepts writes on timeline ${timelineOf(state)}, but another host had timeline ${timeline}`;
}
