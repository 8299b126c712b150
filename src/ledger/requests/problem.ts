import { STATUS_CODES } from "../../http/node-http.ts";

/** An error as a `Problem` of the contract: RFC 9457 with two more members, for clients of alphagov/pay-ledger. */
export function problem<Status extends number>(status: Status, messages: string[]) {
  return {
    status,
    type: "application/problem+json" as const,
    body: {
      type: "about:blank" as const,
      title: STATUS_CODES[status] ?? "Error",
      status,
      detail: messages.join("; "),
      error_identifier: "GENERIC" as const,
      message: messages,
    },
  };
}

export const accountMissing = problem(400, ["Field [account_id] cannot be empty"]);
export const unknownCursor = problem(400, ["query parameter cursor must be from a header Link"]);
export const pageMissing = problem(404, ["the requested page not found"]);
