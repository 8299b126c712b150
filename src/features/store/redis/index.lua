-- Adds a feature to those in use for a kind of resource, if a resource has it.
-- KEYS: the ids with the feature, the features in use. ARGV: the feature.
if redis.call("ZCARD", KEYS[1]) > 0 then redis.call("ZADD", KEYS[2], 0, ARGV[1]) end
