import { type LedgerClient, type LedgerComponents, ledgerClient } from "../../client/client.ts";
import { type Session, serviceUrl } from "../session.ts";

type Schemas = LedgerComponents["schemas"];
export type Transaction = Schemas["TransactionView"];
export type TransactionEvent = Schemas["TransactionEvent"];
export type Status = Schemas["Status"];
export type Payout = Schemas["PayoutDetail"];
export type Search = NonNullable<Parameters<LedgerClient["searchTransactions"]>[0]>;

/** Any of these lets a token read transactions. */
export const readScopes = ["ledger:read", "ledger:read:all"];

/** The client of the service that serves this page. */
export const clientFor = ({ token }: Session): LedgerClient =>
  ledgerClient({ baseUrl: serviceUrl(), ...(token !== undefined && { token }) });

/** The accounts of a request: those that are given, else those of the token, else every account. */
export function accountsOf(
  given: string | null,
  { accounts }: Session,
): { account_id: string[] } | { override_account_id_restriction: true } {
  const named = listOf(given);
  if (named.length > 0) return { account_id: named };
  return accounts
    ? { account_id: accounts.slice(0, accountsMax) }
    : { override_account_id_restriction: true };
}

/** The most accounts that a request can name. */
const accountsMax = 1000;

/** The items of a list that is joined by commas. */
export const listOf = (text: string | null): string[] =>
  (text ?? "")
    .split(",")
    .map((item) => item.trim())
    .filter(Boolean);

export const paymentStatuses = [
  "created",
  "started",
  "submitted",
  "capturable",
  "success",
  "declined",
  "timedout",
  "cancelled",
  "error",
  "undefined",
] as const satisfies Status[];
export const refundStatuses = ["submitted", "success", "error"] as const satisfies Status[];
export const disputeStatuses = ["needs_response", "under_review", "won", "lost"] as const satisfies Status[];

/** The cursor in a link to the next page, if there is one. */
export function cursorIn(links: { next_cursor?: { href: string } } | undefined): string | undefined {
  const href = links?.next_cursor?.href;
  return (href && new URL(href).searchParams.get("cursor")) || undefined;
}
