-- What each SQL transaction has changed in the transactions, in the order of the feed, for good. So a report can be read as
-- of a position in the feed, and the difference between two positions has its reasons. The changes that are not merged into
-- the summaries are among these rows; they had a table of their own, which is a view now, for the previous release.
create table transaction_change (
  -- As in event_feed; 0 for changes that are older than this table.
  sql_transaction bigint not null,
  -- The hour (UTC) in which the transaction was created.
  hour timestamptz not null,
  -- 1 for a transaction that is in this state since, -1 for one that was, 0 if only sums have changed, or none.
  count integer not null,
  live boolean,
  moto boolean not null,
  external_id text not null,
  gateway_account_id text,
  transaction_type text not null,
  state text not null,
  -- As in transaction_summary.
  amount numeric not null,
  total_amount numeric not null,
  net_amount numeric not null,
  fee numeric not null,
  refunded_amount numeric not null,
  gross_amount numeric not null,
  -- Of a transaction that was in another state before, with the same other values: its state and its sums. A row for each of
  -- the states would cost twice the time.
  state_before text,
  amount_before numeric,
  total_amount_before numeric,
  net_amount_before numeric,
  fee_before numeric,
  refunded_amount_before numeric,
  gross_amount_before numeric
);
create index transaction_change_order_idx on transaction_change (sql_transaction);
create index transaction_change_hour_idx on transaction_change (gateway_account_id, hour, sql_transaction);

-- The ends of the changes that each merge has added to the summaries: those of SQL transactions below.
create table transaction_summary_merge (
  merged_end bigint primary key
);

-- What a summary was before a merge has changed it.
create table transaction_summary_version (
  -- Of transaction_summary or of transaction_hour_summary.
  summary_id bigint not null,
  -- The merge after which the summary was this; 0 if it was this before the first merge.
  merged_end bigint not null,
  -- As in transaction_summary.
  count bigint not null,
  amount numeric not null,
  total_amount numeric not null,
  net_amount numeric not null,
  fee numeric not null,
  refunded_amount numeric not null,
  gross_amount numeric not null,
  primary key (summary_id, merged_end)
);

-- Positions of the feed at instants: quarters of an hour, at which the days of all time zones begin, and the creation of this
-- table. All that was stored until the instant is before the position.
create table instant_position (
  instant timestamptz primary key,
  sql_transaction bigint not null
);

-- A row without an id has not been changed since this migration, and has no versions.
create sequence transaction_summary_id;
alter table transaction_summary add column id bigint;
alter table transaction_summary alter column id set default nextval('transaction_summary_id');
alter table transaction_summary add column merged_end bigint not null default 0;
alter table transaction_hour_summary add column id bigint;
alter table transaction_hour_summary alter column id set default nextval('transaction_summary_id');
alter table transaction_hour_summary add column merged_end bigint not null default 0;

create function keep_first_summary_version() returns trigger language plpgsql as $$
begin
  new.id := nextval('transaction_summary_id');
  insert into transaction_summary_version
  values (
    new.id, old.merged_end, old.count, old.amount, old.total_amount, old.net_amount, old.fee, old.refunded_amount,
    old.gross_amount
  );
  return new;
end $$;
create trigger keep_first_version before update on transaction_summary
for each row when (old.id is null) execute function keep_first_summary_version();
create trigger keep_first_version before update on transaction_hour_summary
for each row when (old.id is null) execute function keep_first_summary_version();

create function keep_summary_versions() returns trigger language plpgsql as $$
begin
  insert into transaction_summary_version
  select id, merged_end, count, amount, total_amount, net_amount, fee, refunded_amount, gross_amount
  from old_row where id is not null
  on conflict do nothing;
  return null;
end $$;
create trigger keep_versions after update on transaction_summary
referencing old table as old_row for each statement execute function keep_summary_versions();
create trigger keep_versions after update on transaction_hour_summary
referencing old table as old_row for each statement execute function keep_summary_versions();

