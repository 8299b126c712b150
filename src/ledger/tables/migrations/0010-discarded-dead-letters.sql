-- A discarded dead letter stays, with the reason of the operator.
alter table dead_letter add column discarded_at timestamptz;
alter table dead_letter add column note text;
