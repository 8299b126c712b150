create extension if not exists pg_trgm;

-- What the events of a payout amount to.
create table payout (
  gateway_payout_id text primary key,
  gateway_account_id text,
  service_id text,
  live boolean,
  state text not null,
  created_date timestamptz not null,
  event_count integer not null,
  paid_out_date timestamptz,
  details jsonb not null
);
create index on payout (gateway_account_id, paid_out_date);
create index on payout (paid_out_date);

-- Every metadata key that payments of an account ever had.
create table metadata_key (
  gateway_account_id text not null,
  key text not null,
  primary key (gateway_account_id, key)
);

-- first_event_id: number of the event that arrived first; it tells which transactions arrived after an event.
-- metadata_values: the values of a payment's metadata as text in lower case, to be searched.
alter table transaction add column first_event_id bigint, add column metadata_values text[];
update transaction set
  first_event_id = (
    select min(id) from event
    where resource_external_id = external_id and resource_type in ('payment', 'refund', 'dispute')
  ),
  metadata_values = (
    select array_agg(distinct lower(value)) from jsonb_each_text(details -> 'external_metadata')
    where transaction_type = 'PAYMENT' and length(value) <= 255
  );
alter table transaction alter column first_event_id set not null;

insert into metadata_key
select distinct gateway_account_id, jsonb_object_keys(details -> 'external_metadata') from transaction
where transaction_type = 'PAYMENT' and gateway_account_id is not null;

-- Each filter of the search has an index. What fits is sorted; or, where much of an account fits, the indexes in the
-- order of the pages are walked.
create index on transaction (gateway_account_id, transaction_type, state);
create index on transaction (transaction_type, state);
create index on transaction (card_brand) where card_brand is not null;
create index on transaction (first_digits_card_number) where first_digits_card_number is not null;
create index on transaction (last_digits_card_number) where last_digits_card_number is not null;
create index on transaction (gateway_transaction_id) where gateway_transaction_id is not null;
create index on transaction (gateway_payout_id) where gateway_payout_id is not null;
create index on transaction (agreement_id) where agreement_id is not null;
create index on transaction (lower(reference)) where reference is not null;
create index on transaction using gin (
  lower(reference) gin_trgm_ops, lower(email) gin_trgm_ops, lower(cardholder_name) gin_trgm_ops
);
create index on transaction using gin (metadata_values);
create index on event (parent_resource_external_id) where parent_resource_external_id is not null;
