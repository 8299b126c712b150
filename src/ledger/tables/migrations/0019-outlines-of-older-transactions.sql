-- in batches
-- The rows are locked, so that none is deleted before its outline is there.
with batch as (
  select external_id as key from transaction where external_id > $1 order by external_id limit 1000
), locked as materialized (
  select external_id from transaction where external_id in (select key from batch) for key share
), added as (
  insert into transaction_outline
  select expected.* from locked join expected_transaction_outline as expected using (external_id)
  on conflict (external_id) do nothing
)
select key from batch order by key
