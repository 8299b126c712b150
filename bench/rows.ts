import type { Row } from "./row.ts";
import { hasFeature } from "./rows/has-feature.ts";
import { hasFeatureInRedis } from "./rows/has-feature-redis.ts";
import { listAndAdd } from "./rows/list-and-add.ts";

export const rows: Row[] = [hasFeature, hasFeatureInRedis, listAndAdd];
