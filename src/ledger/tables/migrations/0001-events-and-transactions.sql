-- What happened, as told. Rows are added and never changed.
create table event (
  id bigint generated always as identity primary key,
  resource_type text not null,
  resource_external_id text not null,
  parent_resource_external_id text,
  timestamp timestamptz not null,
  event_type text not null,
  service_id text,
  live boolean,
  event_details jsonb not null,
  -- An event is stored once. The order of the columns lets the index find a resource's events too.
  unique (resource_external_id, resource_type, timestamp, event_type)
);

-- What the events of a payment, refund or dispute amount to. A column is here to be searched, sorted or joined by;
-- everything else is read from the details.
create table transaction (
  external_id text primary key,
  transaction_type text not null,
  parent_external_id text,
  gateway_account_id text,
  service_id text,
  live boolean,
  state text not null,
  created_date timestamptz not null,
  event_count integer not null,
  reference text,
  email text,
  cardholder_name text,
  card_brand text,
  first_digits_card_number text,
  last_digits_card_number text,
  gateway_transaction_id text,
  gateway_payout_id text,
  agreement_id text,
  -- The resource's own details: of each member the newest value.
  details jsonb not null,
  -- What a refund or dispute shows of its payment; null on payments.
  payment_details jsonb
);

create index on transaction (parent_external_id);
create index on transaction (gateway_account_id, created_date desc, external_id desc);
create index on transaction (created_date desc, external_id desc);

-- Messages that can never succeed, with the reason.
create table parked_message (
  id bigint generated always as identity primary key,
  -- The queue's id of the message: one that is delivered again is parked once.
  source_id text not null unique,
  body bytea not null,
  reason text not null,
  parked_at timestamptz not null default now()
);
