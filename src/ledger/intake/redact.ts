import type { Database } from "../../database/database.ts";
import { notRedacted } from "../tables/redaction.ts";
import { ingest } from "./ingest.ts";

/**
 * Erases the personal data of resources, and of those that belong to them: the refunds and disputes of a payment, and the
 * instruments of an agreement. It is safe to repeat and safe while receivers run. Returns the number of redacted resources.
 */
export async function redact(database: Database, ids: string[], keepsMetadata: boolean): Promise<number> {
  let count = 0;
  // Once a payment is redacted, its later refunds are redacted when they arrive. Others can have arrived before.
  for (;;) {
    const left = await notRedacted(database, ids, keepsMetadata);
    if (left.length === 0) return count;
    await ingest(database, { events: [], rebuilds: left, deadLetters: [], redaction: { keepsMetadata } });
    count += left.length;
  }
}
