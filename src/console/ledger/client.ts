import { type LedgerClient, type LedgerComponents, ledgerClient } from "../../client/client.ts";
import { useServiceClient } from "../session.ts";

type Schemas = LedgerComponents["schemas"];
export type Transaction = Schemas["TransactionView"];
export type TransactionEvent = Schemas["TransactionEvent"];
export type Payout = Schemas["PayoutDetail"];
export type Agreement = Schemas["Agreement"];
export type ReportGroup = Schemas["TransactionGroup"];
export type IntakeReport = Schemas["IntakeReport"];
export type Search = NonNullable<Parameters<LedgerClient["searchTransactions"]>[0]>;
export type Report = NonNullable<Parameters<LedgerClient["getTransactionReport"]>[0]>;

/** Any of these lets a token read transactions. */
export const readScopes = ["ledger:read", "ledger:read:all"];

export const useClient = (): LedgerClient => useServiceClient(ledgerClient);

/** The items of a list that is joined by commas. */
export const listOf = (text: string | null): string[] =>
  (text ?? "")
    .split(",")
    .map((item) => item.trim())
    .filter(Boolean);

/** The cursor in a link to the next page, if there is one. */
export function cursorIn(links: { next_cursor?: { href: string } } | undefined): string | undefined {
  const href = links?.next_cursor?.href;
  return (href && new URL(href).searchParams.get("cursor")) || undefined;
}
