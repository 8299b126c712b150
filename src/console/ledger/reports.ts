import type { LedgerClient } from "../../client/client.ts";
import { cursorIn, type Report, type ReportGroup } from "./client.ts";

/** The most groups that are read: 20 pages. A chart has fewer. */
const groupsMax = 10_000;

/** All groups of a report, and the position of which all of them are. */
export async function readReport(client: LedgerClient, report: Report, signal: AbortSignal) {
  const groups: ReportGroup[] = [];
  let { known_at } = report;
  let cursor: string | undefined;
  do {
    const page = await client.getTransactionReport({ ...report, known_at, cursor }, { signal });
    groups.push(...page.groups);
    known_at = page.position;
    cursor = cursorIn(page._links);
  } while (cursor !== undefined && groups.length < groupsMax);
  return { groups, position: known_at };
}

/** The figures of a period, in minor units. Only what succeeded is money. */
export interface Figures {
  received: bigint;
  refunded: bigint;
  /** Of successful payments. */
  fees: bigint;
  /** What disputes cost; 0 or less. */
  disputes: bigint;
  /** What is left. */
  net: bigint;
}

/** The amounts of all transactions, whatever their state. */
export const amountOf = (groups: ReportGroup[]): bigint =>
  groups.reduce((sum, { gross_amount }) => sum + BigInt(gross_amount), 0n);

/** The figures of groups by type and state. */
export function figuresOf(groups: ReportGroup[]): Figures {
  const sum = (type: string, states: string[], of: (group: ReportGroup) => bigint | number) =>
    groups
      .filter((group) => group.type === type && states.includes(group.state ?? ""))
      .reduce((total, group) => total + BigInt(of(group)), 0n);
  const received = sum("PAYMENT", ["success"], ({ gross_amount }) => gross_amount);
  const refunded = sum("REFUND", ["success"], ({ gross_amount }) => gross_amount);
  const fees = sum("PAYMENT", ["success"], ({ fee }) => fee);
  const disputes = sum("DISPUTE", ["won", "lost"], ({ net_amount }) => net_amount);
  return { received, refunded, fees, disputes, net: received - refunded - fees + disputes };
}
