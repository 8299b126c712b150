import type { Sql } from "../../database/database.ts";
import { shared } from "../../waiting/shared.ts";
import { withTimeout } from "../../waiting/with-timeout.ts";
import { type PublicationState, publicationStates } from "../tables/feed/publication.ts";
import { readMaxMs } from "./backlog.ts";

/** The states of the targets of published events. Requests at the same time share one read. Rejects after two seconds. */
export type Publications = () => Promise<PublicationState[]>;

export function openPublications(sql: Sql, targets: string[]): Publications {
  const read = shared(() => publicationStates(sql, targets));
  return () => withTimeout(read(), readMaxMs, new Error("timeout"));
}
