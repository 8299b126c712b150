-- What newer events are folded onto, beside the other columns: no event has to be read again for them. It holds while it
-- counts as many events as its row: an older version, which does not know the column, counts on in the row alone. A row
-- without it is folded from all its events, once.
alter table transaction add column folded jsonb;
alter table payout add column folded jsonb;