-- Trigger functions of their own, for the reason that 0030 states. The lock of the triggers waits for all writers, so that
-- all older changes are committed when the next statements read them.
do $do$
declare written record;
begin
  for written in
    select * from (values ('insert', 1, 'new_row'), ('delete', -1, 'old_row')) as statement (name, sign, rows)
  loop
    execute format($format$
      create function record_changes_of_%1$s() returns trigger language plpgsql as $$
      begin
        -- An upsert runs two of the triggers, often one of them without rows.
        if not exists (select from %3$s) then return null; end if;
        insert into transaction_change (
          sql_transaction, external_id, hour, gateway_account_id, transaction_type, state, live, moto,
          count, amount, total_amount, net_amount, fee, refunded_amount, gross_amount
        )
        select
          (select epoch << 40 from event_feed_epoch where only_row) + pg_current_xact_id()::text::bigint,
          external_id, utc_hour(created_date), gateway_account_id, transaction_type, state, live, moto,
          %2$s, %2$s * amount, %2$s * total_amount, %2$s * net_amount, %2$s * fee, %2$s * refunded_amount, %2$s * gross_amount
        from %3$s cross join lateral summarised_details(details);
        return null;
      end $$
    $format$, written.name, written.sign, written.rows);
  end loop;
end $do$;
create function record_changes_of_update() returns trigger language plpgsql as $$
begin
  if not exists (select from new_row) then return null; end if;
  insert into transaction_change (
    sql_transaction, external_id, hour, gateway_account_id, transaction_type, live, moto, state, count,
    amount, total_amount, net_amount, fee, refunded_amount, gross_amount, state_before, amount_before,
    total_amount_before, net_amount_before, fee_before, refunded_amount_before, gross_amount_before
  )
  select
    (select epoch << 40 from event_feed_epoch where only_row) + pg_current_xact_id()::text::bigint,
    external_id, hour, gateway_account_id, transaction_type, live, moto,
    coalesce(state_since, state_until), count + moved,
    amount + moved * amount_until, total_amount + moved * total_amount_until, net_amount + moved * net_amount_until,
    fee + moved * fee_until, refunded_amount + moved * refunded_amount_until, gross_amount + moved * gross_amount_until,
    case when moved = 1 then state_until end, nullif(moved, 0) * amount_until,
    nullif(moved, 0) * total_amount_until, nullif(moved, 0) * net_amount_until, nullif(moved, 0) * fee_until,
    nullif(moved, 0) * refunded_amount_until, nullif(moved, 0) * gross_amount_until
  from (
    select external_id, utc_hour(created_date) as hour, gateway_account_id, transaction_type, live, moto,
      max(state) filter (where sign = 1) as state_since, max(state) filter (where sign = -1) as state_until,
      sum(sign) as count, sum(sign * amount) as amount, sum(sign * total_amount) as total_amount,
      sum(sign * net_amount) as net_amount, sum(sign * fee) as fee, sum(sign * refunded_amount) as refunded_amount,
      sum(sign * gross_amount) as gross_amount,
      sum(until * amount) as amount_until, sum(until * total_amount) as total_amount_until,
      sum(until * net_amount) as net_amount_until, sum(until * fee) as fee_until,
      sum(until * refunded_amount) as refunded_amount_until, sum(until * gross_amount) as gross_amount_until
    from (select 1 as sign, 0 as until, * from new_row union all select -1, 1, * from old_row) as written
      cross join lateral summarised_details(details)
    group by 1, 2, 3, 4, 5, 6
  ) as changed cross join lateral (select coalesce((state_since <> state_until)::int, 0) as moved) as states;
  return null;
end $$;

create or replace trigger summarise_insert after insert on transaction
referencing new table as new_row for each statement execute function record_changes_of_insert();
create or replace trigger summarise_update after update on transaction
referencing old table as old_row new table as new_row for each statement execute function record_changes_of_update();
create or replace trigger summarise_delete after delete on transaction
referencing old table as old_row for each statement execute function record_changes_of_delete();

-- Waits for a merge of the previous release.
lock table transaction_summary_change in share row exclusive mode;
insert into transaction_change
select 0, hour, count, live, moto, '', gateway_account_id, transaction_type, state,
  amount, total_amount, net_amount, fee, refunded_amount, gross_amount
from transaction_summary_change;
insert into transaction_summary_merge values (0);
insert into instant_position
select now(), (epoch << 40) + pg_snapshot_xmax(pg_current_snapshot())::text::bigint from event_feed_epoch;

drop view expected_transaction_summary;
drop view expected_transaction_hour_summary;
drop table transaction_summary_change;

