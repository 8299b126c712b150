import type { PostgresParameters } from "../../../database/postgres/parameters.ts";
import { open as openPostgres } from "../../../database/postgres/postgres.ts";
import type { Address } from "../../../engines/adapter.ts";
import { hostAndPort } from "../../../engines/url.ts";
import { messageOf } from "../../../process/describe-error.ts";
import { inBatches } from "../../../waiting/batches.ts";
import { sharedNext } from "../../../waiting/shared.ts";
import { mapInTurns } from "../../../waiting/turns.ts";
import { readCursor } from "../cursor.ts";
import { keyOfName } from "../name-key.ts";
import { recordsKept, type StoreParameters } from "../parameters.ts";
import {
  type ChangeOutcome,
  type Entry,
  type FeatureChange,
  type FeatureStore,
  featuresMax,
  ignoreFailure,
} from "../store.ts";
import { liveInOrder, withoutPlace } from "../stored-entry.ts";
import { late, withFailures } from "./failure.ts";
import { type FeedRow, feedColumns, pageIn, readNewest } from "./feed.ts";
import { historyIn } from "./history.ts";
import {
  changeColumns,
  entryIn,
  type FeatureRow,
  featureColumns,
  keyOfPosition,
  type Names,
} from "./rows.ts";
import { prepareSchema } from "./schema.ts";

/** Limit for a statement, in milliseconds. */
const responseMaxMs = 2000;
/** Limit for a change and its wait for a batch, in milliseconds. */
const changeMaxMs = 5000;
/** Maximum number of requests whose changes are made in one transaction, and of their changes. */
const requestsPerBatch = 50;
const changesPerBatch = 100;
/** Maximum number of expiries in one transaction. */
const expiriesPerStep = 200;
/** Number of entries of a list that is read on a connection of its own. */
const longList = 100;
/** Number of features of a resource that are looked up on a connection of its own. */
const manyFeatures = 20;
/** Number of entries that `entries` reads at once. A list of `featuresMax` is always read at once. */
const entriesPerRead = 2 * featuresMax;

const isOfResource = "resource = $1 and id = $2";
const isLive = (now: string) => `(expires_at is null or expires_at > ${now})`;

const hasOne = `select feature from feature_storage.feature
  where ${isOfResource} and feature = $3 and ${isLive("$4")}`;
