-- The order in which readers get the events. Ids of events are given out before commits, so an event can appear after one
-- with a higher id. Here the order is that of the SQL transactions. All of those below the oldest one in flight have ended,
-- so a reader that reads only them misses nothing. Rows are added and never changed.
create table event_feed (
  -- The id of the SQL transaction that has added the entry, with the epoch in the bits above; 0 for events that are older
  -- than this table.
  sql_transaction bigint not null,
  event_id bigint not null,
  -- The account that the event names, or that of its resource.
  gateway_account_id text,
  -- The event has an earlier entry, of a time when its account was not known.
  only_of_account boolean not null default false,
  primary key (sql_transaction, event_id)
);
create index event_feed_account_idx on event_feed (gateway_account_id, sql_transaction, event_id);
create index event_feed_event_idx on event_feed (event_id);

-- The ids of SQL transactions begin again in a new server, to which a dump is restored. There the epoch is a later one.
create table event_feed_epoch (
  epoch bigint not null,
  -- The highest id of the events that are older than the feed.
  older_event_id bigint not null,
  only_row boolean primary key default true check (only_row)
);
-- The positions before this one are complete: their SQL transactions have ended, and no later one gets a position below it.
-- In this language, a session plans a statement once, and not at each call.
create function event_feed_end() returns bigint stable parallel restricted language plpgsql as $$
begin
  return (
    select (epoch << 40) + pg_snapshot_xmin(pg_current_snapshot())::text::bigint from event_feed_epoch where only_row
  );
end $$;

-- The events that have arrived, for conditions.ts: the highest id, the end of the feed, and the SQL transactions behind the
-- end that have committed, each as its distance. Only the highest id if these are more than 100.
create function arrived_events() returns text stable parallel restricted language plpgsql set enable_seqscan = off as $$
declare
  newest constant bigint := coalesce((select max(id) from event), 0);
  feed_end constant bigint := event_feed_end();
  distances constant bigint[] := array(
    select distinct sql_transaction - feed_end from event_feed where sql_transaction >= feed_end limit 101
  );
begin
  if cardinality(distances) > 100 then return newest; end if;
  return concat(newest, ':', feed_end, ':', array_to_string(distances, ','));
end $$;

