-- The columns resource, id and feature have the names, or hashes of long names, since an index row has at most about
-- 2,700 bytes. If one of them is a hash, the column names has the three names. Times are milliseconds since 1970 (UTC).

-- One row. Whoever changes anything locks it first, so numbers have no gaps and are in the order of commits.
create table feature_storage.feed (
  is_only boolean primary key default true check (is_only),
  log text not null,
  first_number bigint not null,
  last_number bigint not null,
  keeps_all boolean not null default false
) with (fillfactor = 10);
insert into feature_storage.feed (log, first_number, last_number)
values (substr(gen_random_uuid()::text, 1, 8), 1, 0);

-- The change records, from the first to the last number of the feed.
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

-- The number of rows with each feature.
create table feature_storage.feature_use (
  resource text collate "C" not null,
  feature text collate "C" not null,
  names text[],
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

-- Records a change that has been made. If the store keeps all records, the times of those of a resource never decrease,
-- and its list is stored when about as many have been added as it has features.
create function feature_storage.append(
  keeps_all boolean, number bigint, type text, at bigint, entry feature_storage.feature
) returns void language plpgsql as $$
declare
  life feature_storage.resource_life;
  entries jsonb;
begin
  if keeps_all then
    insert into feature_storage.resource_life as l (resource, id, last_at, records)
    values (entry.resource, entry.id, append.at, 1)
    on conflict (resource, id) do update set last_at = greatest(l.last_at, append.at), records = l.records + 1
    returning * into life;
    append.at := life.last_at;
    if life.records % 100 = 0 then
      select jsonb_agg(
        jsonb_strip_nulls(jsonb_build_object(
          'feature', coalesce(f.names[3], f.feature), 'place', f.place, 'expiresAt', f.expires_at
        )) order by f.place
      ) into entries
      from feature_storage.feature f where f.resource = entry.resource and f.id = entry.id;
      if entries is null or jsonb_array_length(entries) <= life.records then
        insert into feature_storage.feature_list (resource, id, at, number, entries)
        values (entry.resource, entry.id, append.at, append.number, coalesce(entries, '[]'));
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
end $$;

-- Removes an entry and records why.
create function feature_storage.drop_entry(
  keeps_all boolean, number bigint, type text, at bigint, entry feature_storage.feature
) returns void language plpgsql as $$
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
  perform feature_storage.append(keeps_all, number, type, at, entry);
end $$;

-- Locks the feed. `records_kept` is null for a store that keeps all records.
create function feature_storage.lock_feed(records_kept bigint)
returns feature_storage.feed language plpgsql as $$
declare
  feed feature_storage.feed;
begin
  select * into strict feed from feature_storage.feed for update;
  if feed.keeps_all <> (records_kept is null) then
    raise exception 'the store was opened again with another value of the parameter keep';
  end if;
  return feed;
end $$;

-- Sets the last number. Deletes up to 1000 records more than were added, but none of the newest `records_kept`.
create function feature_storage.end_feed(
  feed feature_storage.feed, last_number bigint, records_kept bigint
) returns void language plpgsql as $$
declare
  oldest bigint := case when feed.keeps_all then feed.first_number else greatest(
    feed.first_number,
    least(last_number - records_kept + 1, feed.first_number + last_number - feed.last_number + 1000)
  ) end;
begin
  if last_number = feed.last_number then return; end if;
  if oldest > feed.first_number then
    delete from feature_storage.change c where c.number >= feed.first_number and c.number < oldest;
  end if;
  update feature_storage.feed f
  set first_number = oldest, last_number = end_feed.last_number;
end $$;

-- Makes the changes of requests, one request after the other. Returns for each one: whether the resource had the feature
-- before each change; or, if nothing was changed, the reason.
create function feature_storage.change(
  requests jsonb, now_ms bigint, features_max bigint, records_kept bigint
) returns jsonb language plpgsql as $$
declare
  feed feature_storage.feed;
  last_number bigint;
  outcomes jsonb := '[]';
  request record;
  change record;
  entry feature_storage.feature;
  is_present boolean;
  had boolean[];
  list jsonb;
  additions bigint;
  count bigint;
  growth bigint;
begin
  feed := feature_storage.lock_feed(records_kept);
  last_number := feed.last_number;
  for request in
    select * from jsonb_to_recordset(requests) as r (resource text, id text, "onlyIf" jsonb, changes jsonb)
  loop
    if request."onlyIf" is not null then
      select coalesce(jsonb_agg(f.feature order by f.place), '[]') into list
      from feature_storage.feature f
      where f.resource = request.resource and f.id = request.id
      and (f.expires_at is null or f.expires_at > now_ms);
      if list <> request."onlyIf" then
        outcomes := outcomes || jsonb_build_array('list differs');
        continue;
      end if;
    end if;

    select count(*) into additions from jsonb_array_elements(request.changes) c where c ->> 'type' = 'add';
    if additions > 0 then
      select count(*) into count from feature_storage.feature f
      where f.resource = request.resource and f.id = request.id;
    end if;
    if additions > 0 and count + additions > features_max then
      select coalesce(sum((c.type = 'add')::int - (f.feature is not null)::int), 0) into growth
      from (
        select distinct on (c ->> 'feature') c ->> 'feature' as feature, c ->> 'type' as type
        from jsonb_array_elements(request.changes) with ordinality as each (c, position)
        order by c ->> 'feature', position desc
      ) c
      left join feature_storage.feature f
      on f.resource = request.resource and f.id = request.id and f.feature = c.feature
      and (f.expires_at is null or f.expires_at > now_ms);
      if growth > 0 then
        select count(*) into count from feature_storage.feature f
        where f.resource = request.resource and f.id = request.id
        and (f.expires_at is null or f.expires_at > now_ms);
        if count + growth > features_max then
          outcomes := outcomes || jsonb_build_array('too many features');
          continue;
        end if;
        for entry in
          select * from feature_storage.feature f
          where f.resource = request.resource and f.id = request.id and f.expires_at <= now_ms
          order by f.expires_at, f.place
        loop
          last_number := last_number + 1;
          perform feature_storage.drop_entry(feed.keeps_all, last_number, 'expired', entry.expires_at, entry);
        end loop;
      end if;
    end if;

    had := '{}';
    for change in
      select * from jsonb_to_recordset(request.changes)
      as c (type text, feature text, names text[], "expiresAt" bigint)
    loop
      select * into entry from feature_storage.feature f
      where f.resource = request.resource and f.id = request.id and f.feature = change.feature;
      is_present := found;
      if entry.expires_at <= now_ms then
        last_number := last_number + 1;
        perform feature_storage.drop_entry(feed.keeps_all, last_number, 'expired', entry.expires_at, entry);
        is_present := false;
      end if;
      if change.type = 'remove' then
        if is_present then
          last_number := last_number + 1;
          perform feature_storage.drop_entry(feed.keeps_all, last_number, 'removed', now_ms, entry);
        end if;
      elsif not is_present then
        last_number := last_number + 1;
        entry := (
          request.resource, request.id, change.feature, change.names, last_number, change."expiresAt"
        );
        insert into feature_storage.feature values (entry.*);
        insert into feature_storage.feature_use as u (resource, feature, names, resources)
        values (entry.resource, entry.feature, entry.names, 1)
        on conflict (resource, feature) do update set resources = u.resources + 1;
        perform feature_storage.append(feed.keeps_all, last_number, 'added', now_ms, entry);
      elsif entry.expires_at is distinct from change."expiresAt" then
        last_number := last_number + 1;
        entry.expires_at := change."expiresAt";
        update feature_storage.feature f set expires_at = entry.expires_at
        where f.resource = entry.resource and f.id = entry.id and f.feature = entry.feature;
        perform feature_storage.append(feed.keeps_all, last_number, 'added', now_ms, entry);
      end if;
      had := had || is_present;
    end loop;
    outcomes := outcomes || jsonb_build_array(to_jsonb(had));
  end loop;
  perform feature_storage.end_feed(feed, last_number, records_kept);
  return outcomes;
end $$;

-- Removes up to `entries_max` entries that have expired, and records their expiry. Returns their number.
create function feature_storage.expire(now_ms bigint, entries_max bigint, records_kept bigint)
returns bigint language plpgsql as $$
declare
  feed feature_storage.feed;
  last_number bigint;
  entry feature_storage.feature;
begin
  feed := feature_storage.lock_feed(records_kept);
  last_number := feed.last_number;
  for entry in
    select * from feature_storage.feature f where f.expires_at <= now_ms order by f.expires_at limit entries_max
  loop
    last_number := last_number + 1;
    perform feature_storage.drop_entry(feed.keeps_all, last_number, 'expired', entry.expires_at, entry);
  end loop;
  perform feature_storage.end_feed(feed, last_number, records_kept);
  return last_number - feed.last_number;
end $$;
