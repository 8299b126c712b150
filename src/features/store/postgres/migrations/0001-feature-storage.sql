-- The columns resource, id and feature have the names, or hashes of long names, since an index row has at most about
-- 2,700 bytes. If one of them is a hash, the column names has the three names. Times are milliseconds since 1970 (UTC).

-- One row. Whoever changes anything locks it first, so numbers have no gaps and are in the order of commits. Only the
-- deletion of records changes it: while another session holds a snapshot, each version of the row would slow down all.
create table feature_storage.feed (
  is_only boolean primary key default true check (is_only),
  log text not null,
  first_number bigint not null,
  keeps_all boolean not null default false
);
insert into feature_storage.feed (log, first_number) values (substr(gen_random_uuid()::text, 1, 8), 1);

-- The change records from the first number of the feed on. The newest one is never deleted.
create table feature_storage.change (
  number bigint primary key,
  type text not null,
  at bigint not null,
  resource text collate "C" not null,
  id text collate "C" not null,
  feature text collate "C" not null,
  names text[],
  expires_at bigint
);

create view feature_storage.feed_state as
select log, first_number, coalesce((select max(number) from feature_storage.change), 0) as last_number, keeps_all
from feature_storage.feed;

-- The features of resources. The place is the number of the record of the addition.
create table feature_storage.feature (
  resource text collate "C" not null,
  id text collate "C" not null,
  feature text collate "C" not null,
  names text[],
  place bigint not null,
  expires_at bigint,
  primary key (resource, id, feature)
);
create index feature_by_feature on feature_storage.feature (resource, feature, id);
create index feature_by_expiry on feature_storage.feature (expires_at) where expires_at is not null;
create index feature_by_own_expiry on feature_storage.feature (resource, feature, expires_at)
where expires_at is not null;

-- The number of rows with each feature. It has its name if the feature is a hash.
create table feature_storage.feature_use (
  resource text collate "C" not null,
  feature text collate "C" not null,
  name text,
  resources bigint not null,
  primary key (resource, feature)
) with (fillfactor = 50);

-- The next two tables have rows only if the store keeps all records. They have what a past list is computed from.

-- For each resource that has ever had a feature: the time of its last record, and the number of records since its last
-- list in feature_list.
create table feature_storage.resource_life (
  resource text collate "C" not null,
  id text collate "C" not null,
  last_at bigint not null,
  records bigint not null,
  primary key (resource, id)
) with (fillfactor = 50);

-- The list of a resource after some of its records: an array of feature, place and expiry time, in order.
create table feature_storage.feature_list (
  resource text collate "C" not null,
  id text collate "C" not null,
  at bigint not null,
  number bigint not null,
  entries jsonb not null,
  primary key (resource, id, at, number)
);

-- Records a change that has been made. If the store keeps all records, the times of those of a resource never decrease;
-- an expiry has its own time. Its list is stored when about as many records have been added as it has features. Returns
-- the number of the record.
create function feature_storage.append(
  keeps_all boolean, number bigint, type text, at bigint, entry feature_storage.feature
) returns bigint language plpgsql as $$
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
end $$;

-- Removes an entry and records why. Returns the number of the record.
create function feature_storage.drop_entry(
  keeps_all boolean, number bigint, type text, at bigint, entry feature_storage.feature
) returns bigint language plpgsql as $$
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
end $$;

-- Locks the feed. `records_kept` is null for a store that keeps all records.
create function feature_storage.lock_feed(records_kept bigint)
returns feature_storage.feed_state language plpgsql as $$
declare
  feed feature_storage.feed_state;
begin
  perform log from feature_storage.feed for update;
  select * into strict feed from feature_storage.feed_state;
  if feed.keeps_all <> (records_kept is null) then
    raise exception 'the store was opened again with another value of the parameter keep';
  end if;
  return feed;
end $$;

-- Deletes records when there are enough to delete, but none of the newest `records_kept`, and at most 2000 more than were
-- added.
create function feature_storage.delete_records(
  feed feature_storage.feed_state, last_number bigint, records_kept bigint
) returns void language plpgsql as $$
declare
  excess bigint := last_number - feed.first_number + 1 - records_kept;
  next_first bigint := feed.first_number + least(excess, last_number - feed.last_number + 2000);
begin
  if feed.keeps_all or excess < least(records_kept, 1000) then return; end if;
  delete from feature_storage.change c where c.number >= feed.first_number and c.number < next_first;
  update feature_storage.feed f set first_number = next_first;
end $$;

-- Makes the changes of requests, one request after the other. Returns for each one: whether the resource had the feature
-- before each change; or, if nothing was changed, the reason. A request is
-- { resource, id, onlyIf?, additions, changes: [{ type, feature, names?, expiresAt? }] } with the number of additions.
create function feature_storage.change(
  requests jsonb, now_ms bigint, features_max bigint, records_kept bigint
) returns jsonb language plpgsql as $$
declare
  feed feature_storage.feed_state;
  last_number bigint;
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
            feed.keeps_all, last_number + 1, 'removed', now_ms, entry
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
      last_number := feature_storage.append(feed.keeps_all, last_number + 1, 'added', now_ms, entry);
    end loop;
    outcomes := outcomes || to_jsonb(had);
  end loop;
  perform feature_storage.delete_records(feed, last_number, records_kept);
  return to_jsonb(outcomes);
end $$;

-- Finds out whether the live features of a resource and those that the changes add are more than it may have. Returns
-- null if they are not, or if the changes do not lengthen the list; `expired` if what has expired must be removed before.
create function feature_storage.find_excess(
  resource text, id text, changes jsonb, now_ms bigint, features_max bigint
) returns text language plpgsql as $$
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
end $$;

-- Removes up to `entries_max` entries that have expired, and records their expiry. Returns their number.
create function feature_storage.expire(now_ms bigint, entries_max bigint, records_kept bigint)
returns bigint language plpgsql as $$
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
end $$;
