import { once } from "node:events";
import * as redis from "@redis/client";
import { hostOf } from "../../process/adapter.ts";
import { messageOf } from "../../process/describe-error.ts";
import { inTime } from "../../process/with-timeout.ts";
import { StoreFailure } from "./store.ts";

/** Within which a server has to be connected to and to answer. */
const answerMaxMs = 2000;
/** So long a command waits for a connection that was lost. */
const reconnectMaxMs = answerMaxMs / 2;
const renewEveryMs = 3000;
const versionMin = 7;

/**
 * Keys are in parts; those of a part have its hash tag, so that one server of a cluster has them all and a script can
 * change them in one step. These tags spread evenly over the slots of clusters of 2 to 16 masters.
 */
export const parts = Array.from({ length: 16 }, (_, part) => part);
export const tagOf = (part: number) => `{${part}/${parts.length}}`;

export type Command = [name: string, ...args: string[]];

/** The server that has all parts, or a cluster: the driver finds who has which, and connects again by itself. */
export interface Servers extends Disposable {
  /**
   * Asks who has the part; without one, SCAN walks through all servers.
   * Rejects with `StoreFailure`, whose cause is what the server said when it said something.
   */
  ask<Reply>(part: number | undefined, command: Command): Promise<Reply>;
}

/** Opens the servers at these URLs: the one, or some of a cluster's. */
export async function openServers(urls: [URL, ...URL[]]): Promise<Servers> {
  const [{ protocol, pathname }] = urls;
  const isCluster = protocol.includes("+cluster");
  if (urls.some(({ hostname }) => hostname === "")) throw new Error("the URL names no host");
  if (!/^\/?\d{0,5}$/.test(pathname))
    throw new Error("the URL must have the number of a database as its path");
  if (isCluster && Number(pathname.slice(1)) !== 0)
    throw new Error("a Redis Cluster has no databases to choose from; its URL names one");
  const connect = async () => {
    const made = isCluster ? clientOfCluster(urls) : clientOfOne(urls[0]);
    try {
      await made.open();
      return made;
    } catch (error) {
      made.destroy();
      throw error;
    }
  };
  let client = await connect().catch((error) => {
    const where = urls.map(addressOf).map(({ host, port }) => `${host}:${port}`);
    throw new Error(`the Redis at ${where.join(", ")} cannot be used: ${reasonOf(error)}`, { cause: error });
  });
  const clients = new Set([client]);
  let renewedAt = Number.NEGATIVE_INFINITY;

  /**
   * The driver keeps a silent connection as long as something is written to it, and looks for who follows a master
   * only when it was once connected to that one. So after a failure a new client is opened, beside the one there is.
   */
  async function renew(): Promise<void> {
    if (performance.now() < renewedAt + renewEveryMs) return;
    renewedAt = performance.now();
    const next = await connect();
    if (clients.size === 0) return next.destroy();
    const before = client;
    client = next;
    clients.add(next);
    // By then, what it was asked has an answer or is late.
    setTimeout(() => clients.delete(before) && before.destroy(), answerMaxMs).unref();
  }

  return {
    async ask<Reply>(part: number | undefined, command: Command) {
      try {
        return (await inTime(client.ask(part, command), answerMaxMs, late)) as Reply;
      } catch (error) {
        const isRefused = error instanceof redis.ErrorReply && !/^(CLUSTERDOWN|READONLY)/.test(error.message);
        // When it cannot be done now, the one there is goes on.
        if (!isRefused) renew().catch(() => {});
        throw failureOf(error as Error);
      }
    },
    [Symbol.dispose]() {
      for (const one of clients) one.destroy();
      clients.clear();
    },
  };
}

interface Client {
  open(): Promise<unknown>;
  ask(part: number | undefined, command: Command): Promise<unknown>;
  destroy(): void;
}

