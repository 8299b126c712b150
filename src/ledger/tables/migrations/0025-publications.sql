-- Where the publisher of each target is in the feed of events.
create table publication (
  -- The URL of the target without credentials.
  target text primary key,
  -- The events up to here are delivered, deferred, or set aside as dead letters.
  sql_transaction bigint not null,
  event_id bigint not null,
  timestamp timestamptz not null,
  -- When everything in the feed was sent for the last time.
  up_to_date_at timestamptz not null default now(),
  -- Why the target takes nothing now; null if it does.
  problem text,
  -- The process that publishes; another one may when this is over. Behind a pooler, no lock would outlive a transaction.
  owner uuid,
  owned_until timestamptz not null default '-infinity'
);

-- Events that a target has rejected, and later events of their resources, which wait behind them.
create table deferred_delivery (
  target text not null,
  sql_transaction bigint not null,
  event_id bigint not null,
  resource_type text not null,
  resource_external_id text not null,
  attempts integer not null,
  next_attempt_at timestamptz not null,
  -- Why the last attempt has failed; null if there was none.
  reason text,
  primary key (target, resource_external_id, resource_type, sql_transaction, event_id)
);
create index deferred_delivery_due_idx on deferred_delivery (target, next_attempt_at);

-- The target that has rejected an event to the last attempt, and the event. Both are null for a message that could not be
-- stored.
alter table dead_letter add column target text, add column event_id bigint;
