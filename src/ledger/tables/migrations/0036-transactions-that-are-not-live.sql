-- outside a transaction
-- The transactions without real money, which are few where most are live.
create index concurrently if not exists transaction_not_live_idx on transaction (gateway_account_id) where live = false;
