-- outside a transaction
-- What the tables, views, triggers and functions are for, so that a client of the database and schema.sql show it. The
-- locks of a comment block no read and no write of rows. They wait for an autovacuum, which ends when it is waited for; a
-- transaction would give up before.
do $do$ begin
comment on table migration is 'The applied files of src/ledger/tables/migrations/, each with the SHA-256 of its text. Null if a release without checksums has applied the file.';

comment on table event is 'Events of resources, as their messages have reported them. Rows are added and never changed, and everything else is computed from them.';
comment on column event.other_members is 'The members of a message that are no columns here, without those that are null. Null if there are none.';
comment on column event.size is 'The size of the row as JSON, in bytes, so that a page can be limited before it is read. Null in older rows.';
comment on trigger add_to_event_feed on event is 'Adds each new event to event_feed, with the account of its resource. Readers of the feed follow its order, since ids of events are given out before commits.';
comment on function add_to_event_feed() is 'Adds new events to the feed. If an event is the first that makes the account of its resource known, the earlier events of the resource get entries for the account.';

comment on table transaction is 'What the events of a payment, refund or dispute amount to: one row for each. Columns are searched, sorted or joined by, and the details have all other values.';
comment on column transaction.details is 'Of each member of the details of the events, the newest value.';
comment on column transaction.payment_details is 'What a refund or a dispute shows of its payment. Null in payments.';
comment on column transaction.first_event_id is 'The id of the event that arrived first, which shows whether the transaction arrived after another event.';
comment on column transaction.metadata_values is 'The values of the metadata of a payment as text in lower case, for searches.';
comment on column transaction.folded is 'The state of the fold, to which newer events are added without reading the older ones. It holds while it counts as many events as its row.';
comment on column transaction.size is 'The size of the row as JSON, in bytes, so that a page can be limited before it is read. Null in older rows.';
comment on trigger outline_insert on transaction is 'Adds the outlines of new transactions, in the transaction of the statement, whichever release runs it.';
comment on trigger outline_update on transaction is 'Writes the outlines of transactions whose outline has changed. An update of other columns writes none.';
comment on trigger outline_delete on transaction is 'Removes the outlines of removed transactions.';
comment on trigger summarise_insert on transaction is 'Adds the numbers and sums of new transactions to transaction_summary_change, so that summaries are never behind.';
comment on trigger summarise_update on transaction is 'Adds how an update changes the numbers and sums of transactions to transaction_summary_change. An update of other columns adds none.';
comment on trigger summarise_delete on transaction is 'Takes the numbers and sums of removed transactions off, by rows with negative numbers in transaction_summary_change.';

comment on table transaction_outline is 'The columns of a transaction by which searches by type and state walk. A change of the state writes this short row and its indexes, and leaves the indexes of the transaction as they are.';
comment on view expected_transaction_outline is 'The outlines that the transactions require, for a comparison with transaction_outline.';
comment on function outline_insert() is 'Adds the outlines of the new rows.';
comment on function outline_update() is 'Writes the outlines of the new rows that differ from the outlines of the old rows, and adds those that are missing.';
comment on function outline_delete() is 'Removes the outlines of the old rows.';

comment on table transaction_summary is 'Numbers and sums of transactions by day, month and all time, of each account and of all accounts, so that a report reads few rows. Merged from transaction_summary_change.';
comment on column transaction_summary.grain is 'day, month or ever.';
comment on column transaction_summary.period is 'The first day of the period (UTC), and -infinity for ever.';
comment on column transaction_summary.all_accounts is 'A row of all accounts has no account, and neither has the row of the transactions without one.';
comment on column transaction_summary.amount is 'Pence, as in the other sums.';
comment on column transaction_summary.gross_amount is 'The total amounts. Of a transaction without one, its amount.';
comment on table transaction_hour_summary is 'Numbers and sums of transactions by hour (UTC), so that a report in any time zone reads few rows. Merged from transaction_summary_change.';
comment on column transaction_hour_summary.all_accounts is 'As in transaction_summary.';
comment on column transaction_hour_summary.amount is 'As in transaction_summary.';
comment on table transaction_summary_change is 'What statements have changed and is not merged into the summaries yet: a row for each key and statement. Writers only add rows, so they do not wait for each other, and a report adds the rows up.';
comment on column transaction_summary_change.hour is 'Null in a change that is older than the summaries by hour.';
comment on view expected_transaction_summary is 'The summaries that the transactions require beside the changes that are not merged, for a comparison with transaction_summary.';
comment on view expected_transaction_hour_summary is 'The summaries by hour that the transactions require beside the changes that are not merged, for a comparison with transaction_hour_summary.';
comment on function summarise_hours_of_insert() is 'Adds the numbers and sums of the new rows to transaction_summary_change.';
comment on function summarise_hours_of_update() is 'Adds the difference of the numbers and sums of new and old rows to transaction_summary_change.';
comment on function summarise_hours_of_delete() is 'Adds the numbers and sums of the old rows, with the sign changed, to transaction_summary_change.';
comment on function summarise_insert() is 'Not used since there are summaries by hour.';
comment on function summarise_update() is 'Not used since there are summaries by hour.';
comment on function summarise_delete() is 'Not used since there are summaries by hour.';
comment on function merge_transaction_summary_changes(integer) is 'Merges changes, up to a number, into the summaries and returns how many they were. Only one session merges at a time. Another one returns 0.';
comment on function rebuild_transaction_summaries() is 'Computes all summaries from the transactions. These can change meanwhile, since a change that is not seen is merged later.';
comment on function rebuild_transaction_hour_summaries() is 'Computes the summaries by hour from the transactions, which can change meanwhile.';
comment on function summarised_details(jsonb) is 'The details of a transaction that its summary needs. An amount that is missing counts as 0.';
comment on function summarised_periods(date, text) is 'The periods of a day that have a summary, of all accounts and of one.';
comment on function pence_of(jsonb) is 'The pence of a member of the details, as the projection reads them. Null if it has none.';
comment on function utc_day(timestamptz) is 'The day of an instant in UTC.';
comment on function utc_hour(timestamptz) is 'The beginning of the hour of an instant in UTC.';

