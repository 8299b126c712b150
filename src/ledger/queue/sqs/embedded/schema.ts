/**
 * The tables of the embedded queue. `message` has the state, in small rows, since each delivery changes it; `content` has
 * what never changes. Times are milliseconds since 1970 (UTC).
 *
 * Triggers keep the numbers of messages, so that reading them does not depend on how many there are. A message that is hidden
 * counts in the second in which it becomes visible again; seconds that have passed are ignored and removed later.
 */
export const schema = `
  create table message (
    number integer primary key autoincrement,
    id text not null,
    size integer not null,
    sent_at integer not null,
    visible_at integer not null,
    received integer not null,
    first_received_at integer
  ) strict;
  create index message_by_visibility on message (visible_at);
  create index message_by_age on message (sent_at);

  create table content (
    number integer primary key,
    body text not null,
    attributes text,
    system_attributes text
  ) strict;

  create table setting (name text primary key, value text not null) strict, without rowid;
  insert into setting values
    ('CreatedTimestamp', cast(unixepoch() as text)), ('LastModifiedTimestamp', cast(unixepoch() as text));

  create table total (messages integer not null) strict;
  insert into total values (0);
  create table hidden (
    second integer,
    is_received integer,
    messages integer not null,
    primary key (second, is_received)
  ) strict, without rowid;

  create trigger message_added after insert on message begin
    update total set messages = messages + 1;
  end;
  create trigger message_hidden after insert on message when new.visible_at > new.sent_at begin
    insert into hidden values (new.visible_at / 1000, new.received > 0, 1)
      on conflict do update set messages = messages + 1;
  end;
  create trigger message_changed after update of visible_at on message begin
    update hidden set messages = messages - 1
      where second = old.visible_at / 1000 and is_received = (old.received > 0);
    insert into hidden values (new.visible_at / 1000, new.received > 0, 1)
      on conflict do update set messages = messages + 1;
  end;
  create trigger message_removed after delete on message begin
    delete from content where number = old.number;
    update total set messages = messages - 1;
    update hidden set messages = messages - 1
      where second = old.visible_at / 1000 and is_received = (old.received > 0);
  end;
`;
