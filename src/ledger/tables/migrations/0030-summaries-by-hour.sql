-- Numbers and sums by hour (UTC), so that a report reads few transactions whatever its interval and its time zone: in most
-- zones each day begins with an hour. They are apart from the other summaries, which the previous release reads.
create table transaction_hour_summary (
  hour timestamptz not null,
  -- A row of all accounts has no account, and neither has the row of the transactions without one.
  all_accounts boolean not null,
  gateway_account_id text,
  transaction_type text not null,
  state text not null,
  live boolean,
  moto boolean not null,
  count bigint not null,
  -- As in transaction_summary.
  amount numeric not null,
  total_amount numeric not null,
  net_amount numeric not null,
  fee numeric not null,
  refunded_amount numeric not null,
  gross_amount numeric not null,
  constraint transaction_hour_summary_key
    unique nulls not distinct (all_accounts, gateway_account_id, hour, transaction_type, state, live, moto)
) with (fillfactor = 80);
create index transaction_hour_summary_hour_idx on transaction_hour_summary (hour) where not all_accounts;

create function utc_hour(instant timestamptz) returns timestamptz immutable parallel safe language sql as $$
  select date_trunc('hour', instant at time zone 'UTC') at time zone 'UTC'
$$;

-- Trigger functions of their own, and not new ones in place of those of 0012: a statement of another session may be running
-- one of those. The lock of the triggers waits for these statements, so each change after this migration has an hour.
do $do$
declare written record;
begin
  for written in
    select * from (values
      ('insert', 'select 1 as sign, * from new_row'),
      ('delete', 'select -1 as sign, * from old_row'),
      ('update', 'select 1 as sign, * from new_row union all select -1, * from old_row')
    ) as statement (name, rows)
  loop
    execute format($format$
      create function summarise_hours_of_%1$s() returns trigger language plpgsql as $$
      begin
        -- An upsert runs two of the triggers, often one of them without rows.
        if not exists (%2$s) then return null; end if;
        insert into transaction_summary_change (
          hour, day, gateway_account_id, transaction_type, state, live, moto,
          count, amount, total_amount, net_amount, fee, refunded_amount, gross_amount
        )
        select hour, utc_day(hour), gateway_account_id, transaction_type, state, live, moto,
          count, amount, total_amount, net_amount, fee, refunded_amount, gross_amount
        from (
          select utc_hour(created_date) as hour, gateway_account_id, transaction_type, state, live, moto,
            sum(sign) as count, sum(sign * amount) as amount, sum(sign * total_amount) as total_amount,
            sum(sign * net_amount) as net_amount, sum(sign * fee) as fee,
            sum(sign * refunded_amount) as refunded_amount, sum(sign * gross_amount) as gross_amount
          from (%2$s) as written cross join lateral summarised_details(details)
          group by 1, 2, 3, 4, 5, 6
        ) as changed
        where (count, amount, total_amount, net_amount, fee, refunded_amount, gross_amount) <> (0, 0, 0, 0, 0, 0, 0);
        return null;
      end $$
    $format$, written.name, written.rows);
  end loop;
end $do$;

create or replace trigger summarise_insert after insert on transaction
referencing new table as new_row for each statement execute function summarise_hours_of_insert();
create or replace trigger summarise_update after update on transaction
referencing old table as old_row new table as new_row for each statement execute function summarise_hours_of_update();
create or replace trigger summarise_delete after delete on transaction
referencing old table as old_row for each statement execute function summarise_hours_of_delete();

-- Null in a change that is older than this migration.
alter table transaction_summary_change add column hour timestamptz;

-- Merges changes as before, and into the summaries by hour.
create or replace function merge_transaction_summary_changes(changes_max integer) returns integer language plpgsql as $$
declare
  merged integer;
  empty tid[];
  empty_hours tid[];
