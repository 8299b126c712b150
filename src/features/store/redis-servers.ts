import { createClient, ErrorReply } from "@redis/client";
import { hostOf } from "../../service/adapter.ts";
import { inTime } from "../../service/in-time.ts";
import { StoreFailure } from "./store.ts";

/** Within which a server has to be connected to and to answer. */
const answerMaxMs = 2000;
const portOtherwise = 6379;
const versionMin = 7;

/**
 * Keys are in parts; those of a part have its hash tag, so that one server of a cluster has them all and a script can
 * change them in one step. These tags spread evenly over the slots of clusters of 2 to 16 masters.
 */
export const parts = Array.from({ length: 16 }, (_, part) => part);
export const tagOf = (part: number) => `{${part}/${parts.length}}`;

export type Command = [name: string, ...args: string[]];

/** One server, asked through a connection that is opened when it is needed, and anew when it broke or was silent. */
export interface Link extends Disposable {
  address: Address;
  /** Rejects with `StoreFailure`, whose cause is what the server said when it said something. */
  ask<Reply>(command: Command, before?: Command): Promise<Reply>;
}

/** The server that has all parts, or the masters of a cluster. */
export interface Servers extends Disposable {
  /** Asks the one that has the part. */
  ask<Reply>(part: number, command: Command): Promise<Reply>;
  /** Who has the parts, each once. */
  masters(): Promise<Link[]>;
}

interface Address {
  host: string;
  port: number;
}

/** Opens the servers at these URLs: the one, or some of a cluster's. */
export async function openServers(urls: [URL, ...URL[]]): Promise<Servers> {
  const [url] = urls;
  const isCluster = url.protocol.includes("+cluster");
  const database = databaseOf(url);
  if (urls.some(({ hostname }) => hostname === "")) throw new Error("the URL names no host");
  if (isCluster && database !== 0)
    throw new Error("a Redis Cluster has no databases to choose from; its URL names one");
  const linkAt = (address: Address) => openLink(url, database, address);
  const addresses = urls.map(addressOf);
  const servers = isCluster ? openCluster(addresses, linkAt) : single(linkAt(addressOf(url)));
  try {
    const masters = await servers.masters();
    await firstOf(masters.map((master) => check(master, isCluster)));
    return servers;
  } catch (error) {
    servers[Symbol.dispose]();
    const where = addresses.map(nameOf).join(", ");
    throw new Error(`the Redis at ${where} cannot be used: ${reasonOf(error as Error)}`, { cause: error });
  }
}

const addressOf = (url: URL): Address => ({ host: hostOf(url), port: Number(url.port || portOtherwise) });
const nameOf = ({ host, port }: Address) => `${host}:${port}`;

function databaseOf({ pathname }: URL): number {
  if (!/^\/?\d{0,5}$/.test(pathname))
    throw new Error("the URL must have the number of a database as its path");
  return Number(pathname.slice(1));
}

/** The first that succeeds, or what is wrong with the first. */
const firstOf = <Result>(works: Promise<Result>[]): Promise<Result> =>
  Promise.any(works).catch(({ errors }: AggregateError) => {
    throw errors[0];
  });

/** The innermost of what is known; some errors of the system have a code and no words. */
function reasonOf({ message, cause }: Error): string {
  const inner = cause as NodeJS.ErrnoException | undefined;
  return inner?.message || inner?.code || message;
}

/** Refuses a server on which changes would fail; one that tells nothing of itself is taken as it is. */
async function check(server: Link, isCluster: boolean): Promise<void> {
  const about = await server.ask<string>(["INFO", "server"]).catch((error) => {
    if (wordsOf(error).startsWith("NOPERM")) return "";
    throw error;
  });
  const [version] = /(?<=^redis_version:)\d+/m.exec(about) ?? [];
  if (version && Number(version) < versionMin) throw new Error(`it is older than Redis ${versionMin}.0`);
  if (!isCluster && about.includes("redis_mode:cluster")) {
    throw new Error("it belongs to a cluster, whose URLs begin with redis+cluster: or rediss+cluster:");
  }
}

/** What a server said when it refused; nothing when it did not answer. */
export const wordsOf = (error: unknown): string => {
  const { cause } = error as Error;
  return cause instanceof ErrorReply ? cause.message : "";
};

const single = (link: Link): Servers => ({
  ask: (_part, command) => link.ask(command),
  masters: async () => [link],
  [Symbol.dispose]: () => link[Symbol.dispose](),
});

