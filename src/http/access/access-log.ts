import type { Identity } from "./identity.ts";

/** An access of a caller with a valid token. */
export interface Access extends Identity {
  service: string;
  operation: string;
  /** The accounts that the request names, up to 20. */
  accounts: string[];
  /** The resources in the request and the response, up to 20. */
  resourceIds: string[];
  /** The number of all of them; null if it is unknown. */
  resourceCount: number | null;
  status: number;
  requestId: string;
  reason: string | null;
}

/** Where accesses are recorded. */
export interface AccessLog {
  /** Resolves when the record outlives the process. */
  record(access: Access): Promise<void>;
}
