-- Returns the number of resources of one part that have each of some features.
-- KEYS: the due expiries, and for each feature the ids with it. ARGV: the time now, the kind of the resource, the features.
local now, resource = ARGV[1], ARGV[2]
local counts, places = {}, {}
for index = 2, #KEYS do
  counts[index - 1] = redis.call("ZCARD", KEYS[index])
  places[ARGV[index + 1]] = index - 1
end
-- What has expired and is not yet removed does not count. A member of `due` is the JSON of { resource, id, feature }.
local first = "[" .. cjson.encode(resource) .. ","
for _, member in ipairs(redis.call("ZRANGEBYSCORE", KEYS[1], "-inf", now)) do
  local place = string.sub(member, 1, #first) == first and places[cjson.decode(member)[3]]
  if place then counts[place] = counts[place] - 1 end
end
return counts