-- What each change adds to the sums of a state, and what it removes from those of another one.
create view transaction_difference as
select sql_transaction, external_id, hour, gateway_account_id, transaction_type, live, moto, part.*
from transaction_change cross join lateral (values
  (state, count, amount, total_amount, net_amount, fee, refunded_amount, gross_amount),
  (
    state_before, -1, -amount_before, -total_amount_before, -net_amount_before, -fee_before, -refunded_amount_before,
    -gross_amount_before
  )
) as part (state, count, amount, total_amount, net_amount, fee, refunded_amount, gross_amount)
where part.state is not null;

-- The changes that are not merged. The upper limit makes the planner expect few, whatever the statistics.
create view transaction_summary_change as
select utc_day(hour) as day, gateway_account_id, transaction_type, state, live, moto,
  count::bigint, amount, total_amount, net_amount, fee, refunded_amount, gross_amount, hour
from transaction_difference
where sql_transaction >= (select max(merged_end) from transaction_summary_merge) and sql_transaction < 9223372036854775807;

-- As before.
create view expected_transaction_summary as
select own.*, transaction_type, state, live, moto,
  sum(count)::bigint as count, sum(amount) as amount, sum(total_amount) as total_amount, sum(net_amount) as net_amount,
  sum(fee) as fee, sum(refunded_amount) as refunded_amount, sum(gross_amount) as gross_amount
from (
  select utc_day(created_date) as day, gateway_account_id as account, transaction_type, state, live, moto,
    count(*), sum(amount) as amount, sum(total_amount) as total_amount, sum(net_amount) as net_amount,
    sum(fee) as fee, sum(refunded_amount) as refunded_amount, sum(gross_amount) as gross_amount
  from transaction cross join lateral summarised_details(details)
  group by 1, 2, 3, 4, 5, 6
  union all
  select day, gateway_account_id, transaction_type, state, live, moto,
    -count, -amount, -total_amount, -net_amount, -fee, -refunded_amount, -gross_amount
  from transaction_summary_change
) as summarised cross join lateral summarised_periods(day, account) as own
group by 1, 2, 3, 4, 5, 6, 7, 8
having (
  sum(count), sum(amount), sum(total_amount), sum(net_amount), sum(fee), sum(refunded_amount), sum(gross_amount)
) <> (0, 0, 0, 0, 0, 0, 0);
create view expected_transaction_hour_summary as
select hour, own.*, transaction_type, state, live, moto,
  sum(count)::bigint as count, sum(amount) as amount, sum(total_amount) as total_amount, sum(net_amount) as net_amount,
  sum(fee) as fee, sum(refunded_amount) as refunded_amount, sum(gross_amount) as gross_amount
from (
  select utc_hour(created_date) as hour, gateway_account_id as account, transaction_type, state, live, moto,
    count(*), sum(amount) as amount, sum(total_amount) as total_amount, sum(net_amount) as net_amount,
    sum(fee) as fee, sum(refunded_amount) as refunded_amount, sum(gross_amount) as gross_amount
  from transaction cross join lateral summarised_details(details)
  group by 1, 2, 3, 4, 5, 6
  union all
  select hour, gateway_account_id, transaction_type, state, live, moto,
    -count, -amount, -total_amount, -net_amount, -fee, -refunded_amount, -gross_amount
  from transaction_summary_change
) as summarised cross join lateral (values (true, null), (false, account)) as own (all_accounts, gateway_account_id)
group by 1, 2, 3, 4, 5, 6, 7
having (
  sum(count), sum(amount), sum(total_amount), sum(net_amount), sum(fee), sum(refunded_amount), sum(gross_amount)
) <> (0, 0, 0, 0, 0, 0, 0);

-- Merges the oldest changes of whole SQL transactions, about as many as the maximum, and returns about how many. Merges
-- none, and returns 0, if fewer than the minimum wait. Only changes of SQL transactions below the end of the feed are merged:
-- no other change can come before one of these. Only one session merges at a time; another one returns 0.
create function merge_transaction_summary_changes(changes_max integer, changes_min integer) returns integer
language plpgsql set enable_seqscan = off as $$
declare
  feed_end constant bigint := event_feed_end();
  merged_begin bigint;
  new_end bigint;
  merged integer;
