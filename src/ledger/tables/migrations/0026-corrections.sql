-- outside a transaction
-- Reports of performance leave out the payments that correct a failed refund. They are few.
create index concurrently if not exists event_correction_idx on event (resource_external_id)
  where event_type = 'REFUND_FAILURE_FUNDS_SENT_TO_CONNECT_ACCOUNT';
