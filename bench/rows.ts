import type { Row } from "./row.ts";
import { hasFeature } from "./rows/has-feature.ts";
import { ingest } from "./rows/ingest.ts";

export const rows: Row[] = [hasFeature, ingest];
