-- The transactions that were there before the triggers by hour.
select rebuild_transaction_hour_summaries();
