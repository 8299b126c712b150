import type { Identity } from "./identity.ts";

/** An access of a caller with a valid token. */
export interface Access extends Identity {
  service: string;
  operation: string;
  /** The accounts that the request names, up to 20. */
  gateway_account_ids: string[];
  /** The resources in the request and the response, up to 20. */
  resource_ids: string[];
  /** The number of all of them; null if it is unknown. */
  resource_count: number | null;
  status: number;
  request_id: string;
  reason: string | null;
}

/** Where accesses are recorded. */
export interface AccessLog {
  /** Calls back when the record outlives the process, or with the error by which there is none. */
  record(access: Access, done: (error?: unknown) => void): void;
}