begin
  if not pg_try_advisory_xact_lock(hashtext('transaction_summary'), 0) then return 0; end if;
  with taken as (
    delete from transaction_summary_change
    where ctid = any (array(select ctid from transaction_summary_change limit changes_max))
    returning *
  ),
  changed as materialized (
    select hour, day, gateway_account_id as account, transaction_type, state, live, moto,
      sum(count) as count, sum(amount) as amount, sum(total_amount) as total_amount, sum(net_amount) as net_amount,
      sum(fee) as fee, sum(refunded_amount) as refunded_amount, sum(gross_amount) as gross_amount
    from taken group by 1, 2, 3, 4, 5, 6, 7
  ),
  -- Summed up before they are multiplied by six.
  changed_day as materialized (
    select day, account, transaction_type, state, live, moto,
      sum(count) as count, sum(amount) as amount, sum(total_amount) as total_amount, sum(net_amount) as net_amount,
      sum(fee) as fee, sum(refunded_amount) as refunded_amount, sum(gross_amount) as gross_amount
    from changed group by 1, 2, 3, 4, 5, 6
    having (
      sum(count), sum(amount), sum(total_amount), sum(net_amount), sum(fee), sum(refunded_amount), sum(gross_amount)
    ) <> (0, 0, 0, 0, 0, 0, 0)
  ),
  saved as (
    insert into transaction_summary as summary (
      all_accounts, grain, period, gateway_account_id, transaction_type, state, live, moto,
      count, amount, total_amount, net_amount, fee, refunded_amount, gross_amount
    )
    select own.*, transaction_type, state, live, moto,
      sum(count), sum(amount), sum(total_amount), sum(net_amount), sum(fee), sum(refunded_amount), sum(gross_amount)
    from changed_day cross join lateral summarised_periods(day, account) as own
    group by 1, 2, 3, 4, 5, 6, 7, 8
    on conflict on constraint transaction_summary_key do update set
      count = summary.count + excluded.count,
      amount = summary.amount + excluded.amount,
      total_amount = summary.total_amount + excluded.total_amount,
      net_amount = summary.net_amount + excluded.net_amount,
      fee = summary.fee + excluded.fee,
      refunded_amount = summary.refunded_amount + excluded.refunded_amount,
      gross_amount = summary.gross_amount + excluded.gross_amount
    returning summary.ctid as place,
      (count, amount, total_amount, net_amount, fee, refunded_amount, gross_amount) = (0, 0, 0, 0, 0, 0, 0) as is_empty
  ),
  saved_hour as (
    insert into transaction_hour_summary as summary (
      hour, all_accounts, gateway_account_id, transaction_type, state, live, moto,
      count, amount, total_amount, net_amount, fee, refunded_amount, gross_amount
    )
    select hour, own.*, transaction_type, state, live, moto,
      sum(count), sum(amount), sum(total_amount), sum(net_amount), sum(fee), sum(refunded_amount), sum(gross_amount)
    from changed cross join lateral (values (true, null), (false, account)) as own (all_accounts, account)
    where hour is not null
    group by 1, 2, 3, 4, 5, 6, 7
    having (
      sum(count), sum(amount), sum(total_amount), sum(net_amount), sum(fee), sum(refunded_amount), sum(gross_amount)
    ) <> (0, 0, 0, 0, 0, 0, 0)
    on conflict on constraint transaction_hour_summary_key do update set
      count = summary.count + excluded.count,
      amount = summary.amount + excluded.amount,
      total_amount = summary.total_amount + excluded.total_amount,
      net_amount = summary.net_amount + excluded.net_amount,
      fee = summary.fee + excluded.fee,
      refunded_amount = summary.refunded_amount + excluded.refunded_amount,
      gross_amount = summary.gross_amount + excluded.gross_amount
    returning summary.ctid as place,
      (count, amount, total_amount, net_amount, fee, refunded_amount, gross_amount) = (0, 0, 0, 0, 0, 0, 0) as is_empty
  )
  select
    (select count(*) from taken),
    (select array_agg(place) from saved where is_empty),
    (select array_agg(place) from saved_hour where is_empty)
  into merged, empty, empty_hours;
  delete from transaction_summary where ctid = any(empty);
  delete from transaction_hour_summary where ctid = any(empty_hours);
  return merged;
end $$;

-- The summaries by hour that the transactions require beside the changes that are not merged.
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

-- Computes the summaries by hour from the transactions, which can change meanwhile.
create function rebuild_transaction_hour_summaries() returns void language plpgsql as $$
begin
  perform pg_advisory_xact_lock(hashtext('transaction_summary'), 0);
  -- Changes without an hour count for the other summaries only. They are merged first, so that a report needs no day.
  while exists (select from transaction_summary_change where hour is null) loop
    perform merge_transaction_summary_changes(5000);
  end loop;
  delete from transaction_hour_summary;
  insert into transaction_hour_summary (
    hour, all_accounts, gateway_account_id, transaction_type, state, live, moto,
    count, amount, total_amount, net_amount, fee, refunded_amount, gross_amount
  )
  select * from expected_transaction_hour_summary;
end $$;

create or replace function rebuild_transaction_summaries() returns void language plpgsql as $$
begin
  perform pg_advisory_xact_lock(hashtext('transaction_summary'), 0);
  delete from transaction_summary;
  insert into transaction_summary (
    all_accounts, grain, period, gateway_account_id, transaction_type, state, live, moto,
    count, amount, total_amount, net_amount, fee, refunded_amount, gross_amount
  )
  select * from expected_transaction_summary;
  perform rebuild_transaction_hour_summaries();
end $$;