begin
  if not pg_try_advisory_xact_lock(hashtext('transaction_summary'), 0) then return 0; end if;
  merged_begin := (select max(merged_end) from transaction_summary_merge);
  select max(sql_transaction) + 1, count(*) into new_end, merged from (
    select sql_transaction from transaction_change
    where sql_transaction >= merged_begin and sql_transaction < feed_end
    order by sql_transaction limit greatest(changes_max, changes_min)
  ) as waiting;
  if merged < greatest(changes_min, 1) or changes_max < 1 then return 0; end if;
  if merged > changes_max then
    new_end := 1 + (
      select sql_transaction from transaction_change where sql_transaction >= merged_begin
      order by sql_transaction limit 1 offset changes_max - 1
    );
  end if;
  with changed as materialized (
    select hour, gateway_account_id as account, transaction_type, state, live, moto,
      sum(count) as count, sum(amount) as amount, sum(total_amount) as total_amount, sum(net_amount) as net_amount,
      sum(fee) as fee, sum(refunded_amount) as refunded_amount, sum(gross_amount) as gross_amount
    from transaction_difference where sql_transaction >= merged_begin and sql_transaction < new_end
    group by 1, 2, 3, 4, 5, 6
  ),
  -- Summed up before they are multiplied by six.
  changed_day as materialized (
    select utc_day(hour) as day, account, transaction_type, state, live, moto,
      sum(count) as count, sum(amount) as amount, sum(total_amount) as total_amount, sum(net_amount) as net_amount,
      sum(fee) as fee, sum(refunded_amount) as refunded_amount, sum(gross_amount) as gross_amount
    from changed group by 1, 2, 3, 4, 5, 6
  ),
  saved as (
    insert into transaction_summary as summary (
      all_accounts, grain, period, gateway_account_id, transaction_type, state, live, moto, merged_end,
      count, amount, total_amount, net_amount, fee, refunded_amount, gross_amount
    )
    select own.*, transaction_type, state, live, moto, new_end,
      sum(count), sum(amount), sum(total_amount), sum(net_amount), sum(fee), sum(refunded_amount), sum(gross_amount)
    from changed_day cross join lateral summarised_periods(day, account) as own
    group by 1, 2, 3, 4, 5, 6, 7, 8
    having (
      sum(count), sum(amount), sum(total_amount), sum(net_amount), sum(fee), sum(refunded_amount), sum(gross_amount)
    ) <> (0, 0, 0, 0, 0, 0, 0)
    on conflict on constraint transaction_summary_key do update set
      merged_end = excluded.merged_end,
      count = summary.count + excluded.count,
      amount = summary.amount + excluded.amount,
      total_amount = summary.total_amount + excluded.total_amount,
      net_amount = summary.net_amount + excluded.net_amount,
      fee = summary.fee + excluded.fee,
      refunded_amount = summary.refunded_amount + excluded.refunded_amount,
      gross_amount = summary.gross_amount + excluded.gross_amount
  )
  insert into transaction_hour_summary as summary (
    hour, all_accounts, gateway_account_id, transaction_type, state, live, moto, merged_end,
    count, amount, total_amount, net_amount, fee, refunded_amount, gross_amount
  )
  select hour, own.*, transaction_type, state, live, moto, new_end,
    sum(count), sum(amount), sum(total_amount), sum(net_amount), sum(fee), sum(refunded_amount), sum(gross_amount)
  from changed cross join lateral (values (true, null), (false, account)) as own (all_accounts, account)
  group by 1, 2, 3, 4, 5, 6, 7
  -- By the merges of the hours of an account, those in which a transaction has changed are found.
  having not all_accounts or (
    sum(count), sum(amount), sum(total_amount), sum(net_amount), sum(fee), sum(refunded_amount), sum(gross_amount)
  ) <> (0, 0, 0, 0, 0, 0, 0)
  on conflict on constraint transaction_hour_summary_key do update set
    merged_end = excluded.merged_end,
    count = summary.count + excluded.count,
    amount = summary.amount + excluded.amount,
    total_amount = summary.total_amount + excluded.total_amount,
    net_amount = summary.net_amount + excluded.net_amount,
    fee = summary.fee + excluded.fee,
    refunded_amount = summary.refunded_amount + excluded.refunded_amount,
    gross_amount = summary.gross_amount + excluded.gross_amount;
  insert into transaction_summary_merge values (new_end);
  return least(merged, changes_max);
