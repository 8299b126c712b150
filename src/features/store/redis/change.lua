-- Makes changes to one resource atomically and records them. All keys are of one part.
-- KEYS: the features of the resource, the due expiries, the change records, the features in use for the kind of the
-- resource, the kinds in use, and for each change the ids with its feature.
-- ARGV: JSON { now, kept, max, resource, id, onlyIf?, changes: [{ type, feature, expiresAt? }] }. Numbers are texts, since
-- Lua loses digits when it writes a number. The change "expire" records an expiry that is due.
-- Returns a list that begins with one of these words:
--   had                 the changes were made; for each follows 1 if the resource had the feature before it, otherwise 0
--   expired             nothing was changed; features follow that have expired and must be removed before
--   list differs        nothing was changed: the list differs from onlyIf
--   too many features   nothing was changed: the list would get longer, and longer than max
local of, due, records, used, kinds = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local request = cjson.decode(ARGV[1])
local resource, id, now = request.resource, request.id, tonumber(request.now)

-- Parses an entry: its place and its expiry time.
local function read(value)
  local place, expiresAt = string.match(value, "^(%d+) ?(%d*)$")
  return { place = place, expiresAt = expiresAt ~= "" and expiresAt or nil }
end

local function isLive(entry)
  return not entry.expiresAt or tonumber(entry.expiresAt) > now
end

local function dueMember(feature)
  return cjson.encode({ resource, id, feature })
end

local function withMember(entry)
  return entry.expiresAt and id .. "\0" .. entry.expiresAt or id
end

-- Returns the number of the record.
local function record(type, at, feature, expiresAt)
  local fields = { "type", type, "at", at, "resource", resource, "id", id, "feature", feature }
  if expiresAt then
    fields[#fields + 1] = "expiresAt"
    fields[#fields + 1] = expiresAt
  end
  return string.sub(redis.call("XADD", records, "MAXLEN", "~", request.kept, "0-*", unpack(fields)), 3)
end

local function remove(with, feature, entry)
  redis.call("HDEL", of, feature)
  redis.call("ZREM", with, withMember(entry))
  if redis.call("ZCARD", with) == 0 then
    redis.call("ZREM", used, feature)
    if redis.call("ZCARD", used) == 0 then redis.call("ZREM", kinds, resource) end
  end
  if entry.expiresAt then redis.call("ZREM", due, dueMember(feature)) end
end

local function put(with, feature, entry)
  local value = entry.expiresAt and entry.place .. " " .. entry.expiresAt or entry.place
  redis.call("HSET", of, feature, value)
  redis.call("ZADD", with, 0, withMember(entry))
  if redis.call("ZCARD", with) == 1 then
    redis.call("ZADD", used, 0, feature)
    redis.call("ZADD", kinds, 0, resource)
  end
  if entry.expiresAt then redis.call("ZADD", due, entry.expiresAt, dueMember(feature)) end
end

local function make(change, with)
  local feature = change.feature
  local value = redis.call("HGET", of, feature)
  local entry = value and read(value)
  if entry and not isLive(entry) then
    remove(with, feature, entry)
    record("expired", entry.expiresAt, feature)
    entry = nil
  end
  if change.type == "expire" then
    -- The entry may have been deleted by hand. Without this its expiry would be found again and again.
    if not entry then redis.call("ZREM", due, dueMember(feature)) end
  elseif change.type == "remove" then
    if entry then
      remove(with, feature, entry)
      record("removed", request.now, feature)
    end
  elseif not entry or entry.expiresAt ~= change.expiresAt then
    -- The record is written first: a server that is out of memory rejects the first write of a script or none.
    local number = record("added", request.now, feature, change.expiresAt)
    if entry then remove(with, feature, entry) end
    put(with, feature, { place = entry and entry.place or number, expiresAt = change.expiresAt })
  end
  return entry and 1 or 0
end

-- Returns true if the live features are the expected ones, in the expected order.
local function areLive(expected)
  local all, live = redis.call("HGETALL", of), {}
  for index = 1, #all, 2 do
    local entry = read(all[index + 1])
    if isLive(entry) then live[#live + 1] = { feature = all[index], place = tonumber(entry.place) } end
  end
  if #live ~= #expected then return false end
  table.sort(live, function(one, other) return one.place < other.place end)
  for index, entry in ipairs(live) do
    if entry.feature ~= expected[index] then return false end
  end
  return true
end

-- Returns by how many features the changes lengthen the list.
local function growth()
  local last, expected, grown = {}, {}, 0
  for _, change in ipairs(request.changes) do last[change.feature] = change.type end
  for _, feature in ipairs(request.onlyIf or {}) do expected[feature] = true end
  local function isPresent(feature)
    if request.onlyIf then return expected[feature] end
    local value = redis.call("HGET", of, feature)
    return value and isLive(read(value))
  end
  for feature, type in pairs(last) do
    if type == "add" then grown = grown + 1 end
    if isPresent(feature) then grown = grown - 1 end
  end
  return grown
end

-- Finds out whether `grown` more features fit. Stops reading when it finds too many, or enough that have expired.
-- Returns nil if they fit, otherwise the result of the script.
local function rejection(grown, max)
  local expired, live, seen, cursor = { "expired" }, 0, {}, "0"
  repeat
    local page = redis.call("HSCAN", of, cursor, "COUNT", 200)
    cursor = page[1]
    for index = 1, #page[2], 2 do
      local feature = page[2][index]
      if not seen[feature] then
        seen[feature] = true
        if isLive(read(page[2][index + 1])) then
          live = live + 1
        else
          expired[#expired + 1] = feature
        end
      end
    end
    if live + grown > max then return { "too many features" } end
  until cursor == "0" or #expired > 200
  return #expired > 1 and expired or nil
end

if request.onlyIf and not areLive(request.onlyIf) then return { "list differs" } end
local additions, max = 0, tonumber(request.max)
for _, change in ipairs(request.changes) do
  if change.type == "add" then additions = additions + 1 end
end
if additions > 0 and redis.call("HLEN", of) + additions > max then
  local grown = growth()
  local rejected = grown > 0 and rejection(grown, max)
  if rejected then return rejected end
end
local results = { "had" }
for index, change in ipairs(request.changes) do results[index + 1] = make(change, KEYS[5 + index]) end
return results
