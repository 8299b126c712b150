-- The transactions that were there before the triggers.
select rebuild_transaction_summaries();
