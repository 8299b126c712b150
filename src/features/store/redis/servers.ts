import { once } from "node:events";
import * as redis from "@redis/client";
import { hostAndPort, hostOf } from "../../../engines/url.ts";
import { messageOf } from "../../../process/describe-error.ts";
import { shared } from "../../../waiting/shared.ts";
import { withTimeout } from "../../../waiting/with-timeout.ts";
import { StoreFailure } from "../store.ts";
import { pairs, tagOf } from "./keys.ts";

/** Limit for a connection and for a response. */
const responseMaxMs = 2000;
/** Limit for the wait of a command for a reconnection. */
const reconnectMaxMs = responseMaxMs / 2;
const renewEveryMs = 3000;
const versionMin = 7;

export type Command = [name: string, ...args: string[]];
/** A command for the server of a part. */
export type PartCommand = [part: number, command: Command];

/** One Redis, or a Redis Cluster. The driver finds the server of a part and reconnects by itself. */
export type Servers = Awaited<ReturnType<typeof openServers>>;

/** The client in use, and those that it has replaced and whose commands may still get responses. */
interface Clients {
  readonly connect: () => Promise<Client>;
  inUse: Client;
  readonly open: Set<Client>;
  renewedAt: number;
}

/**
 * Connects to the server at the URL, or to a cluster through the nodes at the URLs. `serverName` is the name in their TLS
 * certificates; default: the host to which a connection is made. Rejects if no node can be used.
 */
export async function openServers(urls: [URL, ...URL[]], serverName?: string) {
  const [{ protocol, pathname }] = urls;
  const isCluster = protocol.includes("+cluster");
  if (!/^\/?\d{0,5}$/.test(pathname))
    throw new Error("the URL must have the number of a database as its path");
  if (isCluster && Number(pathname.slice(1)) !== 0)
    throw new Error("a Redis Cluster has only database 0; its URL names another");
  const connect = async () => {
    const made = isCluster ? clientOfCluster(urls, serverName) : clientOfOne(urls[0], serverName);
    await made.open().catch((error) => {
      made.destroy();
      throw error;
    });
    return made;
  };
  const client = await connect().catch((error) => {
    const where = urls.map((url) => hostAndPort(url, 6379));
    throw new Error(`the Redis at ${where.join(", ")} cannot be used: ${reasonOf(error)}`, { cause: error });
  });
  const open = new Set([client]);
  const clients: Clients = { connect, inUse: client, open, renewedAt: Number.NEGATIVE_INFINITY };
  return {
    /**
     * Sends a command to the server of the part; without a part, SCAN iterates over all servers. Rejects with
     * `StoreFailure` after 2 seconds; its cause is the error of the server, if there is one.
     */
    send: async <Reply>(part: number | undefined, command: Command): Promise<Reply> =>
      (await replyWithin(clients, clients.inUse.send(part, command))) as Reply,
    /** Sends many commands, which cost less together. Rejects like `send`, if one of them fails. */
    sendAll: async <Reply>(commands: PartCommand[]): Promise<Reply[]> => {
      const replies = commands.map(([part, command]) => clients.inUse.send(part, command));
      return (await replyWithin(clients, Promise.all(replies))) as Reply[];
    },
    [Symbol.dispose](): void {
      for (const one of open) one.destroy();
      open.clear();
    },
  };
}

async function replyWithin<Reply>(clients: Clients, reply: Promise<Reply>): Promise<Reply> {
  try {
    return await withTimeout(reply, responseMaxMs, late);
  } catch (error) {
    const isServerError = error instanceof redis.ErrorReply && !/^(CLUSTERDOWN|READONLY)/.test(error.message);
    // If the replacement fails, the old client continues.
    if (!isServerError) renew(clients).catch(() => {});
    throw failureOf(error as Error);
  }
}

/**
 * Replaces the client after a failure. The driver keeps a silent connection while it has something to write, and it
 * looks for the successor of a master only if it was connected to that master.
 */
async function renew(clients: Clients): Promise<void> {
  if (performance.now() < clients.renewedAt + renewEveryMs) return;
  clients.renewedAt = performance.now();
  const next = await clients.connect();
  const { inUse: before, open } = clients;
  if (open.size === 0) return next.destroy();
  clients.inUse = next;
  open.add(next);
  // By then every command of the old client has a response or has timed out.
  setTimeout(() => open.delete(before) && before.destroy(), responseMaxMs).unref();
}

interface Client {
  open(): Promise<unknown>;
  send(part: number | undefined, command: Command): Promise<unknown>;
  destroy(): void;
}

