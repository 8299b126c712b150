-- The transactions that a payout settled before an event moved them to another one, so that payouts can be read as of a position.
create table former_settlement (
  gateway_payout_id text not null,
  external_id text not null,
  primary key (gateway_payout_id, external_id)
);

create function note_former_settlement() returns trigger language plpgsql as $$
begin
  insert into former_settlement values (old.gateway_payout_id, old.external_id) on conflict do nothing;
  return null;
end $$;
create trigger note_former_settlement after update on transaction
for each row when (old.gateway_payout_id <> new.gateway_payout_id) execute function note_former_settlement();

-- Those since the first position. The lock of the trigger waits for all writers.
insert into former_settlement
select distinct left(former.event_details ->> 'gateway_payout_id', 255), external_id
from event_feed join event as latter on latter.id = event_id
  join event as former using (resource_type, resource_external_id)
  join transaction on external_id = resource_external_id
where sql_transaction >= (select min(sql_transaction) from instant_position)
  and latter.event_details ? 'gateway_payout_id'
  and former.event_details ->> 'gateway_payout_id' <> gateway_payout_id;

comment on table former_settlement is 'The transactions that a payout settled before an event moved them to another one, so that payouts can be read as of a position.';
comment on trigger note_former_settlement on transaction is 'Notes a payout that does not settle the transaction any more.';
comment on function note_former_settlement() is 'Adds the payout of the old row to former_settlement.';
