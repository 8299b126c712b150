import { Field } from "../form.tsx";
import { useSession } from "../session.ts";
import { listOf } from "./client.ts";

export type Accounts = { account_id: string[] } | { override_account_id_restriction: true };

/** The accounts in the address bar, if it has some. */
export interface AccountsProps {
  account: string | null;
}

/** The accounts of a request: those that are given, else those of the token, else every account. */
export function useAccounts(given: string | null): Accounts {
  const { accounts } = useSession();
  const named = listOf(given);
  if (named.length > 0) return { account_id: named };
  return accounts
    ? { account_id: accounts.slice(0, accountsMax) }
    : { override_account_id_restriction: true };
}

/** The most accounts that a request can name. */
const accountsMax = 1000;

/** The field for accounts, which says whose transactions are found without one. */
export function AccountsField({ account, maxLength }: AccountsProps & { maxLength?: number }) {
  const placeholder = useSession().accounts ? "All of the token" : "All";
  return (
    <Field
      label="Accounts"
      name="account_id"
      defaultValue={account ?? ""}
      placeholder={placeholder}
      maxLength={maxLength}
    />
  );
}
