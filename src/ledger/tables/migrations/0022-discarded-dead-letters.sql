-- outside a transaction
-- The dead letters that an operator has discarded, however many are open.
create index concurrently if not exists dead_letter_discarded_idx on dead_letter (id) where discarded_at is not null;
