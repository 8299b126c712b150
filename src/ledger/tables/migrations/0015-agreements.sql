-- What the events of an agreement amount to.
create table agreement (
  external_id text primary key,
  gateway_account_id text,
  service_id text,
  live boolean,
  state text not null,
  created_date timestamptz not null,
  event_count integer not null,
  first_event_id bigint not null,
  reference text,
  cancelled_date timestamptz,
  cancelled_by_user_email text,
  details jsonb not null,
  folded jsonb,
  size integer not null
);
-- The order of a search, of all agreements, of an account and of a service.
create index on agreement (created_date desc, external_id desc);
create index on agreement (gateway_account_id, created_date desc, external_id desc);
create index on agreement (service_id, created_date desc, external_id desc);
create index on agreement using gin (lower(reference) gin_trgm_ops);

-- What the events of a payment instrument amount to.
create table payment_instrument (
  external_id text primary key,
  agreement_external_id text,
  service_id text,
  created_date timestamptz not null,
  event_count integer not null,
  details jsonb not null,
  folded jsonb,
  size integer not null
);
create index on payment_instrument (agreement_external_id, created_date desc, external_id desc);
