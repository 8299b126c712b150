-- What tells the events of this ledger from those of another one. A copy of the database gets another id.
create table ledger_identity (
  ledger_id uuid not null,
  -- The server and the number of the database when the id was made.
  database text not null,
  only_row boolean primary key default true check (only_row)
);
