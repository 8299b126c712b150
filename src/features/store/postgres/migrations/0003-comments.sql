-- outside a transaction
-- What the tables, views and functions are for, so that a client of the database and schema.sql show it. The locks of a
-- comment block no read and no write of rows. They wait for an autovacuum, which ends when it is waited for; a transaction
-- would give up before.
do $do$ begin
comment on table feature_storage.migration is 'The applied files of src/features/store/postgres/migrations/, each with the SHA-256 of its text.';

comment on table feature_storage.feed is 'One row. Whoever changes anything locks it first, so numbers have no gaps and are in the order of commits. Only the deletion of records changes it.';
comment on column feature_storage.feed.log is 'A random text in every cursor, so that a cursor of another store is rejected.';
comment on column feature_storage.feed.first_number is 'The number of the oldest change record that is kept.';
comment on column feature_storage.feed.keeps_all is 'The store was opened with keep=all, so no change record is ever deleted.';
comment on view feature_storage.feed_state is 'The row of feed with the number of the newest change record.';

comment on table feature_storage.change is 'The change records from the first number of the feed on. The newest one is never deleted. A store that keeps all records adds the indexes change_by_resource and change_by_feature.';
comment on column feature_storage.change.resource is 'A name or, if it is long, a hash of it. So are id and feature.';
comment on column feature_storage.change.names is 'Resource, id and feature, if at least one of them is a hash. Null if none is.';
comment on column feature_storage.change.type is 'added, removed or expired.';

comment on table feature_storage.feature is 'The features of resources: a row for each that a resource has. It stays after its expiry until it is removed.';
comment on column feature_storage.feature.place is 'The number of the record of the addition. Lists are in this order.';
comment on column feature_storage.feature.names is 'As in change.';
comment on table feature_storage.feature_use is 'The number of rows with each feature, so that a count reads one row.';
comment on column feature_storage.feature_use.name is 'The feature, if the column feature is a hash of it.';
comment on table feature_storage.resource_life is 'For each resource that has ever had a feature: the time of its last record, and the number of records since its last list in feature_list. Only in a store that keeps all records.';
comment on table feature_storage.feature_list is 'The list of a resource after some of its records, so that a past list is computed from few records. Only in a store that keeps all records.';
comment on column feature_storage.feature_list.entries is 'An array of feature, place and expiry time, in order.';

comment on function feature_storage.change(jsonb, bigint, bigint, bigint) is 'Makes the changes of requests, one request after the other. Returns for each one whether the resource had the feature before each change, or, if nothing was changed, the reason. A request is { resource, id, onlyIf?, additions, changes: [{ type, feature, names?, expiresAt? }] } with the number of additions.';
comment on function feature_storage.expire(bigint, bigint, bigint) is 'Removes up to a number of entries that have expired, and records their expiry. Returns their number.';
comment on function feature_storage.append(boolean, bigint, text, bigint, feature_storage.feature) is 'Records a change that has been made, and now and then the list of its resource if the store keeps all records. Returns the number of the record.';
comment on function feature_storage.drop_entry(boolean, bigint, text, bigint, feature_storage.feature) is 'Removes an entry and records why. Returns the number of the record.';
comment on function feature_storage.find_excess(text, text, jsonb, bigint, bigint) is 'Finds out whether the live features of a resource and those that the changes add are more than it may have. Returns null if they are not, or if the changes do not lengthen the list. Returns expired if what has expired must be removed before.';
comment on function feature_storage.delete_records(feature_storage.feed_state, bigint, bigint) is 'Deletes records when there are enough to delete, but none of the newest ones that are to be kept.';
comment on function feature_storage.lock_feed(bigint) is 'Locks the feed, for one that changes something. Rejects a store that was opened again with another value of keep.';
comment on function feature_storage.clock_ms() is 'The clock of this server, in milliseconds since 1970 (UTC).';
comment on function feature_storage.next_instant() is 'The instant of changes that are made now: that of the last record, if the clock is behind it.';
comment on function feature_storage.settled() is 'An instant that no later change gets, nor an earlier one. Waits for the change in flight.';
end $do$;
