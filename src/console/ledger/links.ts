import { linkTo } from "./selection.ts";

type Account = string | null | undefined;

/** The place of a thing has its account, since its id is unique within that only. */
const linkToThing = (kind: string, id: string, account: Account, as_of?: string): string =>
  linkTo([kind, id], { gateway_account_id: account ?? undefined, as_of });

/** The place of a transaction, perhaps as of an earlier instant. */
export const transactionLink = (id: string, account: Account, as_of?: string): string =>
  linkToThing("transactions", id, account, as_of);

export const payoutLink = (id: string, account: Account): string => linkToThing("payouts", id, account);

export const agreementLink = (id: string, account: Account): string => linkToThing("agreements", id, account);
