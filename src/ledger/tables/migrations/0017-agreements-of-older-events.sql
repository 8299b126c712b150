-- in batches
-- The agreements and payment instruments whose events were stored before there was a table for them: as in the projection,
-- each value is that of the newest event. The state of the fold is not known, so the next event is folded with all others.
with batch as (
  select resource_external_id as key from event
  where resource_type in ('agreement', 'payment_instrument') and resource_external_id > $1
  order by resource_external_id limit 500
), wanted as (
  select distinct key from batch
), life_cycle (event_type, state, place) as (
  values
    ('AGREEMENT_CREATED', 'CREATED', 1),
    ('AGREEMENT_SET_UP', 'ACTIVE', 2),
    ('AGREEMENT_CANCELLED_BY_SERVICE', 'CANCELLED', 3),
    ('AGREEMENT_CANCELLED_BY_USER', 'CANCELLED', 4),
    ('AGREEMENT_INACTIVATED', 'INACTIVE', 5)
), own as (
  select event.*, state, row_number() over (
    order by timestamp, coalesce(place, 0), event_type collate "C"
  ) as place
  from wanted join event on resource_external_id = key left join life_cycle using (event_type)
  where resource_type in ('agreement', 'payment_instrument')
), folded as (
  select resource_type, resource_external_id, min(timestamp) as created_date, max(timestamp) as newest,
    count(*)::integer as event_count, min(id) as first_event_id,
    (array_agg(service_id order by place desc) filter (where service_id is not null))[1] as service_id,
    (array_agg(live order by place desc) filter (where live is not null))[1] as live,
    (array_agg(state order by place desc) filter (where state is not null))[1] as state,
    (array_agg(event_type order by place desc) filter (where state is not null))[1] as state_event_type
  from own group by resource_type, resource_external_id
), newest_values as (
  select resource_type, resource_external_id, jsonb_object_agg(key, value order by place) as details
  from own cross join jsonb_each(event_details) group by resource_type, resource_external_id
), detailed as (
  select folded.*, coalesce(details, '{}') as details, octet_length(coalesce(details, '{}')::text) as size
  from folded left join newest_values using (resource_type, resource_external_id)
), agreements as (
  insert into agreement (
    external_id, gateway_account_id, service_id, live, state, created_date, event_count, first_event_id, reference,
    cancelled_date, cancelled_by_user_email, details, size
  )
  select resource_external_id, details ->> 'gateway_account_id', service_id, live, coalesce(state, 'UNDEFINED'),
    created_date, event_count, first_event_id, details ->> 'reference',
    case state when 'CANCELLED' then newest end,
    case state_event_type when 'AGREEMENT_CANCELLED_BY_USER' then nullif(details ->> 'user_email', '') end, details, size
  from detailed where resource_type = 'agreement'
  on conflict do nothing
), instruments as (
  insert into payment_instrument (
    external_id, agreement_external_id, service_id, created_date, event_count, details, size
  )
  select resource_external_id,
    case when jsonb_typeof(details -> 'agreement_external_id') in ('string', 'number', 'boolean')
      and length(details ->> 'agreement_external_id') between 1 and 255
      then details ->> 'agreement_external_id' end,
    service_id, created_date, event_count, details, size
  from detailed where resource_type = 'payment_instrument'
  on conflict do nothing
)
select key from wanted order by key;
