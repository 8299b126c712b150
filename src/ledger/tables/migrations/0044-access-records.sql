-- Who looked at personal data, and who changed something. Upkeep makes and drops a partition for each month.
create sequence access_record_id;
create table access_record (
  sql_transaction bigint not null default current_sql_transaction(),
  id bigint not null default nextval('access_record_id'),
  recorded_at timestamptz not null default now(),
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
  primary key (sql_transaction, id, recorded_at)
) partition by range (recorded_at);
create index access_record_recorded_at on access_record (recorded_at);
create index access_record_resource_ids on access_record using gin (resource_ids) with (gin_pending_list_limit = 256);
create index access_record_subject on access_record (subject, sql_transaction, id);
create table access_record_default partition of access_record default;
create function keep_access_records(keep interval) returns void language plpgsql as $$
declare
  -- Without a time zone: a month of UTC.
  first_month timestamp := date_trunc('month', now() at time zone 'UTC');
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
      and (to_date(right(relname, 7), 'YYYY_MM') + interval '1 month') at time zone 'UTC' <= now() - keep
  loop
    execute format('drop table %I', partition);
  end loop;
  delete from access_record_default where recorded_at < date_trunc('month', (now() - keep) at time zone 'UTC') at time zone 'UTC';
end $$;
comment on sequence access_record_id is 'The numbers of the records of accesses.';
comment on table access_record is 'Who looked at personal data, and who changed something: a row for each response to a known caller, and for each command. Rows are added and never changed. It has no personal data of payers.';
comment on column access_record.sql_transaction is 'As in event_feed: the records are read in the order of sql_transaction and id.';
comment on column access_record.resource_ids is 'The first 20 of the ids of resources. In resource_count is the number of all, or null if it is unknown.';
comment on table access_record_default is 'Records of a month that has no partition of its own.';
comment on function keep_access_records(interval) is 'Makes the partitions of access_record for this month and the next, and drops those of months that ended longer ago than the interval.';
