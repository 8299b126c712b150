import { existsSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { openMaxMs } from "./database.ts";
import type { KeptMessage, Messages } from "./messages.ts";
import { isSettable } from "./queue-attributes.ts";

/** The file in which the previous release kept messages, with the names of its tables. */
const earlierFile = "fauxqs.db";
/** Its default, which it also wrote for a queue whose retention nobody had set. It did not obey it. */
const earlierRetention = "345600";
/** The bytes of messages in one transaction, approximately. */
const stepBytesMax = 8 * 2 ** 20;

/**
 * Takes over the messages and attributes of the queue from the previous release, if the folder has its file, which is then
 * removed. It copies them in steps, each of which also keeps how far it is, so that it can be interrupted at any time.
 * Returns warnings for an operator.
 */
export function takeOver(folder: string, name: string, messages: Messages): string[] {
  const path = join(folder, earlierFile);
  const warnings: string[] = [];
  if (existsSync(path)) {
    const { hasOthers, unsupported } = copyAll(path, name, messages);
    const kept = `other-queues-${Date.now()}.sqlite`;
    if (hasOthers) {
      warnings.push(
        `the folder ${folder} has messages of other queues than ${name}; they are kept in ${kept}`,
      );
    }
    if (unsupported.length > 0) {
      warnings.push(`the queue in ${folder} no longer has the attributes ${unsupported.join(", ")}`);
    }
    // The main file is the last, since it decides that there is something to take over.
    for (const suffix of ["-wal", "-shm", ""].filter((suffix) => existsSync(path + suffix))) {
      if (hasOthers) renameSync(path + suffix, join(folder, kept + suffix));
      else rmSync(path + suffix);
    }
  }
  // The previous release may make another file one day.
  if (messages.setting(copiedTo)) messages.transaction(() => messages.set(copiedTo, undefined), openMaxMs);
  return warnings;
}

const copiedTo = "copied to";
const done = "done";

/** The messages of a queue after a row, with what they become here. A message without a receipt is not in flight. */
const earlierMessages = `
  select rowid, message_id as id, body, message_attributes as attributes, sent_timestamp as sentAt,
    coalesce(approximate_receive_count, 0) as received, approximate_first_receive_timestamp as firstReceivedAt,
    max(sent_timestamp, coalesce(delay_until, 0), iif(receipt_handle is null, 0, coalesce(visibility_deadline, 0)))
      as visibleAt
  from sqs_messages where queue_name = ? and rowid > ? order by rowid`;

interface EarlierMessage extends Omit<KeptMessage, "attributes"> {
  rowid: number;
  attributes: string;
}

/** Copies what is not copied yet. Returns whether other queues have messages, and the attributes that cannot be kept. */
function copyAll(path: string, name: string, messages: Messages) {
  const earlier = new DatabaseSync(path, { timeout: openMaxMs });
  try {
    const table = earlier.prepare("select name from sqlite_schema where name = 'sqs_messages'").get();
    if (!table) return { hasOthers: false, unsupported: [] };
    while (messages.setting(copiedTo) !== done) {
      messages.transaction(() => copySome(earlier, name, messages), openMaxMs);
    }
    const others = earlier.prepare("select 1 from sqs_messages where queue_name <> ? limit 1");
    const names = attributesOf(earlier, name).filter(([, value]) => value !== "" && value !== "false");
    return {
      hasOthers: others.get(name) !== undefined,
      unsupported: names.map(([attribute]) => attribute).filter((attribute) => !isSettable(attribute)),
    };
  } catch (error) {
    const { message } = error as Error;
    throw new Error(`the queue of the previous release in ${path} cannot be taken over: ${message}`, {
      cause: error,
    });
  } finally {
    // Moves what is in its write-ahead log into the file.
    earlier.close();
  }
}

/** Copies as many messages as a step may have, and the attributes when there are no more. */
function copySome(earlier: DatabaseSync, name: string, messages: Messages): void {
  const rows: Iterable<unknown> = earlier
    .prepare(earlierMessages)
    .iterate(name, Number(messages.setting(copiedTo) ?? 0));
  let bytes = 0;
  for (const { rowid, ...message } of rows as Iterable<EarlierMessage>) {
    messages.keep({ ...message, attributes: JSON.parse(message.attributes) });
    bytes += message.body.length;
    if (bytes > stepBytesMax) {
      messages.set(copiedTo, String(rowid));
      return;
    }
  }
  for (const [attribute, value] of attributesOf(earlier, name)) {
    const isDefault = attribute === "MessageRetentionPeriod" && value === earlierRetention;
    if (isSettable(attribute) && !isDefault) messages.set(attribute, value);
  }
  messages.set(copiedTo, done);
}

function attributesOf(earlier: DatabaseSync, name: string): [name: string, value: string][] {
  const queue = earlier.prepare("select attributes from sqs_queues where name = ?").get(name);
  return queue ? Object.entries(JSON.parse(String(queue.attributes))) : [];
}
