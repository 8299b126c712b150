-- outside a transaction
-- The order of the ticker and of the payout searches.
create index concurrently if not exists event_newest_idx on event (timestamp desc, id desc);
create index concurrently if not exists payout_account_newest_idx on payout (
  gateway_account_id, created_date desc, gateway_payout_id desc
);
create index concurrently if not exists payout_newest_idx on payout (created_date desc, gateway_payout_id desc);