end $$;

-- For the previous release.
create or replace function merge_transaction_summary_changes(changes_max integer) returns integer language sql as $$
  select merge_transaction_summary_changes(changes_max, 1)
$$;

-- Records the present position for the last quarter of an hour, once. All sessions use the clock of the database.
create function record_instant_position() returns void language sql as $$
  insert into instant_position
  select instant, (epoch << 40) + pg_snapshot_xmax(pg_current_snapshot())::text::bigint
  from event_feed_epoch cross join (select date_bin('15 minutes', now(), '2000-01-01Z') as instant) as quarter
  where instant > (select max(instant) from instant_position)
  on conflict do nothing
$$;

-- What has arrived: the highest id of an event, the end of what is stored below the oldest SQL transaction in flight, and the
-- SQL transactions behind that which have committed, each as its distance. Only the highest id if these are more than 100. The
-- end follows an SQL transaction that is stored, since after a crash PostgreSQL can give the id of one that stored nothing again.
create or replace function arrived_events() returns text stable parallel restricted language plpgsql
  set enable_seqscan = off as $$
begin
  return (
    select case
      when cardinality(distances) > 100 then newest::text
      else concat(newest, ':', arrived_end, ':', array_to_string(distances, ','))
    end
    from (
      select arrived_end, coalesce((select max(id) from event), 0) as newest, array(
        -- From each to the next one, since one can have many rows.
        with recursive behind as (
          select feed_end - 1 as sql_transaction
          union all
          select least(
            (select sql_transaction from event_feed as entry
             where entry.sql_transaction > behind.sql_transaction order by 1 limit 1),
            (select sql_transaction from transaction_change as change
             where change.sql_transaction > behind.sql_transaction order by 1 limit 1)
          )
          from behind where behind.sql_transaction is not null
        )
        select sql_transaction - arrived_end from behind where sql_transaction >= feed_end limit 101
      ) as distances
      from (
        select feed_end, greatest(
          (select max(sql_transaction) + 1 from event_feed where sql_transaction < feed_end),
          (select max(sql_transaction) + 1 from transaction_change where sql_transaction < feed_end),
          (select sql_transaction from instant_position order by instant limit 1)
        ) as arrived_end
        from (
          select (epoch << 40) + pg_snapshot_xmin(pg_current_snapshot())::text::bigint as feed_end
          from event_feed_epoch where only_row
          offset 0
        ) as feed
        offset 0
      ) as ends
      offset 0
    ) as arrived
  );
end $$;

-- All summaries, and what each merge has changed in them, as the changes require.
create view merged_summary as
select id, merged_end, all_accounts, grain, period::timestamp at time zone 'UTC' as period,
  gateway_account_id, transaction_type, state, live, moto,
  count, amount, total_amount, net_amount, fee, refunded_amount, gross_amount
from transaction_summary
union all
select id, merged_end, all_accounts, 'hour', hour, gateway_account_id, transaction_type, state, live, moto,
  count, amount, total_amount, net_amount, fee, refunded_amount, gross_amount
from transaction_hour_summary;
create view expected_summary_merge as
select own.*, transaction_type, state, live, moto, merged_end,
  sum(count)::bigint as count, sum(amount) as amount, sum(total_amount) as total_amount, sum(net_amount) as net_amount,
  sum(fee) as fee, sum(refunded_amount) as refunded_amount, sum(gross_amount) as gross_amount
from (
  select hour, gateway_account_id as account, transaction_type, state, live, moto, merge.merged_end, sum(count) as count,
    sum(amount) as amount, sum(total_amount) as total_amount, sum(net_amount) as net_amount, sum(fee) as fee,
    sum(refunded_amount) as refunded_amount, sum(gross_amount) as gross_amount
  from transaction_difference cross join lateral (
    select merged_end from transaction_summary_merge where merged_end > sql_transaction order by merged_end limit 1
  ) as merge
  group by 1, 2, 3, 4, 5, 6, 7
) as changed cross join lateral (
  select all_accounts, grain, period::timestamp at time zone 'UTC' as period, gateway_account_id
  from summarised_periods(utc_day(hour), account)
  union all
  values (true, 'hour', hour, null), (false, 'hour', hour, account)
) as own
group by 1, 2, 3, 4, 5, 6, 7, 8, 9
having (grain = 'hour' and not all_accounts) or (
  sum(count), sum(amount), sum(total_amount), sum(net_amount), sum(fee), sum(refunded_amount), sum(gross_amount)
) <> (0, 0, 0, 0, 0, 0, 0);

