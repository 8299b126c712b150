-- Generated from migrations/ by npm run codegen, to be read. Do not edit.
-- Hash of the migrations and of this text: 45530bd6fafd60677c3782757b2e9c2244a3d8dd76fff12d0cff9e9d8cdcecd7

-- The change records from the first number of the feed on. The newest one is never deleted. A store that keeps all
-- records adds the indexes change_by_resource and change_by_feature.
CREATE TABLE feature_storage.change (
  number bigint NOT NULL,
  -- added, removed or expired.
  type text NOT NULL,
  at bigint NOT NULL,
  -- A name or, if it is long, a hash of it. So are id and feature.
  resource text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  feature text COLLATE "C" NOT NULL,
  -- Resource, id and feature, if at least one of them is a hash. Null if none is.
  names text[],
  expires_at bigint,
  CONSTRAINT change_pkey PRIMARY KEY (number)
);

-- The features of resources: a row for each that a resource has. It stays after its expiry until it is removed.
CREATE TABLE feature_storage.feature (
  resource text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  feature text COLLATE "C" NOT NULL,
  -- As in change.
  names text[],
  -- The number of the record of the addition. Lists are in this order.
  place bigint NOT NULL,
  expires_at bigint,
  CONSTRAINT feature_pkey PRIMARY KEY (resource, id, feature)
);
CREATE INDEX feature_by_expiry ON feature_storage.feature USING btree (expires_at) WHERE expires_at IS NOT NULL;
CREATE INDEX feature_by_feature ON feature_storage.feature USING btree (resource, feature, id);
CREATE INDEX feature_by_own_expiry ON feature_storage.feature USING btree (resource, feature, expires_at) WHERE expires_at IS NOT NULL;

-- The list of a resource after some of its records, so that a past list is computed from few records. Only in a store
-- that keeps all records.
CREATE TABLE feature_storage.feature_list (
  resource text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  at bigint NOT NULL,
  number bigint NOT NULL,
  -- An array of feature, place and expiry time, in order.
  entries jsonb NOT NULL,
  CONSTRAINT feature_list_pkey PRIMARY KEY (resource, id, at, number)
);

-- The number of rows with each feature, so that a count reads one row.
CREATE TABLE feature_storage.feature_use (
  resource text COLLATE "C" NOT NULL,
  feature text COLLATE "C" NOT NULL,
  -- The feature, if the column feature is a hash of it.
  name text,
  resources bigint NOT NULL,
  CONSTRAINT feature_use_pkey PRIMARY KEY (resource, feature)
) WITH (fillfactor=50);

-- One row. Whoever changes anything locks it first, so numbers have no gaps and are in the order of commits. Only the
-- deletion of records changes it.
CREATE TABLE feature_storage.feed (
  is_only boolean NOT NULL DEFAULT true,
  -- A random text in every cursor, so that a cursor of another store is rejected.
  log text NOT NULL,
  -- The number of the oldest change record that is kept.
  first_number bigint NOT NULL,
  -- The store was opened with keep=all, so no change record is ever deleted.
  keeps_all boolean NOT NULL DEFAULT false,
  CONSTRAINT feed_pkey PRIMARY KEY (is_only),
  CONSTRAINT feed_is_only_check CHECK (is_only)
);

-- The applied files of src/features/store/postgres/migrations/, each with the SHA-256 of its text.
CREATE TABLE feature_storage.migration (
  name text NOT NULL,
  applied_at timestamp with time zone NOT NULL DEFAULT now(),
  checksum text,
  CONSTRAINT migration_pkey PRIMARY KEY (name)
);

-- For each resource that has ever had a feature: the time of its last record, and the number of records since its last
-- list in feature_list. Only in a store that keeps all records.
CREATE TABLE feature_storage.resource_life (
  resource text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  last_at bigint NOT NULL,
  records bigint NOT NULL,
  CONSTRAINT resource_life_pkey PRIMARY KEY (resource, id)
) WITH (fillfactor=50);

