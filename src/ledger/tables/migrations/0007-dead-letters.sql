-- The table gets the usual term for its messages. The previous release uses the view, which a later release drops.
alter table parked_message rename to dead_letter;
alter table dead_letter rename column parked_at to created_at;
create view parked_message as
select id, source_id, body, reason, created_at as parked_at from dead_letter;
