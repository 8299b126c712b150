import { openSender } from "../../src/ledger/queue/sender.ts";
import { settings } from "../../src/ledger/settings.ts";
import { complain, say } from "../../src/process/command.ts";
import { readSettings } from "../../src/process/settings.ts";
import { retry } from "../../src/waiting/retry.ts";
import { demoEvents, demoTransactions } from "./demo-events.ts";
import { shopAccounts, shopEvents } from "./shop-events.ts";

const startedWithinMs = 60_000;
const foldedWithinMs = 120_000;

/** Sends the events of the demonstration to the queue of the ledger, and waits until they are folded. */
export async function fillLedger(): Promise<void> {
  const { HOST, LEDGER_PORT, QUEUE_URL } = readSettings(process.env, settings);
  const base = `http://${HOST.includes(":") ? `[${HOST}]` : HOST}:${LEDGER_PORT}`;
  await retry(() => get(`${base}/healthcheck`), {
    forMs: startedWithinMs,
    onRetry: ({ message }, isFirst) =>
      isFirst && complain(`${message}; it is awaited for ${startedWithinMs / 1000} s`),
  });
  await using sender = await openSender(QUEUE_URL);
  const shop = shopEvents(new Date());
  const messages = [...demoEvents(), ...shop].map((message) => JSON.stringify(message));
  // Each run would add them again.
  const isFirst = !(await hasDeadLetters(base));
  if (isFirst) messages.push(...invalidMessages);
  await sender.send(messages);
  say(`sent ${messages.length} messages to ${sender.url}`);
  if (isFirst) {
    const count = invalidMessages.length;
    say(
      `${count} of them are meant to become dead letters: the ledger warns of them, and its console shows them`,
    );
  }

  const payments = new Set(shop.filter(isPayment).map(({ resource_external_id }) => resource_external_id));
  await retry(() => requireFolded(base, payments.size), { forMs: foldedWithinMs });
  const folded = `${demoTransactions.length} transactions, a payout and an agreement`;
  say(`folded into ${folded}, and ${payments.size} payments of a shop; try:\n`);
  const events = await get(`${base}/v1/event?account_id=demo&limit=1`);
  const requests = { ...requestsToTry, "one event": `/v1/event/${/"event_id":(\d+)/.exec(events)?.[1]}` };
  for (const [description, path] of Object.entries(requests)) say(`# ${description}\ncurl '${base}${path}'`);
  const csv = "/v1/transaction/?account_id=demo&fee_headers=true";
  say(`# all transactions as CSV\ncurl -H 'Accept: text/csv' '${base}${csv}'`);
  say(`\nthe console of the ledger is ${base}/console`);
}

const transaction = "/v1/transaction";
const ofDemo = "account_id=demo";
const requestsToTry = {
  "all transactions": `${transaction}/?${ofDemo}`,
  "by reference": `${transaction}/?${ofDemo}&reference=parking&display_size=2`,
  "a payment with a partial refund": `${transaction}/demo-success?${ofDemo}`,
  "the same payment before it was captured": `${transaction}/demo-success?${ofDemo}&as_of=2024-03-05T09:30:00Z`,
  "its refund": `${transaction}/demo-success/transaction?gateway_account_id=demo`,
  "the events of both": `${transaction}/demo-success/event?gateway_account_id=demo&include_all_events=true`,
  "a payment by the provider's id": `${transaction}/gateway-transaction?gateway_transaction_id=gtx-1&payment_provider=sandbox`,
  "a rejected payment": `${transaction}/demo-rejected?${ofDemo}`,
  "an expired payment": `${transaction}/demo-expired?${ofDemo}`,
  "a dispute": `${transaction}/demo-dispute?${ofDemo}`,
  "transactions settled on a day": `${transaction}/?${ofDemo}&from_settled_date=2024-03-08&to_settled_date=2024-03-08`,
  "the number and the sums of all transactions": `/v1/report/transactions?${ofDemo}`,
  "the same for each day and state": `/v1/report/transactions?${ofDemo}&group_by=day,state`,
  "a payout, and whether it adds up": "/v1/payout/demo-payout?gateway_account_id=demo",
  "an agreement, with its card": `/v1/agreement/demo-agreement?${ofDemo}`,
  "its payments": `${transaction}/?${ofDemo}&agreement_id=demo-agreement`,
  "its events": `/v1/agreement/demo-agreement/event?${ofDemo}`,
  "the payments of a shop by day and state": `/v1/report/transactions?account_id=${shopAccounts}&group_by=day,state`,
};

const isPayment = ({ resource_type }: { resource_type: string }) => resource_type === "payment";

/** Messages that can never be stored. */
const invalidMessages = [
  {
    resource_external_id: "demo-without-type",
    event_details: { gateway_account_id: "demo", amount: 700, email: "angler@example.org" },
  },
  {
    ...{ event_type: "PAYMENT_CREATED", resource_external_id: "demo-without-amount" },
    event_details: { gateway_account_id: "demo", amount: "seven pounds" },
  },
].map((message) =>
  JSON.stringify({ resource_type: "payment", timestamp: "2024-03-09T10:00:00.000000Z", ...message }),
);

async function hasDeadLetters(base: string): Promise<boolean> {
  return JSON.parse(await get(`${base}/v1/intake`)).open_dead_letters > 0;
}

async function requireFolded(base: string, shopPayments: number): Promise<void> {
  const read = async (path: string) => JSON.parse(await get(base + path));
  const { results = [] } = await read(requestsToTry["all transactions"]);
  const isComplete = demoTransactions.every(({ id, status }) =>
    results.some((one: Found) => one.transaction_id === id && one.state.status === status),
  );
  const agreement = await read(requestsToTry["an agreement, with its card"]);
  const isActive = agreement.status === "ACTIVE" && agreement.payment_instrument !== null;
  const { groups } = await read(
    `/v1/report/transactions?account_id=${shopAccounts}&transaction_type=PAYMENT`,
  );
  const isShopComplete = (groups?.[0]?.count ?? 0) >= shopPayments;
  if (isActive && isShopComplete && isComplete) return;
  throw new Error(
    `the ledger did not fold the events within ${foldedWithinMs / 1000} s; is its receiver on (QUEUE_RECEIVER_BACKGROUND_PROCESSING)?`,
  );
}

type Found = { transaction_id: string; state: { status: string } };

async function get(url: string): Promise<string> {
  const response = await fetch(url).catch(() => {
    throw new Error(`no ledger responds at ${new URL(url).origin} (npm start runs one)`);
  });
  return response.text();
}