-- The versions that the summaries and the changes require.
create view expected_transaction_summary_version as
select summary.id as summary_id, lag(merge.merged_end, 1, 0) over in_order as merged_end,
  summary.count - sum(merge.count) over since as count,
  summary.amount - sum(merge.amount) over since as amount,
  summary.total_amount - sum(merge.total_amount) over since as total_amount,
  summary.net_amount - sum(merge.net_amount) over since as net_amount,
  summary.fee - sum(merge.fee) over since as fee,
  summary.refunded_amount - sum(merge.refunded_amount) over since as refunded_amount,
  summary.gross_amount - sum(merge.gross_amount) over since as gross_amount
from expected_summary_merge as merge join merged_summary as summary
  on (summary.all_accounts, summary.grain, summary.period, summary.transaction_type, summary.state, summary.moto)
    = (merge.all_accounts, merge.grain, merge.period, merge.transaction_type, merge.state, merge.moto)
  and coalesce(summary.gateway_account_id, '') = coalesce(merge.gateway_account_id, '')
  and coalesce(summary.live::text, '') = coalesce(merge.live::text, '')
window in_order as (partition by summary.id order by merge.merged_end),
  since as (partition by summary.id order by merge.merged_end rows between current row and unbounded following);

-- Computes the summaries from the transactions, which can change meanwhile, and their versions from the changes. A summary
-- that is empty now has versions, too.
create or replace function rebuild_transaction_summaries() returns void language plpgsql as $$
begin
  perform pg_advisory_xact_lock(hashtext('transaction_summary'), 0);
  delete from transaction_summary;
  delete from transaction_hour_summary;
  delete from transaction_summary_version;
  insert into transaction_summary (
    all_accounts, grain, period, gateway_account_id, transaction_type, state, live, moto,
    count, amount, total_amount, net_amount, fee, refunded_amount, gross_amount
  )
  select * from expected_transaction_summary;
  insert into transaction_hour_summary (
    hour, all_accounts, gateway_account_id, transaction_type, state, live, moto,
    count, amount, total_amount, net_amount, fee, refunded_amount, gross_amount
  )
  select * from expected_transaction_hour_summary;
  create temporary table latest_merge on commit drop as
  select all_accounts, grain, period, gateway_account_id, transaction_type, state, live, moto, max(merged_end) as merged_end
  from expected_summary_merge group by 1, 2, 3, 4, 5, 6, 7, 8;
  insert into transaction_summary (
    all_accounts, grain, period, gateway_account_id, transaction_type, state, live, moto, merged_end,
    count, amount, total_amount, net_amount, fee, refunded_amount, gross_amount
  )
  select all_accounts, grain, utc_day(period), gateway_account_id, transaction_type, state, live, moto, merged_end,
    0, 0, 0, 0, 0, 0, 0
  from latest_merge where grain <> 'hour'
  on conflict on constraint transaction_summary_key do update set merged_end = excluded.merged_end;
  insert into transaction_hour_summary (
    hour, all_accounts, gateway_account_id, transaction_type, state, live, moto, merged_end,
    count, amount, total_amount, net_amount, fee, refunded_amount, gross_amount
  )
  select period, all_accounts, gateway_account_id, transaction_type, state, live, moto, merged_end, 0, 0, 0, 0, 0, 0, 0
  from latest_merge where grain = 'hour'
  on conflict on constraint transaction_hour_summary_key do update set merged_end = excluded.merged_end;
  drop table latest_merge;
  delete from transaction_summary_version;
  insert into transaction_summary_version select * from expected_transaction_summary_version;
end $$;
drop function rebuild_transaction_hour_summaries();

