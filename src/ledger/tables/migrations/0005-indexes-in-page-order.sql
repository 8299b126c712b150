-- outside a transaction
-- Each type and state of an account, and of all, newest first, so that a page of them is read from its beginning; the
-- order of nulls, which there are none of, lets no other index be taken for these (tables/search.ts). And what a payout
-- includes, with the account, which is compared too.
create index concurrently if not exists transaction_account_type_state_newest_idx on transaction (
  gateway_account_id, transaction_type, state, created_date desc nulls last, external_id desc nulls last
);
create index concurrently if not exists transaction_type_state_newest_idx on transaction (
  transaction_type, state, created_date desc nulls last, external_id desc nulls last
);
create index concurrently if not exists transaction_payout_account_idx on transaction (
  gateway_payout_id, gateway_account_id
) where gateway_payout_id is not null;
drop index concurrently if exists transaction_gateway_account_id_transaction_type_state_idx;
drop index concurrently if exists transaction_transaction_type_state_idx;
drop index concurrently if exists transaction_gateway_payout_id_idx;