function clientOfOne(url: URL): Client {
  const { defaults, ...options } = optionsFor(url);
  const socket = { ...defaults.socket, ...addressOf(url) };
  const database = Number(url.pathname.slice(1));
  const client = redis
    .createClient({
      ...options,
      ...defaults,
      database,
      socket,
      // Its own wait for a connection costs several times as much as a command, and each command pays for it.
      commandOptions: { timeout: undefined },
      disableOfflineQueue: true,
    })
    .on("error", () => {});
  let connecting: Promise<unknown> | undefined;
  const connected = () => {
    connecting ??= new Promise((resolve) => client.once("ready", resolve)).finally(() => {
      connecting = undefined;
    });
    return inTime(connecting, reconnectMaxMs, new Error("there is no connection"));
  };
  return {
    // The first error is enough; the driver would go on trying.
    open: () => Promise.all([once(client, "ready"), check(client.connect(), false)]),
    async ask(_part, command) {
      if (!client.isReady) await connected();
      return client.sendCommand(command);
    },
    destroy: () => client.destroy(),
  };
}

function clientOfCluster(urls: [URL, ...URL[]]): Client {
  const rootNodes = urls.map((url) => ({ socket: addressOf(url) }));
  let trouble: unknown;
  const cluster = redis
    .createCluster({
      ...optionsFor(urls[0]),
      rootNodes,
      // Otherwise it would wait for all masters.
      minimizeConnections: true,
      commandOptions: { timeout: reconnectMaxMs },
    })
    .on("error", (error) => {
      trouble = error;
    });
  return {
    async open() {
      await cluster.connect().catch((error) => {
        throw trouble ?? error;
      });
      // One master is enough, the others may come.
      const checks = cluster.masters.map((node) => check(cluster.nodeClient(node), true));
      await Promise.any(checks).catch(({ errors }: AggregateError) => {
        throw errors[0] ?? new Error("the cluster has no servers with slots");
      });
    },
    ask: (part, command) => cluster.sendCommand(part === undefined ? part : tagOf(part), false, command),
    destroy: () => cluster.destroy(),
  };
}

const addressOf = (url: URL) => ({ host: hostOf(url), port: Number(url.port || 6379) });

const optionsFor = ({ protocol, username, password }: URL) => ({
  RESP: 2 as const,
  defaults: {
    ...(username && { username: decodeURIComponent(username) }),
    ...(password && { password: decodeURIComponent(password) }),
    clientInfoTag: "feature-storage",
    /** Also what is not asked says something, or is connected to anew. */
    pingInterval: answerMaxMs / 2,
    socket: {
      connectTimeout: answerMaxMs,
      /** More than the time to answer, so that what is late is said to be late. */
      socketTimeout: answerMaxMs * 1.25,
      reconnectStrategy: 100,
      ...(protocol.startsWith("rediss") && { tls: true as const }),
    },
  },
});

/** Refuses a server on which changes would fail; one that tells nothing of itself is taken as it is. */
async function check(
  connecting: Promise<{ info(section: string): Promise<string> }>,
  isCluster: boolean,
): Promise<void> {
  const asked = connecting.then((server) => server.info("server"));
  const about = await inTime(asked, answerMaxMs, late).catch((error) => {
    if (error.message.startsWith("NOPERM")) return "";
    throw error;
  });
  const [version] = /(?<=^redis_version:)\d+/m.exec(about) ?? [];
  if (version && Number(version) < versionMin) throw new Error(`it is older than Redis ${versionMin}.0`);
  if (!isCluster && about.includes("redis_mode:cluster")) {
    throw new Error("it belongs to a cluster, whose URLs begin with redis+cluster: or rediss+cluster:");
  }
}

const late = new StoreFailure("the store did not answer in time");

function failureOf(error: Error): StoreFailure {
  if (error === late || error instanceof redis.SocketTimeoutError) return late;
  const what = error instanceof redis.ErrorReply ? `refused: ${messageOf(error)}` : "cannot be reached";
  return new StoreFailure(`the store ${what}`, { cause: error });
}

/** What a server said when it refused; nothing when it did not answer. */
export const wordsOf = ({ cause }: Error): string => (cause instanceof redis.ErrorReply ? cause.message : "");

/** Some errors of the system have a code and no words. */
const reasonOf = (error: NodeJS.ErrnoException) =>
  error instanceof redis.SocketTimeoutError ? late.message : messageOf(error) || error.code;
