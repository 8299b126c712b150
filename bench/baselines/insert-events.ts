import { openDatabase } from "../../src/ledger/database/database.ts";
import { receiverLimits, settings } from "../../src/ledger/settings.ts";
import { migrate } from "../../src/ledger/tables/migrate.ts";
import { readSettings } from "../../src/process/settings.ts";
import { answer } from "../answer.ts";
import { type Intake, messagesOf } from "../payments.ts";

/**
 * Inserts the events of messages that it does not look at, once each, in as many statements and as many at a time as
 * the ledger takes batches; answers events a second.
 */
const given = readSettings(process.env, settings);
const { batchSize, concurrency } = receiverLimits(given);
const statement = `
  insert into event (resource_type, resource_external_id, parent_resource_external_id, timestamp, event_type,
                     service_id, live, event_details)
  select resource_type, resource_external_id, parent_resource_external_id, timestamp, event_type,
         service_id, live, event_details
  from jsonb_to_recordset($1::jsonb) as new_event (
    resource_type text, resource_external_id text, parent_resource_external_id text, timestamp timestamptz,
    event_type text, service_id text, live boolean, event_details jsonb)
  on conflict do nothing`;
const database = await openDatabase(given.DATABASE_URL);
await migrate(database);

async function countEvents(): Promise<number> {
  const [row] = await database.query<{ count: bigint }>("select count(*) from event");
  return Number(row?.count);
}

async function insert(starts: Iterable<number>, messages: string[]): Promise<void> {
  for (const start of starts) {
    await database.query(statement, [`[${messages.slice(start, start + batchSize).join()}]`]);
  }
}

answer(async (intake: Intake) => {
  const messages = messagesOf(intake);
  const before = await countEvents();
  const begun = performance.now();
  const starts = messages.keys().filter((index) => index % batchSize === 0);
  await Promise.all(Array.from({ length: concurrency }, () => insert(starts, messages)));
  const seconds = (performance.now() - begun) / 1000;
  const made = (await countEvents()) - before;
  if (made !== messages.length) throw new Error(`${messages.length} messages became ${made} events`);
  return messages.length / seconds;
});