function clientOfOne(url: URL, serverName: string | undefined): Client {
  const { defaults, ...options } = optionsFor(url, serverName);
  const socket = { ...defaults.socket, ...addressOf(url) };
  const database = Number(url.pathname.slice(1));
  const client = redis
    .createClient({
      ...options,
      ...defaults,
      database,
      socket,
      // The timeout of the driver costs several times as much as a command.
      commandOptions: { timeout: undefined },
      disableOfflineQueue: true,
    })
    .on("error", () => {});
  const whenReady = shared(() => new Promise((resolve) => client.once("ready", resolve)));
  const connected = () => withTimeout(whenReady(), reconnectMaxMs, new Error("there is no connection"));
  return {
    // Fails at the first error; the driver would retry.
    open: () => Promise.all([once(client, "ready"), check(client.connect(), false)]),
    send: (_part, command) =>
      client.isReady ? client.sendCommand(command) : connected().then(() => client.sendCommand(command)),
    destroy: () => client.destroy(),
  };
}

function clientOfCluster(urls: [URL, ...URL[]], serverName: string | undefined): Client {
  const rootNodes = urls.map((url) => ({ socket: addressOf(url) }));
  let lastError: unknown;
  const keepError = (error: unknown) => {
    lastError = error;
  };
  const cluster = redis
    .createCluster({
      ...optionsFor(urls[0], serverName),
      rootNodes,
      // The default is to wait for all masters.
      minimizeConnections: true,
      commandOptions: { timeout: reconnectMaxMs },
    })
    .on("error", keepError)
    // The driver connects to a node again and again, so that a command only times out.
    .on("node-error", keepError);
  return {
    async open() {
      await cluster.connect().catch((error) => {
        throw lastError ?? error;
      });
      // One usable master is enough. The others may become usable later.
      const checks = cluster.masters.map((node) => check(cluster.nodeClient(node), true));
      await Promise.any(checks).catch(({ errors }: AggregateError) => {
        const [error = new Error("the cluster has no servers with slots")] = errors;
        throw error === late ? (lastError ?? late) : error;
      });
    },
    send: (part, command) => cluster.sendCommand(part === undefined ? part : tagOf(part), false, command),
    destroy: () => cluster.destroy(),
  };
}

const addressOf = (url: URL) => ({ host: hostOf(url), port: Number(url.port || 6379) });

const optionsFor = ({ protocol, username, password }: URL, servername: string | undefined) => ({
  RESP: 2 as const,
  defaults: {
    ...(username && { username: decodeURIComponent(username) }),
    ...(password && { password: decodeURIComponent(password) }),
    clientInfoTag: "feature-storage",
    /** An idle connection is tested too, and replaced if it is dead. */
    pingInterval: responseMaxMs / 2,
    socket: {
      connectTimeout: responseMaxMs,
      /** Longer than the limit for a response, so that a late response is reported as late. */
      socketTimeout: responseMaxMs * 1.25,
      reconnectStrategy: 100,
      ...(protocol.startsWith("rediss") && { tls: true as const, ...(servername && { servername }) }),
    },
  },
});

/** Rejects if changes would fail on the server. Every user may send HELLO; Valkey has no `redis_mode` in its INFO. */
async function check(
  connecting: Promise<{ sendCommand(command: Command): Promise<unknown> }>,
  isCluster: boolean,
): Promise<void> {
  const response = connecting.then((server) => server.sendCommand(["HELLO"]));
  const fields = (await withTimeout(response, responseMaxMs, late)) as string[];
  const { version, mode } = Object.fromEntries(pairs(fields));
  if (Number.parseInt(version ?? "", 10) < versionMin)
    throw new Error(`it is older than Redis ${versionMin}.0`);
  if (!isCluster && mode === "cluster") {
    throw new Error("it is a node of a cluster, whose URL must begin with redis+cluster: or rediss+cluster:");
  }
}

const late = new StoreFailure("the store did not respond in time");

function failureOf(error: Error): StoreFailure {
  if (error === late || error instanceof redis.SocketTimeoutError) return late;
  const reason =
    error instanceof redis.ErrorReply ? `returned an error: ${messageOf(error)}` : "cannot be reached";
  return new StoreFailure(`the store ${reason}`, { cause: error });
}

/** The message of the server's error; empty if the server did not respond. */
export const errorMessageOf = ({ cause }: Error): string =>
  cause instanceof redis.ErrorReply ? cause.message : "";

function reasonOf(error: NodeJS.ErrnoException): string | undefined {
  if (error instanceof redis.SocketTimeoutError) return late.message;
  // Some errors of the system have a code and no message.
  const message = messageOf(error) || error.code;
  return error.code === "ERR_TLS_CERT_ALTNAME_INVALID" ? `${message}; ${serverNameHint}` : message;
}

const serverNameHint =
  "if the servers announce addresses that their certificates do not contain, add ?server_name=NAME to the URL, with a " +
  "name that they contain";
