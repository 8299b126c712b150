-- Redactions of resources. Their personal data is erased, and so is that of their later events.
create function current_sql_transaction() returns bigint language sql volatile as $$
  select (epoch << 40) + pg_current_xact_id()::text::bigint from event_feed_epoch where only_row
$$;

create table redaction (
  id bigint generated always as identity primary key,
  sql_transaction bigint not null default current_sql_transaction(),
  resource_external_id text not null,
  keeps_metadata boolean not null,
  redacted_at timestamptz not null default now(),
  unique (resource_external_id, keeps_metadata)
);
create index redaction_sql_transaction_idx on redaction (sql_transaction, id);

create function shown_members() returns text[] language sql immutable parallel safe as $$
  select array[
    'agreement_external_id', 'agreement_id', 'agreement_payment_type', 'amount', 'authorisation_mode',
    'can_retry', 'cancelled_date', 'capture_submitted_date', 'captured_date', 'card_brand', 'card_brand_label',
    'card_type', 'corporate_surcharge', 'credential_external_id', 'currency', 'delayed_capture',
    'destination_type', 'disputed', 'estimated_arrival_date_in_bank', 'evidence_due_date', 'exemption3ds',
    'exemption_3ds_requested', 'failure_balance_transaction', 'failure_code', 'failure_message', 'fee',
    'fee_breakdown', 'gateway_account_id', 'gateway_event_date', 'gateway_payout_id',
    'gateway_rejection_reason', 'gateway_status', 'gateway_transaction_id', 'language', 'live', 'moto',
    'net_amount', 'paid_out_date', 'payment_instrument_external_id', 'payment_instrument_id',
    'payment_provider', 'reason', 'refund_amount_available', 'refund_amount_refunded', 'refund_status',
    'requires_3ds', 'save_payment_instrument_to_agreement', 'source', 'statement_descriptor', 'total_amount',
    'type', 'version_3ds', 'wallet', 'zendesk_id'
  ]
$$;

create function redacted_members(members jsonb, keeps_metadata boolean) returns jsonb
language sql immutable strict parallel safe as $$
  select coalesce(jsonb_object_agg(name, case
    when value = 'null' or name = any(shown_members()) then value
    when name <> 'external_metadata' or jsonb_typeof(value) <> 'object' then '"<REDACTED>"'
    when keeps_metadata then value
    else (
      select coalesce(jsonb_object_agg(key, case when own = 'null' then own else '"<REDACTED>"' end), '{}')
      from jsonb_each(value) as entry (key, own)
    )
  end), '{}')
  from jsonb_each(members) as member (name, value)
$$;

comment on table event is 'Events of resources, as their messages have reported them. Only a redaction changes rows, and everything else is computed from them.';
comment on table redaction is 'Resources whose personal data is erased, also from events that are stored later. Rows are added and never changed.';
comment on index redaction_sql_transaction_idx is 'Redactions in the order of the feed.';
comment on column redaction.sql_transaction is 'As in event_feed.';
comment on column redaction.keeps_metadata is 'The metadata of the payment is not erased, unless another row of the resource erases it.';
comment on function current_sql_transaction() is 'The id of the SQL transaction in flight, with the epoch in the bits above, as in event_feed.';
comment on function shown_members() is 'The members of the details of events that have no personal data. Those that the contract does not have can have some.';
comment on function redacted_members(jsonb, boolean) is 'The members with <REDACTED> for each value that is neither shown nor null. Metadata has it for each key.';
