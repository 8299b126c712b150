-- outside a transaction
drop index concurrently if exists transaction_account_type_state_newest_idx;
drop index concurrently if exists transaction_type_state_newest_idx;
