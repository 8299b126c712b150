-- Since when payouts and metadata keys are known, and what payouts were before, so that they can be read as of a position.
alter table payout add column known_since bigint not null default 0;
alter table metadata_key add column known_since bigint not null default 0;

create table payout_version (
  gateway_payout_id text not null,
  gateway_account_id text,
  service_id text,
  live boolean,
  state text not null,
  created_date timestamptz not null,
  event_count integer not null,
  paid_out_date timestamptz,
  details jsonb not null,
  folded jsonb,
  -- SQL transactions, as in event_feed.
  known_since bigint not null,
  replaced_in bigint not null
);
create index payout_version_account_idx on payout_version (gateway_account_id, created_date);
create index payout_version_payout_idx on payout_version (gateway_payout_id);

create function note_known_since() returns trigger language plpgsql as $$
begin
  new.known_since := (select epoch << 40 from event_feed_epoch where only_row) + pg_current_xact_id()::text::bigint;
  return new;
end $$;
create function keep_payout_versions() returns trigger language plpgsql as $$
begin
  insert into payout_version (
    gateway_payout_id, gateway_account_id, service_id, live, state, created_date, event_count, paid_out_date, details,
    folded, known_since, replaced_in
  )
  select gateway_payout_id, gateway_account_id, service_id, live, state, created_date, event_count, paid_out_date, details,
    folded, known_since,
    (select epoch << 40 from event_feed_epoch where only_row) + pg_current_xact_id()::text::bigint
  from old_row;
  return null;
end $$;
create trigger note_known_since before insert or update on payout
for each row execute function note_known_since();
create trigger note_known_since before insert on metadata_key
for each row execute function note_known_since();
create trigger keep_versions_of_update after update on payout
referencing old table as old_row for each statement execute function keep_payout_versions();
create trigger keep_versions_of_delete after delete on payout
referencing old table as old_row for each statement execute function keep_payout_versions();

comment on column payout.known_since is 'The SQL transaction, as in event_feed, that has written the row. 0 if an older release has.';
comment on column metadata_key.known_since is 'As in payout.';
comment on table payout_version is 'What a payout was before an SQL transaction has changed or removed it, so that payouts can be read as of a position.';
comment on column payout_version.known_since is 'The SQL transaction that has written the row.';
comment on column payout_version.replaced_in is 'The SQL transaction that has changed or removed the row.';
comment on trigger note_known_since on payout is 'Notes the SQL transaction that writes the row, whichever release it is.';
comment on trigger note_known_since on metadata_key is 'As for payout.';
comment on trigger keep_versions_of_update on payout is 'Keeps what the payouts were before.';
comment on trigger keep_versions_of_delete on payout is 'As keep_versions_of_update.';
comment on function note_known_since() is 'Notes the present SQL transaction in known_since.';
comment on function keep_payout_versions() is 'Adds the old rows to payout_version.';
