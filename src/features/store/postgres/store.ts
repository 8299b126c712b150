import type { Sql } from "../../../database/database.ts";
import type { PostgresParameters } from "../../../database/postgres/parameters.ts";
import { open as openPostgres } from "../../../database/postgres/postgres.ts";
import type { Address } from "../../../engines/adapter.ts";
import { hostAndPort } from "../../../engines/url.ts";
import { messageOf } from "../../../process/describe-error.ts";
import { sharedNext } from "../../../waiting/shared.ts";
import { recordsKept, type StoreParameters } from "../parameters.ts";
import type { FeatureStore } from "../store.ts";
import { directoryOf } from "./directory.ts";
import { withFailures } from "./failure.ts";
import { featuresIn } from "./features.ts";
import { feedOf } from "./feed.ts";
import { historyIn } from "./history.ts";
import { prepareSchema } from "./schema.ts";

/** Limit for a statement, in milliseconds. */
const responseMaxMs = 2000;
/** Maximum number of expiries in one transaction. */
const expiriesPerStep = 200;

/**
 * A store in the schema `feature_storage` of a PostgreSQL, which it creates. Functions in the database make all changes
 * (`migrations/`). A change is one statement, so a process that hangs holds no lock.
 */
export async function open(address: Address<PostgresParameters & StoreParameters>): Promise<FeatureStore> {
  const records = recordsKept(address.parameters);
  const keepsAll = records === Number.POSITIVE_INFINITY;
  const kept = keepsAll ? null : records;
  await using opening = new AsyncDisposableStack();
  const database = opening.use(await openPostgres(address, "feature-storage"));
  await prepareSchema(database, keepsAll, address.log).catch((error) => {
    const hosts = [address.url, ...address.others].map((url) => hostAndPort(url, 5432));
    const where = address.parameters.host ?? hosts.join(", ");
    throw new Error(`the PostgreSQL at ${where} cannot be used: ${messageOf(error)}`, { cause: error });
  });
  const read = withFailures(database.within(responseMaxMs));
  // They do not wait for the connections of long reads.
  const write = withFailures(database.within(responseMaxMs));
  const expire = sharedNext(() => expireSome(read, write, kept));
  const opened = opening.move();
  return {
    ...featuresIn(read, write, kept),
    ...directoryOf(read),
    ...feedOf(read, expire),
    history: keepsAll ? historyIn(read) : undefined,
    expire,
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}

/** See `Upkeep.expire`. */
async function expireSome(read: Sql["query"], write: Sql["query"], kept: number | null): Promise<boolean> {
  const now = Date.now();
  // The order makes the plan a scan of the index by expiry.
  const due = await read(
    "select from feature_storage.feature where expires_at <= $1 order by expires_at limit 1",
    [now],
  );
  if (due.length === 0) return false;
  const [row] = await write<{ removed: bigint }>(
    "select feature_storage.expire($1, $2, $3) as removed",
    [now, expiriesPerStep, kept],
    "repeated",
  );
  return row?.removed === BigInt(expiriesPerStep);
}
