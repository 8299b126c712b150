-- A record had the clock of the process that sent the change. The change could be made later, and an earlier response for
-- its instant lacked it. Now the instant is taken under the lock that orders changes, and readers wait for those in flight.

-- The clock of this server, in milliseconds since 1970 (UTC).
create function feature_storage.clock_ms() returns bigint volatile language sql as $$
  select floor(extract(epoch from clock_timestamp()) * 1000)::bigint
$$;

-- The instant of changes that are made now: that of the last record, if the clock is behind it.
create function feature_storage.next_instant() returns bigint volatile language sql as $$
  select greatest(
    feature_storage.clock_ms(), (select at from feature_storage.change order by number desc limit 1)
  )
$$;

-- An instant that no later change gets, nor an earlier one. Waits for the change in flight.
create function feature_storage.settled() returns bigint volatile language plpgsql as $$
begin
  perform pg_advisory_xact_lock_shared(hashtext('feature_storage.feed'), 0);
  return feature_storage.next_instant() - 1;
end $$;

-- Locks the feed: for `settled`, which must not write, and for calls of the former function, which lock the row only.
-- `records_kept` is null for a store that keeps all records.
create or replace function feature_storage.lock_feed(records_kept bigint)
returns feature_storage.feed_state language plpgsql as $$
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
end $$;

-- As before, but that the records have the instant at which the feed was locked. `now_ms` decides what has expired, as in
-- every read: it is the clock of the process.
--
-- Makes the changes of requests, one request after the other. Returns for each one: whether the resource had the feature
-- before each change; or, if nothing was changed, the reason. A request is
-- { resource, id, onlyIf?, additions, changes: [{ type, feature, names?, expiresAt? }] } with the number of additions.
create or replace function feature_storage.change(
  requests jsonb, now_ms bigint, features_max bigint, records_kept bigint
) returns jsonb language plpgsql as $$
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
end $$;
