import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { newFolder } from "../../../../../testing/run.ts";

/** The tables of messages of the previous release, and what it wrote: read from a file that it had made. */
const sentAt = 1_795_809_687_459;
const attributesWith = (set: object) =>
  JSON.stringify({
    VisibilityTimeout: "77",
    DelaySeconds: "0",
    MaximumMessageSize: "1048576",
    MessageRetentionPeriod: "345600",
    ReceiveMessageWaitTimeSeconds: "0",
    ...set,
  });
const schema = `
  create table sqs_queues (
    name text primary key, url text not null, arn text not null, attributes text not null, tags text not null,
    created_timestamp integer not null, last_modified_timestamp integer not null,
    sequence_counter integer not null default 0
  );
  create table sqs_messages (
    message_id text primary key,
    queue_name text not null references sqs_queues(name) on delete cascade,
    body text not null, md5_of_body text not null,
    message_attributes text not null, md5_of_message_attributes text not null,
    sent_timestamp integer not null, approximate_receive_count integer not null default 0,
    approximate_first_receive_timestamp integer, delay_until integer,
    message_group_id text, message_deduplication_id text, sequence_number text,
    receipt_handle text, visibility_deadline integer
  );
`;
const messages = `
  insert into sqs_messages values
    ('ef42e4da-d525-48cc-bd3f-54af1cd6e0bf', 'payment-events', 'plain 💷', 'c749eef79c546fac4807a4dac39b38bb', '{}', '',
      ${sentAt}, 1, ${sentAt + 9}, null, null, null, null, 'c0768b46-43a8-477f-8c9e-eb51469d7657', ${sentAt + 3_600_000}),
    ('d40a31d2-cb4d-4d3c-92c2-0d067eb3de12', 'payment-events', 'with attributes', 'c2d900c011c138c4a68934fee2fdd344',
      '{"a":{"DataType":"String","StringValue":"x"},"b":{"DataType":"Binary","BinaryValue":"AQL/"}}',
      'e1b614e31e99bc945d805bd12005dad7', ${sentAt}, 0, null, null, null, null, null, null, null),
    ('68dd40a0-90c0-4e95-aad6-36ee52e17062', 'payment-events', 'delayed', 'f5e0a640e01c53954396b55beeb29ab9', '{}', '',
      ${sentAt}, 0, null, ${sentAt + 900_000}, null, null, null, null, null);
`;

interface Earlier {
  /** Attributes that were set. Default: none. */
  attributes?: object;
  /** The name of another queue with a message. Default: none. */
  other?: string;
  /** Further messages. Default: none. */
  large?: { count: number; bytes: number };
}

/** A folder with the file that the previous release makes: three messages, of which one is in flight and one is delayed. */
export function makeEarlierFolder({ attributes = {}, other, large }: Earlier = {}) {
  const folder = newFolder();
  const database = new DatabaseSync(join(folder, "fauxqs.db"));
  database.exec(`pragma journal_mode = wal; ${schema}`);
  const queue = database.prepare(
    "insert into sqs_queues values (?, '', '', ?, '{}', 1795809687, 1795809687, 0)",
  );
  const message = database.prepare(
    "insert into sqs_messages values (?, ?, ?, '', '{}', '', ?, 0, null, null, null, null, null, null, null)",
  );
  for (const name of ["payment-events", ...(other ? [other] : [])])
    queue.run(name, attributesWith(attributes));
  database.exec(messages);
  if (other) message.run("other", other, `for ${other}`, sentAt);
  for (let index = 0; index < (large?.count ?? 0); index += 1)
    message.run(`large ${index}`, "payment-events", "x".repeat(large?.bytes ?? 0), sentAt);
  database.close();
  return { folder, messages: { sentAt } };
}
