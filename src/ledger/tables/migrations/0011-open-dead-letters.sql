-- outside a transaction
-- The dead letters that an operator has to look at, however many were discarded.
create index concurrently if not exists dead_letter_open_idx on dead_letter (id) where discarded_at is null;
