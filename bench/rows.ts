import type { Row } from "./row.ts";
import { hasFeature } from "./rows/has-feature.ts";

export const rows: Row[] = [hasFeature];
