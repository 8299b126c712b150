-- The columns of a transaction by which searches by type and state walk. A change of the state writes this short row and
-- its indexes, and leaves the indexes of the transaction as they are. Triggers write it in the transaction of the
-- statement, whichever release runs that.
create table transaction_outline (
  external_id text primary key,
  gateway_account_id text,
  transaction_type text not null,
  state text not null,
  created_date timestamptz not null,
  first_event_id bigint not null
);
create index transaction_outline_account_type_state_newest_idx on transaction_outline (
  gateway_account_id, transaction_type, state, created_date desc nulls last, external_id desc nulls last
);
create index transaction_outline_type_state_newest_idx on transaction_outline (
  transaction_type, state, created_date desc nulls last, external_id desc nulls last
);

-- The outlines that the transactions require.
create view expected_transaction_outline as
select external_id, gateway_account_id, transaction_type, state, created_date, first_event_id from transaction;

create function outline_insert() returns trigger language plpgsql as $$
begin
  insert into transaction_outline
  select external_id, gateway_account_id, transaction_type, state, created_date, first_event_id from new_row;
  return null;
end $$;

-- A transaction that the next migration has not reached yet has no outline.
create function outline_update() returns trigger language plpgsql as $$
begin
  insert into transaction_outline
  select external_id, gateway_account_id, transaction_type, state, created_date, first_event_id from new_row
  except
  select external_id, gateway_account_id, transaction_type, state, created_date, first_event_id from old_row
  on conflict (external_id) do update set
    (gateway_account_id, transaction_type, state, created_date, first_event_id) =
    (excluded.gateway_account_id, excluded.transaction_type, excluded.state, excluded.created_date, excluded.first_event_id);
  return null;
end $$;

create function outline_delete() returns trigger language plpgsql as $$
begin
  delete from transaction_outline where external_id = any(array(select external_id from old_row));
  return null;
end $$;

create trigger outline_insert after insert on transaction
referencing new table as new_row for each statement execute function outline_insert();
create trigger outline_update after update on transaction
referencing old table as old_row new table as new_row for each statement execute function outline_update();
create trigger outline_delete after delete on transaction
referencing old table as old_row for each statement execute function outline_delete();

-- Room in each page for the new version of a row, so that its indexes need no new entries.
alter table transaction set (fillfactor = 80);
