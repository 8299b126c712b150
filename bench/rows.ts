import type { Row } from "./row.ts";
import { csv } from "./rows/csv.ts";
import { growth } from "./rows/growth.ts";
import { hasFeature } from "./rows/has-feature.ts";
import { searchPage } from "./rows/search-page.ts";
import { transactionLookup } from "./rows/transaction-lookup.ts";

export const rows: Row[] = [hasFeature, transactionLookup, searchPage, growth, csv];
