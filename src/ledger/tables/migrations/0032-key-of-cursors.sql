-- The key with which cursors are sealed. It is made in the database, so that all processes and replicas have the same.
create table cursor_key (
  only_row boolean primary key default true check (only_row),
  -- Random UUIDs have 122 random bits each.
  key bytea not null default sha256(convert_to(gen_random_uuid()::text || gen_random_uuid()::text || gen_random_uuid()::text, 'utf8'))
);
insert into cursor_key default values;
