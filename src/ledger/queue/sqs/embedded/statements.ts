import type { DatabaseSync } from "node:sqlite";

/** Messages to deliver are looked for among so many. The others of them are about to be removed. */
const candidatesMax = 500;

export type Statements = ReturnType<typeof prepareStatements>;

/** Every statement on the messages. None reads more rows than it returns, or than a fixed number. */
export function prepareStatements(database: DatabaseSync) {
  const prepare = (sql: string) => database.prepare(sql);
  return {
    begin: prepare("begin immediate"),
    commit: prepare("commit"),
    rollback: prepare("rollback"),
    insertMessage: prepare(
      "insert into message (id, size, sent_at, visible_at, received, first_received_at) values (?, ?, ?, ?, ?, ?)",
    ),
    insertContent: prepare("insert into content values (?, ?, ?, ?)"),
    anyVisible: prepare("select 1 from message where visible_at <= ? limit 1"),
    visible: prepare(`
      select number, id, size, sent_at as sentAt, received, first_received_at as firstReceivedAt from
        (select * from message where visible_at <= ? order by visible_at, number limit ${candidatesMax})
      where sent_at > ? and number > ? limit ?`),
    content: prepare(
      "select body, attributes, system_attributes as systemAttributes from content where number = ?",
    ),
    deliver: prepare(
      "update message set visible_at = ?, received = ?, first_received_at = ? where number = ?",
    ),
    remove: prepare("delete from message where number = ? and received = ? and id = ?"),
    hide: prepare(
      "update message set visible_at = ? where number = ? and received = ? and id = ? and visible_at > ?",
    ),
    counts: prepare(`
      select (select messages from total) as messages,
        max(0, coalesce(sum(messages) filter (where is_received), 0)) as inFlight,
        max(0, coalesce(sum(messages) filter (where not is_received), 0)) as delayed
      from hidden where second > ?`),
    removeHidden: prepare("delete from hidden where second < ?"),
    setting: prepare("select value from setting where name = ?"),
    settings: prepare("select name, value from setting"),
    set: prepare("insert into setting values (?, ?) on conflict do update set value = excluded.value"),
    unset: prepare("delete from setting where name = ?"),
    lastNumber: prepare("select max(number) as number from message"),
    expired: prepare("select number, size from message where sent_at <= ? order by sent_at limit ?"),
    purged: prepare("select number, size from message where number <= ? order by number limit ?"),
    removeNumber: prepare("delete from message where number = ?"),
  };
}
