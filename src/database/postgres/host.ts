import pg from "pg";
import { shared } from "../../waiting/shared.ts";
import { withTimeout } from "../../waiting/with-timeout.ts";

/** A host of a URL that names several. */
export interface Host {
  host: string;
  port: number;
}

/** The last response of a host, or the error in its place. Undefined before the first look, and while the host is doubted. */
export type State = { timeline: number } | typeof readOnly | Error | undefined;

/** Limit for the response of a host. A pooler accepts connections while its server is down, and remains silent. */
const lookMaxMs = 750;

export const readOnly = "is read-only";
export const silent = new Error(`no response within ${lookMaxMs} ms`);

/** Read-only is a replica, and a primary with `default_transaction_read_only`. A pooler passes the response on. */
export const readOnlyQuery = "show transaction_read_only";
export const isReadOnly = ({ rows }: pg.QueryResult): boolean => rows[0]?.transaction_read_only === "on";

export type WatchedHost = ReturnType<typeof watchHost>;

/** A host that is looked at over a connection of its own, which is kept. */
export function watchHost(host: Host, Client: typeof pg.Client, config: pg.PoolConfig) {
  let connected: pg.Client | undefined;

  async function connect(): Promise<pg.Client> {
    const client = new Client({ ...config, ...host });
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
    lookedAt: Number.NEGATIVE_INFINITY,
    /** Updates the state. */
    look: shared(async () => {
      const beganAt = performance.now();
      try {
        watched.state = await withTimeout(readState(), lookMaxMs, silent);
      } catch (error) {
        watched.state = error as Error;
        close();
      }
      watched.lookedAt = beganAt;
    }),
    close,
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
