-- in batches
with batch as (
  select id as key from event
  where id > coalesce(nullif($1::text, '')::bigint, 0) and id <= (select older_event_id from event_feed_epoch)
  order by id limit 1000
), added as (
  insert into event_feed (sql_transaction, event_id, gateway_account_id)
  select 0, id, coalesce(
    id_of(event_details -> 'gateway_account_id'),
    -- Its account can have become known meanwhile. Then it has an entry with the account.
    case when not exists (select from event_feed where event_id = id) then
      account_of_resource(resource_type, resource_external_id)
    end
  )
  from batch join event on id = key
  on conflict do nothing
)
select key from batch order by key