-- The row of feed with the number of the newest change record.
CREATE VIEW feature_storage.feed_state AS
 SELECT log,
    first_number,
    COALESCE(( SELECT max(change.number) AS max
           FROM feature_storage.change), 0::bigint) AS last_number,
    keeps_all
   FROM feature_storage.feed;

-- Records a change that has been made, and now and then the list of its resource if the store keeps all records.
-- Returns the number of the record.
CREATE OR REPLACE FUNCTION feature_storage.append(keeps_all boolean, number bigint, type text, at bigint, entry feature_storage.feature)
 RETURNS bigint
 LANGUAGE plpgsql
AS $function$
declare
  life feature_storage.resource_life;
  entries jsonb;
begin
  if keeps_all then
    insert into feature_storage.resource_life as l (resource, id, last_at, records)
    values (entry.resource, entry.id, append.at, 1)
    on conflict (resource, id) do update set last_at = greatest(l.last_at, append.at), records = l.records + 1
    returning * into life;
    if append.type <> 'expired' then append.at := life.last_at; end if;
    if life.records % 100 = 0 then
      select jsonb_agg(
        jsonb_strip_nulls(jsonb_build_object(
          'feature', coalesce(f.names[3], f.feature), 'place', f.place, 'expiresAt', f.expires_at
        )) order by f.place
      ) into entries
      from feature_storage.feature f where f.resource = entry.resource and f.id = entry.id;
      if entries is null or jsonb_array_length(entries) <= life.records then
        insert into feature_storage.feature_list (resource, id, at, number, entries)
        values (entry.resource, entry.id, life.last_at, append.number, coalesce(entries, '[]'));
        update feature_storage.resource_life l set records = 0
        where l.resource = entry.resource and l.id = entry.id;
      end if;
    end if;
  end if;
  insert into feature_storage.change (number, type, at, resource, id, feature, names, expires_at)
  values (
    append.number, append.type, append.at, entry.resource, entry.id, entry.feature, entry.names,
    case when append.type = 'added' then entry.expires_at end
  );
  return append.number;
end $function$;

-- Makes the changes of requests, one request after the other. Returns for each one whether the resource had the feature
-- before each change, or, if nothing was changed, the reason. A request is { resource, id, onlyIf?, additions, changes:
-- [{ type, feature, names?, expiresAt? }] } with the number of additions.
CREATE OR REPLACE FUNCTION feature_storage.change(requests jsonb, now_ms bigint, features_max bigint, records_kept bigint)
 RETURNS jsonb
 LANGUAGE plpgsql
AS $function$
declare
  feed feature_storage.feed_state;
  last_number bigint;
  recorded_at bigint;
  outcomes jsonb[] := '{}';
  request jsonb;
  requested_resource text;
  requested_id text;
  changes jsonb;
  change jsonb;
  entry feature_storage.feature;
  is_present boolean;
  had boolean[];
  additions bigint;
  new_expiry bigint;
  reason text;
