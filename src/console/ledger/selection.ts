import { createContext } from "preact";
import { useContext } from "preact/hooks";
import { ResponseError } from "../../client/client.ts";
import { formatDay, isReportZone, ownZone } from "../format.ts";
import { fragmentOf, type Parameters, readFragment } from "../fragment.ts";
import { useSession } from "../session.ts";
import { listOf } from "./client.ts";
import { boundsOf, createdBetween, dayOf, type Period, periodOf } from "./periods.ts";

/** The parameters of the address that every link keeps. */
const names = ["account_id", "period", "live", "time_zone", "known_at"];

/** What every view shows a part of: whose transactions, of which time, in which zone, and of which money. */
export interface Selection {
  /** Empty for every account that the reader may see. */
  accounts: string[];
  /** The name or the text of the period; `any` for all time. */
  periodName: string;
  /** Undefined for all time, also if the text is not known. */
  period: Period | undefined;
  /** Whether money is real; undefined for both. */
  live: boolean | undefined;
  zone: string;
  /** The day or the position of which it shows what the ledger knew; undefined for now. */
  knownAt: string | undefined;
  /** The same in words. */
  known: string;
}

/** The selection of an address. What it does not have is as in `defaults`. */
export function readSelection(given: URLSearchParams, defaults: Parameters, now = new Date()): Selection {
  const of = (name: string) => given.get(name) ?? String(defaults[name] ?? "");
  const zone = knownZone(of("time_zone")) || ownZone();
  const periodName = of("period") || "any";
  const bounds = boundsOf(periodName, dayOf(now, zone));
  const knownAt = of("known_at") || undefined;
  return {
    accounts: listOf(of("account_id")),
    periodName,
    period: bounds && periodOf(bounds, zone, now),
    live: ["true", "false"].includes(of("live")) ? of("live") === "true" : undefined,
    zone,
    knownAt,
    known: knownText(knownAt),
  };
}

/** A day or a position of which the ledger can say what it knew, in words. */
export function knownText(text: string | undefined): string {
  if (text === undefined) return "now";
  const isDay = /^\d{4}-\d\d-\d\d$/.test(text) && !Number.isNaN(Date.parse(text));
  return isDay ? `at the end of ${formatDay(text)}` : "at a position";
}

/** The name of a zone as reports accept it; empty if it is none. */
function knownZone(zone: string): string {
  try {
    const { timeZone } = new Intl.DateTimeFormat("en", { timeZone: zone }).resolvedOptions();
    return zone !== "" && isReportZone(timeZone) ? timeZone : "";
  } catch {
    return "";
  }
}

export const SelectionContext = createContext(undefined as unknown as Selection);
export const useSelection = (): Selection => useContext(SelectionContext);

/** The parameters of the current address that every link keeps. */
export function keptParameters(): Parameters {
  const { parameters } = readFragment(location.hash);
  return Object.fromEntries(names.map((name) => [name, parameters.get(name) ?? undefined]));
}

/** The fragment of another place with the same selection. */
export const linkTo = (path: string[], parameters: Parameters = {}): string =>
  fragmentOf(path, { ...keptParameters(), ...parameters });

/** The selection as parameters of an address, also what is a default of the view. */
export const parametersOf = ({ accounts, periodName, live }: Selection): Parameters => ({
  account_id: accounts,
  period: periodName,
  live: live === undefined ? "any" : String(live),
});

export type Accounts = { account_id: string[] } | { override_account_id_restriction: true };

/** The accounts of a request: those of the selection, else those of the token, else every account. */
export function useAccounts(): Accounts {
  const { accounts: ofToken } = useSession();
  const { accounts: selected } = useSelection();
  const accounts = selected.length > 0 ? selected : ofToken;
  return accounts
    ? { account_id: accounts.slice(0, accountsMax) }
    : { override_account_id_restriction: true };
}

/** The most accounts that a request can name. */
const accountsMax = 1000;

type OneAccount = { account_id: string } | { override_account_id_restriction: true };

/**
 * A function that reads one thing, such as a transaction, of the account in its address. Without one, it is looked for in
 * each of the accounts, since a request can name one of them only.
 */
export function useReadOne(account: string | null) {
  const accounts = useAccounts();
  return <Value>(read: (account: OneAccount) => Promise<Value>): Promise<Value> => {
    if (account !== null) return read({ account_id: account });
    if (!("account_id" in accounts)) return read(accounts);
    const [first = "", ...others] = accounts.account_id.slice(0, lookedForMax);
    return others.reduce(
      (found, account_id) =>
        found.catch((error) => {
          if (error instanceof ResponseError && error.status === 404) return read({ account_id });
          throw error;
        }),
      read({ account_id: first }),
    );
  };
}

/** The accounts in which a thing is looked for. Each costs a request. */
const lookedForMax = 20;

/** The filters of a search or a report of transactions by the selection. */
export function useFilters() {
  const { period, live, knownAt: known_at } = useSelection();
  return { ...useAccounts(), ...(period && createdBetween(period.from, period.to)), live, known_at };
}
