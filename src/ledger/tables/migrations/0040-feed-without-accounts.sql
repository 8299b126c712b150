-- As before, but an SQL transaction does not read all entries of the feed that have no account: those of events that were
-- stored before an event that names the account. With several receivers there are more and more.
create or replace function add_to_event_feed() returns trigger language plpgsql set enable_seqscan = off as $$
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
      where agreement.resource_type = 'agreement' and account_of_event(agreement.event_details, agreement.other_members) is not null
        and account_of_resource('agreement', agreement.resource_external_id) is null
    ) as instrument
    order by id
    on conflict (external_id) do update set external_id = excluded.external_id;
  end if;
  with added as materialized (
    select id, resource_type, resource_external_id, account_of_event(event_details, other_members) as account,
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
    -- In this order, whatever the statistics: mostly nothing is discovered, and there can be many entries without an account.
    cross join lateral (
      select id from event
      where (resource_type, resource_external_id) = (all_discovered.resource_type, all_discovered.resource_external_id)
      offset 0
    ) as event
    cross join lateral (
      select from event_feed where event_id = event.id and (gateway_account_id || '') is null offset 0
    ) as earlier
  )
  insert into event_feed (sql_transaction, event_id, gateway_account_id, only_of_account)
  select (epoch << 40) + pg_current_xact_id()::text::bigint, id, account, only_of_account
  from entry cross join event_feed_epoch where only_row
  on conflict (sql_transaction, event_id) do update set gateway_account_id = excluded.gateway_account_id;
  return null;
end $$;
