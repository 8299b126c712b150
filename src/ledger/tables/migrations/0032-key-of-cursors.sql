-- The key with which cursors are sealed, the same for all processes of the ledger. The first of them adds the row.
create table cursor_key (
  -- Three random UUIDs have 366 random bits.
  key bytea not null default sha256(
    convert_to(concat(gen_random_uuid(), gen_random_uuid(), gen_random_uuid()), 'utf8')
  ),
  only_row boolean primary key default true check (only_row)
);