function openLink(url: URL, database: number, address: Address): Link {
  let current: Connection | undefined;

  /** A client of one connection: by itself it would wait without limits for a server that is silent. */
  function connection(): Connection {
    const client = createClient({
      ...(url.username && { username: decodeURIComponent(url.username) }),
      ...(url.password && { password: decodeURIComponent(url.password) }),
      database,
      clientInfoTag: "feature-storage",
      RESP: 2,
      disableOfflineQueue: true,
      socket: {
        ...address,
        connectTimeout: answerMaxMs,
        reconnectStrategy: false,
        ...(url.protocol.startsWith("rediss") && { tls: true as const }),
      },
    });
    let isOpen = true;
    const close = () => {
      isOpen = false;
      if (current === opened) current = undefined;
      client.destroy();
    };
    // The commands under way tell what happened.
    client.on("error", close);
    const ready = client.connect().then(() => {
      if (!isOpen) client.destroy();
    });
    const opened: Connection = { client, ready, isSilent: false, close };
    return opened;
  }

  return {
    address,
    async ask<Reply>(command: Command, before?: Command) {
      current ??= connection();
      const used = current;
      const answer = used.ready.then(() => {
        // Both are written at once, with nothing in between.
        if (before) used.client.sendCommand(before).catch(() => {});
        return used.client.sendCommand(command) as Promise<Reply>;
      });
      try {
        return await inTime(answer, answerMaxMs, late);
      } catch (error) {
        if (error === late) {
          used.isSilent = true;
          used.close();
        }
        // The others that wait for a silent server have waited long enough, too.
        throw used.isSilent ? late : failureOf(error);
      }
    },
    [Symbol.dispose]: () => current?.close(),
  };
}

interface Connection {
  client: { sendCommand(command: Command): Promise<unknown> };
  ready: Promise<void>;
  isSilent: boolean;
  close(): void;
}

const late = new StoreFailure("the store did not answer in time");

function failureOf(error: unknown): StoreFailure {
  if (error instanceof ErrorReply)
    return new StoreFailure(`the store refused: ${error.message}`, { cause: error });
  return new StoreFailure("the store cannot be reached", { cause: error });
}

/** More than a cluster sends a command about, even when its parts are being moved. */
const redirectionsMax = 5;

/**
 * The masters of a cluster. Which of them has a part is asked of whoever answers first, and again when a master says
 * that it has moved, or fails.
 */
function openCluster(seeds: Address[], linkAt: (address: Address) => Link): Servers {
  const links = new Map<string, Link>();
  const linkTo = (address: Address): Link => {
    const name = nameOf(address);
    const link = links.get(name) ?? linkAt(address);
    links.set(name, link);
    return link;
  };
  let known: Address[] = [];
  let table: Promise<(Link | undefined)[]> | undefined;
  const forget = (one: typeof table) => {
    if (table === one) table = undefined;
  };

  function owners(): Promise<(Link | undefined)[]> {
    if (table) return table;
    const loading = load();
    loading.catch(() => forget(loading));
    table = loading;
    return loading;
  }

  async function load(): Promise<(Link | undefined)[]> {
    const asked = new Map([...seeds, ...known].map((address) => [nameOf(address), address]));
    const answers = [...asked.values()].map((address) => ownersBy(linkTo(address)));
    const addresses = await firstOf(answers);
    known = addresses.filter((address) => address !== undefined);
    if (known.length === 0)
      throw new StoreFailure("the store refused: the cluster has no servers with slots");
    return addresses.map((address) => address && linkTo(address));
  }

  return {
    async ask(part, command) {
      const asked = owners();
      let link = (await asked)[part];
      if (!link) {
        forget(asked);
        throw new StoreFailure("the store refused: no server of the cluster has this part of it");
      }
      for (let redirections = 0, before: Command | undefined; ; redirections++) {
        try {
          return await link.ask(command, before);
        } catch (error) {
          const [, how, host, port] = /^(MOVED|ASK) \d+ (.*):(\d+)$/.exec(wordsOf(error)) ?? [];
          if (how !== "ASK") forget(asked);
          if (!how || redirections === redirectionsMax) throw error;
          before = how === "ASK" ? ["ASKING"] : undefined;
          // A server that does not know the host means its own.
          link = linkTo({ host: host || link.address.host, port: Number(port) });
        }
      }
    },
    async masters() {
      const all = await owners();
      return [...new Set(all)].filter((link) => link !== undefined);
    },
    [Symbol.dispose]() {
      for (const link of links.values()) link[Symbol.dispose]();
    },
  };
}

/** Which master has each part, as one server of the cluster knows it. */
async function ownersBy(link: Link): Promise<(Address | undefined)[]> {
  const [ranges, ...slots] = await Promise.all([
    link.ask<SlotRange[]>(["CLUSTER", "SLOTS"]),
    ...parts.map((part) => link.ask<number>(["CLUSTER", "KEYSLOT", tagOf(part)])),
  ]);
  return slots.map((slot) => {
    const range = ranges.find(([first, last]) => first <= slot && slot <= last);
    return range && { host: range[2][0] || link.address.host, port: range[2][1] };
  });
}

type SlotRange = [first: number, last: number, master: [host: string | null, port: number, ...unknown[]]];