comment on table transaction_change is 'What each SQL transaction has changed in the transactions, in the order of the feed, for good: a row for each transaction and its values. A position in the feed is also one here, so a report can be read as of a position. Summaries are merged from these rows.';
comment on column transaction_change.sql_transaction is 'As in event_feed. 0 for changes that no merge had added to the summaries when this table was made.';
comment on column transaction_change.hour is 'The hour (UTC) in which the transaction was created.';
comment on column transaction_change.count is '1 for a transaction that is in the state since, -1 for one that was before, and 0 if only sums have changed, or none.';
comment on column transaction_change.amount is 'Pence, as the other sums, which are those of transaction_summary.';
comment on column transaction_change.state_before is 'The state in which the transaction was before, with the sums before. Null if the state has not changed, or if a row of its own has the values before, since others have changed, too.';
comment on table transaction_summary_merge is 'The ends of the changes that each merge has added to the summaries: those of the SQL transactions below. Reports add the later changes up.';
comment on table transaction_summary_version is 'What a summary was before a merge has changed it, so that a report as of a position reads one version of each summary.';
comment on column transaction_summary_version.summary_id is 'The id in transaction_summary or transaction_hour_summary.';
comment on column transaction_summary_version.merged_end is 'The merge since which the summary was this. 0 if it was this before the first merge.';
comment on table instant_position is 'Positions of the feed at instants: each quarter of an hour, since at one of these the days of each time zone begin. Everything that was stored up to the instant is before the position. The first row is of the instant at which this table was made. Earlier positions are not known.';
comment on sequence transaction_summary_id is 'Ids of summaries.';
comment on column transaction_summary.id is 'Null if the summary has not changed since it has ids.';
comment on column transaction_summary.merged_end is 'The merge since which the summary is this.';
comment on column transaction_hour_summary.id is 'As in transaction_summary.';
comment on column transaction_hour_summary.merged_end is 'The merge since which the summary is this. In a summary of one account, the last merge of a change of one of its transactions, also if that has no effect on the numbers.';
comment on trigger keep_first_version on transaction_summary is 'Gives the summary an id with its first version. Older summaries have none.';
comment on trigger keep_first_version on transaction_hour_summary is 'As for transaction_summary.';
comment on trigger keep_versions on transaction_summary is 'Keeps what the summaries were before a merge.';
comment on trigger keep_versions on transaction_hour_summary is 'As for transaction_summary.';
comment on trigger summarise_insert on transaction is 'Adds what a statement changes to transaction_change, whichever release runs it.';
comment on trigger summarise_update on transaction is 'As summarise_insert.';
comment on trigger summarise_delete on transaction is 'As summarise_insert.';
comment on function keep_first_summary_version() is 'Gives a summary an id and keeps its first version.';
comment on function keep_summary_versions() is 'Keeps the old rows as versions.';
comment on function record_changes_of_insert() is 'Adds the new rows to transaction_change.';
comment on function record_changes_of_update() is 'Adds the difference between the old and the new rows to transaction_change.';
comment on function record_changes_of_delete() is 'Subtracts the old rows in transaction_change.';
comment on view transaction_difference is 'What each change adds to the sums of a state, and what it removes from those of the state before.';
comment on view transaction_summary_change is 'The changes that are not merged into the summaries. A report adds them up.';
comment on view expected_transaction_summary is 'The summaries that the transactions require beside the changes that are not merged, for a comparison with transaction_summary.';
comment on view expected_transaction_hour_summary is 'The summaries by hour that the transactions require beside the changes that are not merged, for a comparison with transaction_hour_summary.';
comment on view merged_summary is 'The rows of transaction_summary and transaction_hour_summary in one form.';
comment on view expected_summary_merge is 'What each merge has changed in each summary, computed from the changes.';
comment on view expected_transaction_summary_version is 'The versions that the summaries and the changes require, for a comparison with transaction_summary_version.';
comment on function merge_transaction_summary_changes(integer, integer) is 'Merges the oldest changes of whole SQL transactions, about as many as the maximum, into the summaries, if at least the minimum wait. Returns their number, which is 0 while another session merges.';
comment on function merge_transaction_summary_changes(integer) is 'The same without a minimum, for the previous release.';
comment on function record_instant_position() is 'Records the present position for the last quarter of an hour, once.';
comment on function rebuild_transaction_summaries() is 'Computes the summaries from the transactions, which can change meanwhile, and their versions from the changes.';
