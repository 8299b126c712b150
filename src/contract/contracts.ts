import features from "../../generated/features.json" with { type: "json" };
import ledger from "../../generated/ledger.json" with { type: "json" };
import type { Contract } from "./operations.ts";

/** The contracts of the services. The compiler derives a type of its own from each file, so they are cast. */
export const featuresContract = features as unknown as Contract;
export const ledgerContract = ledger as unknown as Contract;

/** A schema, with the keywords that the services read. */
export interface Schema {
  $ref?: string;
  enum?: unknown[];
  oneOf?: { type: string }[];
  properties?: Record<string, Schema>;
  "x-personal-data"?: boolean;
}

/** The schemas of the ledger's contract by name. */
export const ledgerSchemas = ledger.components.schemas as unknown as Record<string, Schema>;

/** The schemas of the members of an event message. */
export const messageMembers = ledger.components.schemas.EventMessage.properties as Record<string, Schema>;
/** The schemas of the members of its details. */
export const detailsMembers = ledger.components.schemas.EventDetails.properties as Record<string, Schema>;
