alter table event add column accepted_at timestamptz;
comment on column event.accepted_at is
  'When the ledger accepted the event: when its message was sent, or its request received. Null in older rows.';

create table freshness_minute (
  minute timestamptz not null,
  destination text not null,
  visible_ms bigint not null,
  events bigint not null,
  primary key (minute, destination, visible_ms)
);
comment on table freshness_minute is
  'How long events took from their acceptance until a destination had them, in all processes together: a row for each time, rounded up to two digits, of each minute. Rows older than ten minutes are removed.';
comment on column freshness_minute.destination is 'lookup, report, feed, or "target " with the shown name of a target.';