begin
  feed := feature_storage.lock_feed(records_kept);
  last_number := feed.last_number;
  recorded_at := feature_storage.next_instant();
  -- Loops over rows of `jsonb_to_recordset` would cost more than the changes.
  for request_index in 0 .. jsonb_array_length(requests) - 1 loop
    request := requests -> request_index;
    requested_resource := request ->> 'resource';
    requested_id := request ->> 'id';
    changes := request -> 'changes';

    reason := null;
    if request ? 'onlyIf' then
      select 'list differs' into reason
      from feature_storage.feature f
      where f.resource = requested_resource and f.id = requested_id
      and (f.expires_at is null or f.expires_at > now_ms)
      having coalesce(jsonb_agg(f.feature order by f.place), '[]') <> request -> 'onlyIf';
    end if;
    additions := request -> 'additions';
    if reason is null and additions > 0 and additions + (
      select count(*) from feature_storage.feature f
      where f.resource = requested_resource and f.id = requested_id
    ) > features_max then
      reason := feature_storage.find_excess(requested_resource, requested_id, changes, now_ms, features_max);
      if reason = 'expired' then
        for entry in
          select * from feature_storage.feature f
          where f.resource = requested_resource and f.id = requested_id and f.expires_at <= now_ms
          order by f.expires_at, f.place
        loop
          last_number := feature_storage.drop_entry(
            feed.keeps_all, last_number + 1, 'expired', entry.expires_at, entry
          );
        end loop;
        reason := null;
      end if;
    end if;
    if reason is not null then
      outcomes := outcomes || to_jsonb(reason);
      continue;
    end if;

    had := '{}';
    for change_index in 0 .. jsonb_array_length(changes) - 1 loop
      change := changes -> change_index;
      select * into entry from feature_storage.feature f
      where f.resource = requested_resource and f.id = requested_id and f.feature = change ->> 'feature';
      is_present := found;
      if entry.expires_at <= now_ms then
        last_number := feature_storage.drop_entry(
          feed.keeps_all, last_number + 1, 'expired', entry.expires_at, entry
        );
        is_present := false;
      end if;
      had := had || is_present;
      if change ->> 'type' = 'remove' then
        if is_present then
          last_number := feature_storage.drop_entry(
            feed.keeps_all, last_number + 1, 'removed', recorded_at, entry
          );
        end if;
        continue;
      end if;
      new_expiry := change -> 'expiresAt';
      if not is_present then
        entry.resource := requested_resource;
        entry.id := requested_id;
        entry.feature := change ->> 'feature';
        entry.names := null;
        if change ? 'names' then
          entry.names := array(select jsonb_array_elements_text(change -> 'names'));
        end if;
        entry.place := last_number + 1;
        entry.expires_at := new_expiry;
        insert into feature_storage.feature
        values (entry.resource, entry.id, entry.feature, entry.names, entry.place, entry.expires_at);
        insert into feature_storage.feature_use as u (resource, feature, name, resources)
        values (entry.resource, entry.feature, entry.names[3], 1)
        on conflict (resource, feature) do update set resources = u.resources + 1;
      elsif entry.expires_at is distinct from new_expiry then
        entry.expires_at := new_expiry;
        update feature_storage.feature f set expires_at = new_expiry
        where f.resource = entry.resource and f.id = entry.id and f.feature = entry.feature;
      else
        continue;
      end if;
      last_number := feature_storage.append(feed.keeps_all, last_number + 1, 'added', recorded_at, entry);
    end loop;
    outcomes := outcomes || to_jsonb(had);
  end loop;
  perform feature_storage.delete_records(feed, last_number, records_kept);
  return to_jsonb(outcomes);
end $function$;

-- The clock of this server, in milliseconds since 1970 (UTC).
CREATE OR REPLACE FUNCTION feature_storage.clock_ms()
 RETURNS bigint
 LANGUAGE sql
AS $function$
  select floor(extract(epoch from clock_timestamp()) * 1000)::bigint
$function$;

-- Deletes records when there are enough to delete, but none of the newest ones that are to be kept.
CREATE OR REPLACE FUNCTION feature_storage.delete_records(feed feature_storage.feed_state, last_number bigint, records_kept bigint)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
declare
  excess bigint := last_number - feed.first_number + 1 - records_kept;
  next_first bigint := feed.first_number + least(excess, last_number - feed.last_number + 2000);
begin
  if feed.keeps_all or excess < least(records_kept, 1000) then return; end if;
  delete from feature_storage.change c where c.number >= feed.first_number and c.number < next_first;
  update feature_storage.feed f set first_number = next_first;
end $function$;

-- Removes an entry and records why. Returns the number of the record.
CREATE OR REPLACE FUNCTION feature_storage.drop_entry(keeps_all boolean, number bigint, type text, at bigint, entry feature_storage.feature)
 RETURNS bigint
 LANGUAGE plpgsql
AS $function$
declare
  remaining bigint;