-- A text, number or boolean as text, as projection/details.ts reads them; null if it is too long for an id.
create function id_of(member jsonb) returns text immutable parallel safe language sql as $$
  select case when jsonb_typeof(member) in ('string', 'number', 'boolean') and length(member #>> '{}') between 1 and 255
    then member #>> '{}' end
$$;

-- The account of a payment instrument, to which its events in the feed belong: that of the first of its agreements whose
-- account was known. Without a row it is that of its agreement in the projection.
create table payment_instrument_account (
  external_id text primary key,
  gateway_account_id text
);

-- The account of a resource.
create function account_of_resource(type text, id text) returns text stable language sql set enable_seqscan = off as $$
  select case
    when type in ('payment', 'refund', 'dispute') then
      (select gateway_account_id from transaction where external_id = id)
    when type = 'payout' then (select gateway_account_id from payout where gateway_payout_id = id)
    when type = 'agreement' then (select gateway_account_id from agreement where external_id = id)
    when type = 'payment_instrument' then coalesce(
      (select gateway_account_id from payment_instrument_account where external_id = id),
      (
        select agreement.gateway_account_id from payment_instrument as instrument
        join agreement on agreement.external_id = instrument.agreement_external_id
        where instrument.external_id = id
      )
    )
  end
$$;

-- Adds new events to the feed. Projections are not updated yet. If an event is the first that makes the account of its
-- resource known, the earlier events of the resource get entries for the account.
create function add_to_event_feed() returns trigger language plpgsql set enable_seqscan = off as $$
declare
  has_agreements boolean;
begin
  select bool_or(resource_type in ('agreement', 'payment_instrument')) into has_agreements from new_event;
  if has_agreements is null then return null; end if;
  -- Locks the payment instruments, since other receivers can store their events while the account of an agreement becomes
  -- known. Receivers hold all their other locks before. The next statement sees what the others have committed.
  if has_agreements then
    insert into payment_instrument_account (external_id, gateway_account_id)
    select id, account_of_resource('payment_instrument', id) from (
      select resource_external_id as id from new_event where resource_type = 'payment_instrument'
      union
      select event.resource_external_id from new_event as agreement join event
        on event.resource_type = 'payment_instrument'
        and left(event.event_details ->> 'agreement_external_id', 255) = agreement.resource_external_id
      where agreement.resource_type = 'agreement' and id_of(agreement.event_details -> 'gateway_account_id') is not null
        and account_of_resource('agreement', agreement.resource_external_id) is null
    ) as instrument
    order by id
    on conflict (external_id) do update set external_id = excluded.external_id;
  end if;
  with added as materialized (
    select id, resource_type, resource_external_id, id_of(event_details -> 'gateway_account_id') as account,
      case resource_type when 'payment_instrument' then id_of(event_details -> 'agreement_external_id') end as agreement
    from new_event
  ), resource as materialized (
    -- With the events of each resource, so that no join is needed: the planner does not know how many there are.
    select resource_type, resource_external_id, array_agg(id) as ids, array_agg(account) as accounts,
      case when resource_type in ('payment', 'refund', 'dispute', 'payout', 'agreement') then max(account) end as account,
      array_agg(agreement) filter (where agreement is not null) as agreements,
      case
        when resource_type in ('payment', 'refund', 'dispute') then
          (select gateway_account_id from transaction where external_id = resource_external_id)
        else account_of_resource(resource_type, resource_external_id)
      end as known
    from added group by resource_type, resource_external_id
  ), discovered as materialized (
    select resource_type, resource_external_id, account from resource where known is null and account is not null
  ), discovered_instrument as materialized (
    select id, min(account) as account from (
      select resource_external_id as id, account_of_resource('agreement', agreement) as account
      from resource cross join unnest(agreements) as agreement where known is null
      union all
      select event.resource_external_id, discovered.account
      from discovered join event
        on event.resource_type = 'payment_instrument'
        and left(event.event_details ->> 'agreement_external_id', 255) = discovered.resource_external_id
      where discovered.resource_type = 'agreement'
        and account_of_resource(event.resource_type, event.resource_external_id) is null
    ) as of_agreement
    where account is not null group by id
  ), recorded as (
    update payment_instrument_account as instrument set gateway_account_id = account
    from discovered_instrument where external_id = id
  ), entry as (
    select own.id,
      coalesce(
        own.account, known, resource.account,
        case resource_type when 'payment_instrument' then of_instruments.accounts ->> resource_external_id end
      ) as account,
      false as only_of_account
    from resource
    cross join (select jsonb_object_agg(id, account) as accounts from discovered_instrument) as of_instruments
    cross join lateral unnest(ids, resource.accounts) as own (id, account)
    union all
    select event.id, all_discovered.account, true
    from (
      select * from discovered
      union all
      select 'payment_instrument', id, account from discovered_instrument
    ) as all_discovered
    join event using (resource_type, resource_external_id)
    join event_feed as earlier on earlier.event_id = event.id and earlier.gateway_account_id is null
  )
  insert into event_feed (sql_transaction, event_id, gateway_account_id, only_of_account)
  select (epoch << 40) + pg_current_xact_id()::text::bigint, id, account, only_of_account
  from entry cross join event_feed_epoch where only_row
  on conflict (sql_transaction, event_id) do update set gateway_account_id = excluded.gateway_account_id;
  return null;
end $$;

create trigger add_to_event_feed after insert on event
referencing new table as new_event for each statement execute function add_to_event_feed();
insert into event_feed_epoch (epoch, older_event_id) select 0, coalesce(max(id), 0) from event;
