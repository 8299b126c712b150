import type { Row } from "./row.ts";
import { csv } from "./rows/csv.ts";
import { evaluate } from "./rows/evaluate.ts";
import { growth } from "./rows/growth.ts";
import { hasFeature, hasFeatureInPostgres, hasFeatureInRedis } from "./rows/has-feature.ts";
import { ingest, ingestFromQueues } from "./rows/ingest.ts";
import { listAndAdd } from "./rows/list-and-add.ts";
import { manyFeatures } from "./rows/many-features.ts";
import { memory } from "./rows/memory.ts";
import { recordedLookup } from "./rows/recorded-lookup.ts";
import { searchPage } from "./rows/search-page.ts";
import { start } from "./rows/start.ts";
import { transactionLookup } from "./rows/transaction-lookup.ts";

export type NumberedRow = Row & { number: number };

export const rows: NumberedRow[] = [
  hasFeature,
  hasFeatureInRedis,
  listAndAdd,
  transactionLookup,
  searchPage,
  ingest,
  ingestFromQueues,
  growth,
  csv,
  start,
  memory,
  evaluate,
  hasFeatureInPostgres,
  manyFeatures,
  recordedLookup,
].map((row, index) => ({ ...row, number: index + 1 }));
