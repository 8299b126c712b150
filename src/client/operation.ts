/** What the client knows of an operation. Codegen derives it from the contract, without what is usual, to keep bundles small. */
export interface ClientOperation {
  operationId: string;
  method: "GET" | "PUT" | "POST" | "DELETE" | "QUERY";
  /** The path in the contract, for example `/v1/event/{eventId}`. */
  path: string;
  parameters: ClientParameter[];
  hasBody?: true;
  /** False if a repetition can have a further effect: a POST without `x-idempotent` in the contract. */
  isIdempotent?: false;
  /** The successful responses, by status. */
  successes: Record<string, ClientContent>;
}

export interface ClientParameter {
  name: string;
  /** Default: the query. */
  in?: "path" | "header";
  /** True if a list is one value, joined by commas. Otherwise the parameter is repeated. */
  isJoined?: true;
}

export interface ClientContent {
  type: "json" | "text" | "none";
  /** The places of integers that are always a bigint. Each is a list of member names, in which `*` means every item. */
  bigints: string[][];
}
