import { setTimeout as sleep } from "node:timers/promises";
import { feedViolation, linesOf } from "../../testing/delivery-check.ts";
import { linkIn } from "../../testing/link-header.ts";
import type { Random } from "../../testing/random.ts";
import type { CheckingClient } from "../client.ts";
import { Violation } from "../violation.ts";
import { accountNamedBy, eventKey, type LedgerEvent } from "./messages.ts";

type FeedEvent = LedgerEvent & { cursor: string; event_id: number; gateway_account_id: string | null };

interface FeedPage {
  events: FeedEvent[];
  /** Default: that before the page. */
  next_cursor?: string;
  has_more: boolean;
}

type FeedReader = ReturnType<typeof openFeedReader>;

const pauseMs = 50;

/** Follows the feed of events, of one account or of all, in pages of different sizes and both forms. */
export function openFeedReader(client: CheckingClient, random: Random, account?: string) {
  /** The events that it has read, in order. */
  const events: FeedEvent[] = [];
  let cursor: string | undefined;

  /** Resolves with false at the end of the feed. Without a response, the next page begins at the same cursor. */
  async function readPage(): Promise<boolean> {
    const query = new URLSearchParams({
      limit: String(random.integer(1, 200)),
      ...(account && { account_id: account }),
      ...(cursor && { cursor }),
    });
    const accept = random.chance(0.5) ? "application/x-ndjson" : "application/json";
    const { status, headers, text } = await client.send({ path: `/v1/event?${query}`, accept }, [200]);
    if (status !== 200) return true;
    const page: FeedPage =
      accept === "application/json" ? JSON.parse(text) : pageOfLines(text, linkIn(headers));
    events.push(...page.events);
    cursor = page.next_cursor ?? cursor;
    return page.has_more;
  }

  return {
    account,
    events,
    async readUntil(end: AbortSignal) {
      while (!end.aborted) {
        await readPage().catch((error) => {
          if (error instanceof Violation) throw error;
        });
        await sleep(random.integer(0, pauseMs));
      }
    },
    /** Reads until the feed has no more events. */
    async readRest() {
      while (await readPage());
    },
  };
}

/** A page in lines. Throws a violation unless they conform to the contract. */
function pageOfLines(text: string, next: string | undefined): FeedPage {
  const violation = feedViolation("application/x-ndjson", text);
  if (violation) throw new Violation(`the feed has lines that violate the contract: ${violation}: ${text}`);
  const events: FeedEvent[] = linesOf(text).map((line) => JSON.parse(line));
  const next_cursor = (next && new URL(next).searchParams.get("cursor")) || events.at(-1)?.cursor;
  return { events, ...(next_cursor && { next_cursor }), has_more: next !== undefined };
}

/** A transaction that nobody needs any more, such as one of a killed process, can hold back the feed for this long. */
const heldBackMaxMs = 30_000;

/** Reads all feeds to their ends. Throws a violation unless they have what was stored; see `violationOf`. */
export async function verifyFeeds(readers: FeedReader[], stored: LedgerEvent[]): Promise<void> {
  const giveUpAt = Date.now() + heldBackMaxMs;
  for (;;) {
    for (const reader of readers) await reader.readRest();
    const violation = violationOf(readers, stored);
    if (violation === undefined) return;
    if (Date.now() > giveUpAt) throw new Violation(violation);
    await sleep(500);
  }
}

/**
 * The violation unless each reader has read all that was stored, each event once, and all readers of the same account in the
 * same order. An event that names no account belongs to that of its resource, and that of a payment instrument is the one
 * of its agreement. If they have named several, it belongs to any of these.
 */
function violationOf(readers: FeedReader[], stored: LedgerEvent[]): string | undefined {
  const storedKeys = new Set(stored.map(eventKey));
  const ownersOf = openOwners(stored);
  const orders = new Map<string | undefined, string>();
  for (const { account, events } of readers) {
    const name = account === undefined ? "the feed" : `the feed of account ${account}`;
    const read = new Set(events.map(eventKey));
    if (read.size < events.length) return `${name} has an event twice`;
    const unknown = [...read].find((key) => !storedKeys.has(key));
    if (unknown) return `${name} has ${unknown}, which was not accepted`;
    for (const event of stored) {
      const owners = ownersOf(event);
      const mustHave = account === undefined || (owners.size === 1 && owners.has(account));
      const mayHave = account === undefined || owners.has(account);
      const isRead = read.has(eventKey(event));
      if (mustHave && !isRead) return `${name} lacks ${eventKey(event)}`;
      if (isRead && !mayHave) return `${name} has ${eventKey(event)} of another account`;
    }
    const order = JSON.stringify(events.map(({ event_id }) => event_id));
    if ((orders.get(account) ?? order) !== order) return `${name} has another order for another reader`;
    orders.set(account, order);
  }
  return undefined;
}

export const keyOf = (type: string, id: string) => JSON.stringify([type, id]);
const textOf = (value: unknown) => (value === undefined || value === null ? undefined : String(value));

/** The values that a function reads from the events of each resource, each once, in order. */
export function valuesByResource(
  events: LedgerEvent[],
  read: (event: LedgerEvent) => string | undefined,
): Map<string, Set<string>> {
  const values = new Map<string, Set<string>>();
  for (const event of events) {
    const value = read(event);
    if (value === undefined) continue;
    const key = keyOf(event.resource_type, event.resource_external_id);
    values.set(key, (values.get(key) ?? new Set()).add(value));
  }
  return values;
}

const none: ReadonlySet<string> = new Set();
const typesWithAccount = ["payment", "refund", "dispute", "payout", "agreement"];

/** Finds the accounts in one of whose feeds an event is. */
function openOwners(events: LedgerEvent[]): (event: LedgerEvent) => ReadonlySet<string> {
  const accounts = valuesByResource(events, accountNamedBy);
  const agreements = valuesByResource(events, ({ resource_type, event_details }) =>
    resource_type === "payment_instrument" ? textOf(event_details.agreement_external_id) : undefined,
  );
  return (event) => {
    const { resource_type: type, resource_external_id: id } = event;
    const named = accountNamedBy(event);
    if (named !== undefined) return new Set([named]);
    if (typesWithAccount.includes(type)) return accounts.get(keyOf(type, id)) ?? none;
    if (type !== "payment_instrument") return none;
    const ids = [...(agreements.get(keyOf(type, id)) ?? none)];
    return new Set(ids.flatMap((agreement) => [...(accounts.get(keyOf("agreement", agreement)) ?? none)]));
  };
}
