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
  /** Resolves when the record is durable. */
  record(access: Access): Promise<void>;
  /** Opens a log that is opened later. */
  open?(log: AccessLog): void;
}

/** The log of a process, which one of its services opens. Before that it rejects every record. */
export function openLater(): AccessLog {
  let opened: AccessLog | undefined;
  return {
    open(log: AccessLog): void {
      opened = log;
    },
    async record(access: Access): Promise<void> {
      if (!opened) throw new Error("the records of accesses are not open yet");
      await opened.record(access);
    },
  };
}
