-- Returns the number of resources of one part that have a feature.
-- KEYS: the ids with the feature, the due expiries. ARGV: the time now, the kind of the resource, the feature.
local with, due = KEYS[1], KEYS[2]
local now, resource, feature = ARGV[1], ARGV[2], ARGV[3]

-- A member of `due` is the JSON of { resource, id, feature }. Within a text of JSON a quotation mark has a backslash
-- before it, so only a member with this kind and this feature begins and ends like this.
local first = "[" .. cjson.encode(resource) .. ","
local last = "," .. cjson.encode(feature) .. "]"
local expired = 0
for _, member in ipairs(redis.call("ZRANGEBYSCORE", due, "-inf", now)) do
  if string.sub(member, 1, #first) == first and string.sub(member, -#last) == last then expired = expired + 1 end
end
return redis.call("ZCARD", with) - expired
