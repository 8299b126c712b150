-- outside a transaction
-- The payment instruments that have ever named an agreement. An event can name a longer id, which is that of no agreement.
create index concurrently if not exists event_agreement_idx on event (
  left(event_details ->> 'agreement_external_id', 255), resource_external_id
) where resource_type = 'payment_instrument';
