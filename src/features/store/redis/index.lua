-- Adds a feature to those in use for a kind of resource, and the kind to those in use, if a resource has the feature.
-- KEYS: the ids with the feature, the features in use, the kinds in use. ARGV: the feature, the kind.
if redis.call("ZCARD", KEYS[1]) > 0 then
  redis.call("ZADD", KEYS[2], 0, ARGV[1])
  redis.call("ZADD", KEYS[3], 0, ARGV[2])
end
