-- outside a transaction
-- The order of the columns of a CSV export, so that it reads no more keys than it has columns.
create index concurrently if not exists metadata_key_in_order_idx on metadata_key (gateway_account_id, key collate "C");
