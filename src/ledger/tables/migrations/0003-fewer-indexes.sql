-- Every index is written when an event changes a transaction. Payments have no parent; and whole references are found by
-- their trigrams, as parts of them are.
drop index transaction_parent_external_id_idx;
create index on transaction (parent_external_id) where parent_external_id is not null;
drop index transaction_lower_idx;
