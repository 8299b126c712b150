import type { Row } from "./row.ts";
import { hasFeature } from "./rows/has-feature.ts";
import { ingest } from "./rows/ingest.ts";
import { ingestFromQueues } from "./rows/ingest-from-queues.ts";
import { memory } from "./rows/memory.ts";
import { start } from "./rows/start.ts";

export const rows: Row[] = [hasFeature, ingest, ingestFromQueues, start, memory];
