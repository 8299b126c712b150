-- Who looked at personal data, and who changed something. Upkeep makes and drops a partition for each month.
create sequence access_record_id;
create table access_record (
  id bigint not null default nextval('access_record_id'),
  sql_transaction bigint not null default current_sql_transaction(),
  recorded_at timestamptz not null default clock_timestamp(),
  accessed_at timestamptz not null,
  service text not null,
  operation text not null,
  subject text,
  client text,
  gateway_account_ids text[] not null,
  resource_ids text[] not null,
  resource_count integer,
  status smallint not null,
  request_id text,
  reason text,
  primary key (id, recorded_at)
) partition by range (recorded_at);
create index access_record_recorded_at on access_record (recorded_at);
create index access_record_resource_ids on access_record using gin (resource_ids) with (gin_pending_list_limit = 256);
create index access_record_subject on access_record (subject, id);
create table access_record_default partition of access_record default;

create table access_session (
  id uuid primary key,
  former bigint not null,
  position bigint not null,
  changed_at timestamptz not null default clock_timestamp()
);

create table access_record_removal (
  first_id bigint primary key,
  last_id bigint not null,
  removed_at timestamptz not null default clock_timestamp()
);

create function remove_access_records(of_table regclass, before timestamptz) returns void language plpgsql as $$
begin
  execute format(
    'insert into access_record_removal (first_id, last_id)
     select min(id), max(id) from %s where recorded_at < $1 having count(*) > 0', of_table
  ) using before;
  execute format('delete from %s where recorded_at < $1', of_table) using before;
end $$;

create function keep_access_records(keep interval) returns void language plpgsql as $$
declare
  -- Without a time zone: a month of UTC.
  first_month timestamp := date_trunc('month', now() at time zone 'UTC');
  first_kept timestamptz := date_trunc('month', (now() - keep) at time zone 'UTC') at time zone 'UTC';
  month timestamp;
  partition text;
begin
  -- Other processes wait here, and no request does.
  lock table access_record in share update exclusive mode;
  foreach month in array array[first_month, first_month + interval '1 month'] loop
    partition := 'access_record_' || to_char(month, 'YYYY_MM');
    continue when to_regclass(partition) is not null;
    -- Records that came before their partition stay where they are.
    continue when exists (
      select from access_record_default
      where recorded_at >= month at time zone 'UTC' and recorded_at < (month + interval '1 month') at time zone 'UTC'
    );
    execute format(
      'create table %I partition of access_record for values from (%L) to (%L)',
      partition, month at time zone 'UTC', (month + interval '1 month') at time zone 'UTC'
    );
  end loop;
  for partition in
    select relname from pg_inherits join pg_class on oid = inhrelid
    where inhparent = 'access_record'::regclass and relname ~ '^access_record_\d{4}_\d{2}$'
      and (to_date(right(relname, 7), 'YYYY_MM') + interval '1 month') at time zone 'UTC' <= first_kept
  loop
    perform remove_access_records(partition::regclass, 'infinity');
    execute format('drop table %I', partition);
  end loop;
  perform remove_access_records('access_record_default', first_kept);
  delete from access_session where changed_at < first_kept;
end $$;

-- The next access record for the log.
alter table transparency_head add column access_record_id bigint not null default 0;

comment on sequence access_record_id is 'The numbers of the records of accesses.';
comment on table access_record is 'Who looked at personal data, and who changed something: a row for each response to a known caller, and for each command. Rows are added in the order of id and never changed. It has no personal data of payers.';
comment on column access_record.accessed_at is 'The instant of the response, by the clock of the process.';
comment on column access_record.resource_ids is 'The first 20 of the ids of resources. In resource_count is the number of all, or null if it is unknown.';
comment on table access_record_default is 'Records of a month that has no partition of its own.';
comment on table access_session is 'The processes that record accesses, so that each record is stored once.';
comment on column access_session.former is 'The position before the last statement.';
comment on column access_session.position is 'The last access of the process that is stored.';
comment on table access_record_removal is 'The records that were removed since they were older than AUDIT_KEEP. Their entries in the log have no source any more.';
comment on function remove_access_records(regclass, timestamptz) is 'Removes the records in a table that are older than an instant, and notes which.';
comment on function keep_access_records(interval) is 'Makes the partitions of access_record for this month and the next, and drops those of months that ended longer ago than the interval.';
comment on table transparency_entry is 'The entries of the transparency log, each of an event, a redaction or a record of an access.';
comment on column transparency_entry.kind is '0 for an event, 1 for a redaction, 2 for a record of an access.';
comment on column transparency_head.access_record_id is 'The last record of an access that has an entry.';
