-- outside a transaction
-- The order of nulls, which there are none of, differs from that of the index for accounts: without statistics a search of
-- accounts must not take this index, and read the transactions of all (tables/search.ts).
create index concurrently if not exists transaction_outline_kind_newest_idx on transaction_outline (
  transaction_type, state, created_date desc, external_id desc
);
drop index concurrently if exists transaction_outline_type_state_newest_idx;