comment on table event_feed is 'The order in which readers get the events: that of the SQL transactions. All of those below the oldest one in flight have ended, so a reader that reads only these misses nothing.';
comment on column event_feed.sql_transaction is 'The id of the SQL transaction that has added the entry, with the epoch in the bits above. 0 for events that are older than this table.';
comment on column event_feed.gateway_account_id is 'The account that the event names, or the account of its resource.';
comment on column event_feed.only_of_account is 'The event has an earlier entry, of a time when its account was not known.';
comment on table event_feed_epoch is 'One row. The ids of SQL transactions begin again in a new server, to which a dump is restored. There the epoch is a later one.';
comment on column event_feed_epoch.older_event_id is 'The highest id of the events that are older than the feed.';
comment on function event_feed_end() is 'The positions before this one are complete: their SQL transactions have ended, and no later one gets a position below it.';
comment on function arrived_events() is 'The events that have arrived: the highest id, the end of the feed, and the SQL transactions behind the end that have committed, each as its distance. Only the highest id if these are more than 100.';
comment on function account_of_event(jsonb, jsonb) is 'The account that an event names, in its details or beside them.';
comment on function account_of_resource(text, text) is 'The account of a resource, from its projection. Null if it is not known.';
comment on function id_of(jsonb) is 'A text, number or boolean as text. Null if it is too long for an id.';

comment on table payout is 'What the events of a payout amount to: one row for each.';
comment on column payout.folded is 'As in transaction.';
comment on table agreement is 'What the events of an agreement amount to: one row for each.';
comment on column agreement.folded is 'As in transaction.';
comment on column agreement.size is 'As in transaction.';
comment on table payment_instrument is 'What the events of a payment instrument amount to: one row for each.';
comment on column payment_instrument.folded is 'As in transaction.';
comment on column payment_instrument.size is 'As in transaction.';
comment on table payment_instrument_account is 'The account of a payment instrument, to which its events in the feed belong: that of the first of its agreements whose account was known. Without a row it is that of its agreement in the projection.';
comment on table metadata_key is 'Every metadata key that payments of an account have ever had. They are the columns of a CSV export.';

comment on table dead_letter is 'Messages that can never succeed, and events that a target has rejected to the last attempt. They stay until an operator sends them again or removes them.';
comment on column dead_letter.source_id is 'The id of the message in the queue, so that a message that is delivered again is stored once.';
comment on column dead_letter.discarded_at is 'When an operator has discarded the message, which stays with the reason in note.';
comment on column dead_letter.target is 'The target that has rejected the event to the last attempt. Null for a message that could not be stored.';
comment on view parked_message is 'The dead letters, as releases before migration 0007 read and write them.';

comment on table publication is 'Where the publisher of each target is in the feed of events.';
comment on column publication.target is 'The URL of the target without credentials.';
comment on column publication.sql_transaction is 'The events up to here are delivered, deferred, or set aside as dead letters.';
comment on column publication.up_to_date_at is 'When everything in the feed was sent for the last time.';
comment on column publication.problem is 'Why the target takes nothing now. Null if it does.';
comment on column publication.owner is 'The process that publishes. Another one may when owned_until is over.';
comment on table deferred_delivery is 'Events that a target has rejected, and later events of their resources, which wait behind them.';
comment on column deferred_delivery.reason is 'Why the last attempt has failed. Null if there was none.';

comment on table intake_minute is 'What became of the messages of each minute, in all processes together. Rows older than a day are removed.';
comment on column intake_minute.lag_messages is 'Messages whose time of sending is known. The other columns of the lag are about the times from their sending to their commit.';
comment on table ledger_identity is 'One row: the id that distinguishes the events of this ledger from those of another one. A copy of the database gets another id.';
comment on column ledger_identity.database is 'The server and the number of the database when the id was made.';
comment on table cursor_key is 'One row: the key with which cursors are sealed, the same for all processes of the ledger. The first of them adds the row.';
end $do$;
