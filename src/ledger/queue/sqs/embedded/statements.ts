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
    firstVisible: prepare("select visible_at from message order by visible_at limit 1"),
    visible: prepare(`
      select number, id, size, sent_at, received, first_received_at from
        (select * from message where visible_at <= ? order by visible_at, number limit ${candidatesMax})
      where sent_at > ? and number > ? limit ?`),
    content: prepare("select body, attributes, system_attributes from content where number = ?"),
    deliver: prepare(
      "update message set visible_at = ?, received = ?, first_received_at = ? where number = ?",
    ),
    remove: prepare("delete from message where number = ? and received = ? and id = ?"),
    find: prepare("select visible_at from message where number = ? and received = ? and id = ?"),
    hide: prepare("update message set visible_at = ? where number = ?"),
    total: prepare("select messages from total"),
    hidden: prepare("select is_received, sum(messages) as messages from hidden where second > ? group by 1"),
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

export interface VisibleRow {
  number: number;
  id: string;
  size: number;
  sent_at: number;
  received: number;
  first_received_at: number | null;
}
export interface ContentRow {
  body: string;
  attributes: string | null;
  system_attributes: string | null;
}
export interface HiddenRow {
  is_received: number;
  messages: number;
}
