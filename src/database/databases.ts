import type { Adapter, Adapters, Warn } from "../engines/adapter.ts";
import { openAdapter } from "../engines/open-adapter.ts";
import { FolderInUse } from "../process/folder-lock.ts";
import type { Database } from "./database.ts";
import { postgresParameters } from "./postgres/parameters.ts";

const postgres: Adapter<Database> = {
  form: "postgres://USER:PASSWORD@HOST:5432,HOST:5432/DATABASE?pool=10&connect_timeout=5&sslmode=disable&sslrootcert=FILE",
  load: () => import("./postgres/postgres.ts"),
  hasManyHosts: true,
  hostParameter: "host",
  parameters: postgresParameters,
};
const replica: Adapter<Database> = {
  ...postgres,
  load: async () => ({ open: (await import("./postgres/postgres.ts")).openReplica }),
};

/** The engines that can be a replica for reading. */
export const replicas = { "postgres:": replica, "postgresql:": replica } satisfies Adapters<Database>;

export const databases = {
  "pglite:": { form: "pglite:FOLDER or pglite:memory", load: () => import("./pglite/pglite.ts") },
  "postgres:": postgres,
  "postgresql:": postgres,
} satisfies Adapters<Database>;

/** Opens a database. If its URL has several hosts, it is the primary of them; `warn` gets a text when another one becomes it. */
export const openDatabase = (url: string, warn?: Warn) => openAdapter<Database>(databases, url, warn);

/** Opens a database to read from. If its URL has several hosts, it is a replica, or the primary if no replica responds. */
export const openReplica = (url: string, warn?: Warn) => openAdapter<Database>(replicas, url, warn);

/**
 * Opens the database for a command. If another process has the folder of an embedded database, the command uses the engine
 * of that process.
 */
export async function openCommandDatabase(url: string): Promise<Database> {
  try {
    return await openDatabase(url);
  } catch (error) {
    if (!(error instanceof FolderInUse)) throw error;
    const { joinDatabase } = await import("./pglite/joined.ts");
    return joinDatabase(error);
  }
}
