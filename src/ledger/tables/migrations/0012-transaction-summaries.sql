-- Numbers and sums of transactions, so that a report reads tens of rows instead of counting transactions. Triggers write
-- them in the transaction of the rows that they summarise, whichever release writes these.
create table transaction_summary (
  -- 'day', 'month' or 'ever', with its first day (UTC); '-infinity' for ever.
  grain text not null,
  period date not null,
  -- A row of all accounts has no account, and neither has the row of the transactions without one.
  all_accounts boolean not null,
  gateway_account_id text,
  transaction_type text not null,
  state text not null,
  live boolean,
  moto boolean not null,
  count bigint not null,
  -- Pence. Sums of 64-bit amounts can need more than 64 bits.
  amount numeric not null,
  total_amount numeric not null,
  net_amount numeric not null,
  fee numeric not null,
  refunded_amount numeric not null,
  -- The total amounts; of a transaction without one, its amount.
  gross_amount numeric not null,
  constraint transaction_summary_key
    unique nulls not distinct (all_accounts, grain, gateway_account_id, period, transaction_type, state, live, moto)
) with (fillfactor = 70);
create index transaction_summary_period_idx on transaction_summary (grain, period) where not all_accounts;

-- What statements have changed, a row for each key and statement. Writers only add rows, so that they do not wait for each
-- other. The rows are merged into the summaries later; until then a report adds them.
create table transaction_summary_change (
  day date not null,
  gateway_account_id text,
  transaction_type text not null,
  state text not null,
  live boolean,
  moto boolean not null,
  count bigint not null,
  amount numeric not null,
  total_amount numeric not null,
  net_amount numeric not null,
  fee numeric not null,
  refunded_amount numeric not null,
  gross_amount numeric not null
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_cost_delay = 0);
create index transaction_summary_change_account_idx on transaction_summary_change (gateway_account_id);
alter table transaction_summary_change replica identity full;

-- The pence of a member of the details, as projection/details.ts reads them; null if it has none.
create function pence_of(member jsonb) returns numeric immutable parallel safe language sql as $$
  select case jsonb_typeof(member)
    when 'number' then
      case when member::numeric between -9007199254740991 and 9007199254740991 and member::numeric % 1 = 0
        then trunc(member::numeric) end
    when 'string' then
      case when member #>> '{}' ~ '^-?0*[0-9]{1,16}$' then
        case when (member #>> '{}')::numeric between -9007199254740991 and 9007199254740991
          then (member #>> '{}')::numeric end
      end
  end
$$;

-- The details of a transaction that its summary needs. An amount that is missing counts as 0.
create function summarised_details(details jsonb)
returns table (
  moto boolean, amount numeric, total_amount numeric, net_amount numeric, fee numeric, refunded_amount numeric,
  gross_amount numeric
)
immutable parallel safe rows 1 language sql as $$
  select
    moto, coalesce(amount, 0), coalesce(total_amount, 0), coalesce(net_amount, 0), coalesce(fee, 0),
    coalesce(refunded_amount, 0), coalesce(total_amount, amount, 0)
  from (
    select
      coalesce(member.moto #>> '{}' = 'true', false) as moto, pence_of(member.amount) as amount,
      pence_of(member.total_amount) as total_amount, pence_of(member.net_amount) as net_amount,
      pence_of(member.fee) as fee, pence_of(member.refund_amount_refunded) as refunded_amount
    from jsonb_to_record(details) as member (
      moto jsonb, amount jsonb, total_amount jsonb, net_amount jsonb, fee jsonb, refund_amount_refunded jsonb
    )
    offset 0
  ) as pence
$$;

create function utc_day(instant timestamptz) returns date immutable parallel safe language sql as $$
  select (instant at time zone 'UTC')::date
$$;

-- The periods of a day that have a summary, of all accounts and of one.
create function summarised_periods(day date, account text)
returns table (all_accounts boolean, grain text, period date, gateway_account_id text)
immutable parallel safe rows 6 language sql as $$
  select all_accounts, grain, period, case when not all_accounts then account end
  from (values ('day', day), ('month', date_trunc('month', day::timestamp)::date), ('ever', '-infinity')) as own (grain, period)
  cross join (values (true), (false)) as accounts (all_accounts)
$$;

-- Merges changes, up to a number, into the summaries and returns how many they were. Only one session merges at a time;
-- another one returns 0.
create function merge_transaction_summary_changes(changes_max integer) returns integer language plpgsql as $$
declare
  merged integer;
  empty tid[];
begin
  if not pg_try_advisory_xact_lock(hashtext('transaction_summary'), 0) then return 0; end if;
  with taken as (
    delete from transaction_summary_change
    where ctid = any (array(select ctid from transaction_summary_change limit changes_max))
    returning *
  ),
  -- Summed up before they are multiplied by six.
  changed as materialized (
    select day, gateway_account_id as account, transaction_type, state, live, moto,
      sum(count) as count, sum(amount) as amount, sum(total_amount) as total_amount, sum(net_amount) as net_amount,
      sum(fee) as fee, sum(refunded_amount) as refunded_amount, sum(gross_amount) as gross_amount
    from taken group by 1, 2, 3, 4, 5, 6
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
    from changed cross join lateral summarised_periods(day, account) as own
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
  )
  select (select count(*) from taken), array_agg(place) filter (where is_empty) into merged, empty from saved;
  delete from transaction_summary where ctid = any(empty);
  return merged;
end $$;

-- The summaries that the transactions require beside the changes that are not merged.
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

-- Computes the summaries from the transactions. Transactions can change meanwhile: a change that the view has not seen is
-- merged later.
create function rebuild_transaction_summaries() returns void language plpgsql as $$
begin
  perform pg_advisory_xact_lock(hashtext('transaction_summary'), 0);
  delete from transaction_summary;
  insert into transaction_summary (
    all_accounts, grain, period, gateway_account_id, transaction_type, state, live, moto,
    count, amount, total_amount, net_amount, fee, refunded_amount, gross_amount
  )
  select * from expected_transaction_summary;
end $$;

-- A function for the triggers of each kind of statement, which differ in the rows that they add and take away.
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
      create function summarise_%1$s() returns trigger language plpgsql as $$
      begin
        -- An upsert runs two of the triggers, often one of them without rows.
        if not exists (%2$s) then return null; end if;
        insert into transaction_summary_change (
          day, gateway_account_id, transaction_type, state, live, moto,
          count, amount, total_amount, net_amount, fee, refunded_amount, gross_amount
        )
        select * from (
          select utc_day(created_date) as day, gateway_account_id, transaction_type, state, live, moto,
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

create trigger summarise_insert after insert on transaction
referencing new table as new_row for each statement execute function summarise_insert();
create trigger summarise_update after update on transaction
referencing old table as old_row new table as new_row for each statement execute function summarise_update();
create trigger summarise_delete after delete on transaction
referencing old table as old_row for each statement execute function summarise_delete();
