import { openDatabase } from "../../src/database/databases.ts";
import { receiverLimits, settings } from "../../src/ledger/settings.ts";
import { migrate } from "../../src/ledger/tables/migrate.ts";
import { readSettings } from "../../src/process/settings.ts";
import { handleCalls } from "../handle-calls.ts";
import { messagesOf, type Workload } from "../payments.ts";

/**
 * Inserts the events of messages without reading the messages, and without entries in the feed. The size and the
 * concurrency of the statements are those of the batches of the ledger. Returns events per second.
 */
const values = readSettings(process.env, settings);
const { batchSize, concurrency } = receiverLimits(values);
const statement = `
  insert into event (resource_type, resource_external_id, parent_resource_external_id, timestamp, event_type,
                     service_id, live, event_details)
  select resource_type, resource_external_id, parent_resource_external_id, timestamp, event_type,
         service_id, live, event_details
  from jsonb_to_recordset($1::jsonb) as new_event (
    resource_type text, resource_external_id text, parent_resource_external_id text, timestamp timestamptz,
    event_type text, service_id text, live boolean, event_details jsonb)
  on conflict do nothing`;
const database = await openDatabase(values.DATABASE_URL);
await migrate(database);
await database.run("alter table event disable trigger add_to_event_feed");

async function countEvents(): Promise<number> {
  const [row] = await database.query<{ count: bigint }>("select count(*) from event");
  return Number(row?.count);
}

async function insert(offsets: Iterable<number>, messages: string[]): Promise<void> {
  for (const offset of offsets) {
    await database.query(statement, [`[${messages.slice(offset, offset + batchSize).join()}]`]);
  }
}

handleCalls(async (workload: Workload) => {
  const messages = messagesOf(workload);
  const before = await countEvents();
  const start = performance.now();
  const offsets = messages.keys().filter((index) => index % batchSize === 0);
  await Promise.all(Array.from({ length: concurrency }, () => insert(offsets, messages)));
  const seconds = (performance.now() - start) / 1000;
  const inserted = (await countEvents()) - before;
  if (inserted !== messages.length) throw new Error(`${messages.length} messages became ${inserted} events`);
  return messages.length / seconds;
});