begin
  delete from feature_storage.feature f
  where f.resource = entry.resource and f.id = entry.id and f.feature = entry.feature;
  update feature_storage.feature_use u set resources = u.resources - 1
  where u.resource = entry.resource and u.feature = entry.feature
  returning u.resources into remaining;
  if remaining = 0 then
    delete from feature_storage.feature_use u
    where u.resource = entry.resource and u.feature = entry.feature;
  end if;
  return feature_storage.append(keeps_all, number, type, at, entry);
end $function$;

-- Removes up to a number of entries that have expired, and records their expiry. Returns their number.
CREATE OR REPLACE FUNCTION feature_storage.expire(now_ms bigint, entries_max bigint, records_kept bigint)
 RETURNS bigint
 LANGUAGE plpgsql
AS $function$
declare
  feed feature_storage.feed_state;
  last_number bigint;
  entry feature_storage.feature;
begin
  feed := feature_storage.lock_feed(records_kept);
  last_number := feed.last_number;
  for entry in
    select * from feature_storage.feature f where f.expires_at <= now_ms order by f.expires_at limit entries_max
  loop
    last_number := feature_storage.drop_entry(
      feed.keeps_all, last_number + 1, 'expired', entry.expires_at, entry
    );
  end loop;
  perform feature_storage.delete_records(feed, last_number, records_kept);
  return last_number - feed.last_number;
end $function$;

-- Finds out whether the live features of a resource and those that the changes add are more than it may have. Returns
-- null if they are not, or if the changes do not lengthen the list. Returns expired if what has expired must be removed
-- before.
CREATE OR REPLACE FUNCTION feature_storage.find_excess(resource text, id text, changes jsonb, now_ms bigint, features_max bigint)
 RETURNS text
 LANGUAGE plpgsql
AS $function$
declare
  growth bigint;
  live bigint;
begin
  select coalesce(sum((last.type = 'add')::int - (f.feature is not null)::int), 0) into growth
  from (
    select distinct on (change ->> 'feature') change ->> 'feature' as feature, change ->> 'type' as type
    from jsonb_array_elements(changes) with ordinality as each (change, position)
    order by change ->> 'feature', position desc
  ) as last
  left join feature_storage.feature f
  on f.resource = find_excess.resource and f.id = find_excess.id and f.feature = last.feature
  and (f.expires_at is null or f.expires_at > now_ms);
  if growth <= 0 then return null; end if;
  select count(*) into live from feature_storage.feature f
  where f.resource = find_excess.resource and f.id = find_excess.id
  and (f.expires_at is null or f.expires_at > now_ms);
  return case when live + growth > features_max then 'too many features' else 'expired' end;
end $function$;

-- Locks the feed, for one that changes something. Rejects a store that was opened again with another value of keep.
CREATE OR REPLACE FUNCTION feature_storage.lock_feed(records_kept bigint)
 RETURNS feature_storage.feed_state
 LANGUAGE plpgsql
AS $function$
declare
  feed feature_storage.feed_state;
begin
  perform pg_advisory_xact_lock(hashtext('feature_storage.feed'), 0);
  perform log from feature_storage.feed for update;
  select * into strict feed from feature_storage.feed_state;
  if feed.keeps_all <> (records_kept is null) then
    raise exception 'the store was opened again with another value of the parameter keep';
  end if;
  return feed;
end $function$;

-- The instant of changes that are made now: that of the last record, if the clock is behind it.
CREATE OR REPLACE FUNCTION feature_storage.next_instant()
 RETURNS bigint
 LANGUAGE sql
AS $function$
  select greatest(
    feature_storage.clock_ms(), (select at from feature_storage.change order by number desc limit 1)
  )
$function$;

-- An instant that no later change gets, nor an earlier one. Waits for the change in flight.
CREATE OR REPLACE FUNCTION feature_storage.settled()
 RETURNS bigint
 LANGUAGE plpgsql
AS $function$
begin
  perform pg_advisory_xact_lock_shared(hashtext('feature_storage.feed'), 0);
  return feature_storage.next_instant() - 1;
end $function$;
