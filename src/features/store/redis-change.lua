-- Fulfils wishes for one resource, all or none of them, and tells what has changed. All keys are of one part.
-- KEYS: the features of the resource, what is due, the changes, and for each wish the ids that have its feature.
-- ARGV: JSON { now, kept, resource, id, onlyIf?, wishes: [{ type, feature, expiresAt? }] } with numbers as texts, since
-- those of Lua lose digits on their way to a text. The wish to expire tells of a feature whose time has come.
-- Answers for each wish with 1 or 0, whether the resource had the feature; with nothing when the list is not onlyIf.
local of, due, changes = KEYS[1], KEYS[2], KEYS[3]
local asked = cjson.decode(ARGV[1])
local resource, id, now = asked.resource, asked.id, tonumber(asked.now)

-- What is kept of a feature: its place, and when it expires.
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

-- Answers with the number of the change.
local function tell(type, at, feature, expiresAt)
  local fields = { "type", type, "at", at, "resource", resource, "id", id, "feature", feature }
  if expiresAt then
    fields[#fields + 1] = "expiresAt"
    fields[#fields + 1] = expiresAt
  end
  return string.sub(redis.call("XADD", changes, "MAXLEN", "~", asked.kept, "0-*", unpack(fields)), 3)
end

local function forget(with, feature, entry)
  redis.call("HDEL", of, feature)
  redis.call("ZREM", with, withMember(entry))
  if entry.expiresAt then redis.call("ZREM", due, dueMember(feature)) end
end

local function keep(with, feature, entry)
  local value = entry.expiresAt and entry.place .. " " .. entry.expiresAt or entry.place
  redis.call("HSET", of, feature, value)
  redis.call("ZADD", with, 0, withMember(entry))
  if entry.expiresAt then redis.call("ZADD", due, entry.expiresAt, dueMember(feature)) end
end

local function fulfil(wish, with)
  local feature = wish.feature
  local value = redis.call("HGET", of, feature)
  local entry = value and read(value)
  if entry and not isLive(entry) then
    forget(with, feature, entry)
    tell("expired", entry.expiresAt, feature)
    entry = nil
  end
  if wish.type == "expire" then
    -- Also what is due of a feature that somebody else has deleted, so that it is not found again and again.
    if not entry then redis.call("ZREM", due, dueMember(feature)) end
  elseif wish.type == "remove" then
    if entry then
      forget(with, feature, entry)
      tell("removed", asked.now, feature)
    end
  elseif not entry or entry.expiresAt ~= wish.expiresAt then
    -- Told before it is kept: a server without memory refuses the first command of a script, or none.
    local number = tell("added", asked.now, feature, wish.expiresAt)
    if entry then forget(with, feature, entry) end
    keep(with, feature, { place = entry and entry.place or number, expiresAt = wish.expiresAt })
  end
  return entry and 1 or 0
end

-- Whether the features are these, in their order.
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

if asked.onlyIf and not areLive(asked.onlyIf) then return false end
local had = {}
for index, wish in ipairs(asked.wishes) do had[index] = fulfil(wish, KEYS[3 + index]) end
return had
