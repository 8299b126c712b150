-- The transparency log: a Merkle tree (RFC 6962) over the events and redactions in the order of the feed.
create table transparency_entry (
  index bigint not null,
  kind smallint not null,
  source_id bigint not null,
  account text,
  salt uuid,
  personal_hash bytea not null,
  primary key (source_id, kind)
);
create index transparency_entry_index_idx on transparency_entry using brin (index) with (pages_per_range = 16);

create table transparency_tile (
  level smallint not null,
  index bigint not null,
  content bytea not null,
  primary key (level, index)
);
-- Hashes cannot be compressed.
alter table transparency_tile alter column content set storage external;

create table transparency_head (
  size bigint not null,
  sql_transaction bigint not null default -1,
  kind smallint not null default 0,
  source_id bigint not null default 0,
  only_row boolean primary key default true check (only_row)
);
insert into transparency_head values (0);

create table transparency_checkpoint (
  size bigint primary key,
  note text not null,
  created_at timestamptz not null default clock_timestamp()
);

comment on table transparency_entry is 'The entries of the transparency log, each of an event or a redaction.';
comment on column transparency_entry.index is 'The number of its leaf in the tree, from 0.';
comment on column transparency_entry.kind is '0 for an event, 1 for a redaction.';
comment on column transparency_entry.account is 'The account of the event, as event_feed has it.';
comment on column transparency_entry.salt is 'Hides personal data in its hash. Null once the event is redacted, and without personal data.';
comment on column transparency_entry.personal_hash is 'The hash of the salt and the personal data. Empty without personal data.';
comment on index transparency_entry_index_idx is 'Entries are added in this order.';
comment on table transparency_tile is 'The tiles of the tree (C2SP tlog-tiles), and the bundles of its entries as level -1.';
comment on column transparency_tile.content is 'Up to 256 hashes of 32 bytes, or entries of 48 bytes.';
comment on table transparency_head is 'The end of the log: its size and its last entry. The next entries are those after it in the feed.';
comment on table transparency_checkpoint is 'Signed checkpoints (C2SP tlog-checkpoint) with the signatures of witnesses: the newest one, and the last of each day.';