/** The limit makes the plan a look-up of each key, where a list could be read as a whole. */
const hasSome = `select wanted.feature from unnest($3::text[]) as wanted (feature)
  cross join lateral (
    select from feature_storage.feature
    where ${isOfResource} and feature = wanted.feature and ${isLive("$4")} limit 1
  ) as present`;

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

  const makeChanges = inBatches<ChangeRequest, ChangeOutcome>(
    async (requests) => {
      const [row] = await write<{ outcomes: (boolean[] | Rejection)[] }>(
        "select feature_storage.change($1, $2, $3, $4) as outcomes",
        [JSON.stringify(requests), Date.now(), featuresMax, kept],
        "repeated",
      );
      return (row?.outcomes ?? []).map((outcome) =>
        typeof outcome === "string" ? { rejected: outcome } : { had: outcome },
      );
    },
    {
      requests: requestsPerBatch,
      size: changesPerBatch,
      sizeOf: ({ changes, onlyIf = [] }) => changes.length + onlyIf.length,
      maxMs: changeMaxMs,
      late,
    },
  );

  const expire = sharedNext(async () => {
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
  });

  async function list(resource: string, id: string): Promise<Entry[]> {
    const text = `select ${featureColumns} from feature_storage.feature
      where ${isOfResource} and ${isLive("$3")} order by place`;
    const values = [keyOfName(resource), keyOfName(id), Date.now()];
    const first = await read<FeatureRow>(`${text} limit ${longList + 1}`, values);
    const rows = first.length > longList ? await read<FeatureRow>(text, values, "repeated") : first;
    return await mapInTurns(rows, (row) => withoutPlace(entryIn(row)));
  }

  const opened = opening.move();
  return {
    list,
    async has(resource, id, features) {
      const keys = features.map(keyOfName);
      const [text, value] = keys.length === 1 ? [hasOne, keys[0]] : [hasSome, keys];
      const rows = await read<{ feature: string }>(
        text,
        [keyOfName(resource), keyOfName(id), value, Date.now()],
        keys.length > manyFeatures ? "repeated" : "prepared",
      );
      const found = new Set(rows.map(({ feature }) => feature));
      return keys.map((key) => found.has(key));
    },
    change: (resource, id, changes, onlyIf) => makeChanges(requestFor(resource, id, changes, onlyIf)),
    async idsWith(resource, feature, after, limit) {
      const rows = await read<FeatureRow>(
        `select ${featureColumns} from feature_storage.feature
        where resource = $1 and feature = $2 and id > $3 and ${isLive("$4")} order by id limit $5`,
        [keyOfName(resource), keyOfName(feature), keyOfPosition(after), Date.now(), limit],
        "repeated",
      );
      return await mapInTurns(rows, (row) => entryIn(row).id);
    },
    async count(resource, feature) {
      const [row] = await read<{ resources: bigint }>(
        `select resources - (
          select count(*) from feature_storage.feature where resource = $1 and feature = $2 and expires_at <= $3
        ) as resources
        from feature_storage.feature_use where resource = $1 and feature = $2`,
        [keyOfName(resource), keyOfName(feature), Date.now()],
      );
      return Number(row?.resources ?? 0);
    },
    async featuresInUse(resource, limit) {
      const rows = await read<{ feature: string; name: string | null }>(
        `select feature, name from feature_storage.feature_use
        where resource = $1 order by feature limit $2`,
        [keyOfName(resource), limit],
        "repeated",
      );
      return await mapInTurns(rows, ({ feature, name }) => name ?? feature);
    },
    async entriesOf(resource, after, limit) {
      const rows = await read<FeatureRow>(
        `select ${featureColumns} from feature_storage.feature
        where resource = $1 and (feature, id) > ($2, $3) and ${isLive("$4")} order by feature, id limit $5`,
        [keyOfName(resource), keyOfPosition(after?.feature), keyOfPosition(after?.id), Date.now(), limit],
        "repeated",
      );
      return await mapInTurns(rows, (row) => withoutPlace(entryIn(row)));
    },
    async changes(after, limit, until) {
      await expire().catch(ignoreFailure);
      const end = readCursor(until ?? "");
      const rows = await read<FeedRow>(
        `select ${feedColumns("$1")}, page.* from feature_storage.feed_state
        left join lateral (
          select ${changeColumns} from feature_storage.change
          where number >= first_number and number > $1
          and number <= case when log = $2 then $3 else last_number end
          order by number limit $4
        ) as page on true`,
        [readCursor(after ?? "")?.number ?? 0, end?.logId ?? "", end?.number ?? 0, limit],
        "repeated",
      );
      return await pageIn(rows, after);
    },
    async newest() {
      await expire().catch(ignoreFailure);
      return await readNewest(read);
    },
    history: keepsAll ? historyIn(read) : undefined,
    expire,
    async *entries() {
      for (let after = { resource: "", id: "" }; ; ) {
        const rows = await read<FeatureRow>(
          `select ${featureColumns} from feature_storage.feature
          where (resource, id) > ($1, $2) order by resource, id, feature limit $3`,
          [after.resource, after.id, entriesPerRead],
          "repeated",
        );
        const lists = [...Map.groupBy(rows, ({ resource, id }) => JSON.stringify([resource, id])).values()];
        // The last list of a full page can be incomplete.
        if (rows.length === entriesPerRead && lists.length > 1) lists.pop();
        const [first] = lists.at(-1) ?? [];
        if (!first) return;
        if (lists[0]?.length === entriesPerRead) {
          const { resource, id } = entryIn(first);
          yield* await list(resource, id);
        } else {
          for (const own of lists) yield* liveInOrder(await mapInTurns(own, entryIn)).map(withoutPlace);
        }
        after = first;
      }
    },
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}

type Rejection = Extract<ChangeOutcome, { rejected: string }>["rejected"];

/** A request to `feature_storage.change`, with the keys of names. */
interface ChangeRequest {
  resource: string;
  id: string;
  onlyIf?: string[] | undefined;
  /** The number of additions among the changes. */
  additions: number;
  changes: (FeatureChange & { names?: Names | undefined })[];
}

function requestFor(
  resource: string,
  id: string,
  changes: FeatureChange[],
  onlyIf: string[] | undefined,
): ChangeRequest {
  const [resourceKey, idKey] = [keyOfName(resource), keyOfName(id)];
  const isLong = resourceKey !== resource || idKey !== id;
  return {
    resource: resourceKey,
    id: idKey,
    onlyIf: onlyIf?.map(keyOfName),
    additions: changes.filter(({ type }) => type === "add").length,
    changes: changes.map((change) => {
      const feature = keyOfName(change.feature);
      const hasNames = change.type === "add" && (isLong || feature !== change.feature);
      return { ...change, feature, names: hasNames ? [resource, id, change.feature] : undefined };
    }),
  };
}
