import { complain, runCommand, say, UsageError } from "../../process/command.ts";
import { retry } from "../../process/retry.ts";
import { readSettings } from "../../process/settings.ts";
import { openSender } from "../queue/sender.ts";
import { settings } from "../settings.ts";
import { demoEvents, demoTransactions } from "./demo-events.ts";

const usage = `Usage: npm run demo

Sends the events of a few payments and an agreement to the queue of the ledger at LEDGER_PORT, out of order and with
duplicates. Waits until they are folded and prints requests to try. It is safe to run it again. If no ledger
responds, one is awaited for a minute.

  --help   print this text
`;

const startedWithinMs = 60_000;
const foldedWithinMs = 30_000;

await runCommand("demo", usage, async (args) => {
  if (args.length > 0) throw new UsageError("takes no arguments");
  const { HOST, LEDGER_PORT, QUEUE_URL } = readSettings(process.env, settings);
  const base = `http://${HOST.includes(":") ? `[${HOST}]` : HOST}:${LEDGER_PORT}`;
  await retry(() => get(`${base}/healthcheck`), {
    forMs: startedWithinMs,
    onFirst: ({ message }) => complain(`${message}; it is awaited for ${startedWithinMs / 1000} s`),
  });
  await using sender = await openSender(QUEUE_URL);
  const messages = demoEvents();
  await sender.send(messages.map((message) => JSON.stringify(message)));
  say(`sent ${messages.length} messages to ${sender.url}`);

  await retry(() => requireFolded(base), { forMs: foldedWithinMs });
  const events = await get(`${base}/v1/transaction/demo-success/event?gateway_account_id=demo`);
  const eventId = /"event_id":(\d+)/.exec(events)?.[1];
  say(`folded into ${demoTransactions.length} transactions, a payout and an agreement; try:\n`);
  for (const [description, path] of [
    ["all transactions", "/v1/transaction/?account_id=demo"],
    ["by reference", "/v1/transaction/?account_id=demo&reference=parking&display_size=2"],
    ["a payment with a partial refund", "/v1/transaction/demo-success?account_id=demo"],
    [
      "the same payment before it was captured",
      "/v1/transaction/demo-success?account_id=demo&as_of=2024-03-05T09:30:00Z",
    ],
    ["its refund", "/v1/transaction/demo-success/transaction?gateway_account_id=demo"],
    [
      "the events of both",
      "/v1/transaction/demo-success/event?gateway_account_id=demo&include_all_events=true",
    ],
    [
      "a payment by the provider's id",
      "/v1/transaction/gateway-transaction?gateway_transaction_id=gtx-1&payment_provider=sandbox",
    ],
    ["one event", `/v1/event/${eventId}`],
    ["a rejected payment", "/v1/transaction/demo-rejected?account_id=demo"],
    ["an expired payment", "/v1/transaction/demo-expired?account_id=demo"],
    ["a dispute", "/v1/transaction/demo-dispute?account_id=demo"],
    [
      "transactions settled on a day",
      "/v1/transaction/?account_id=demo&from_settled_date=2024-03-08&to_settled_date=2024-03-08",
    ],
    ["the number and the sums of all transactions", "/v1/report/transactions?account_id=demo"],
    ["the same for each day and state", "/v1/report/transactions?account_id=demo&group_by=day,state"],
    ["a payout, and whether it adds up", "/v1/payout/demo-payout?gateway_account_id=demo"],
    ["an agreement, with its card", "/v1/agreement/demo-agreement?account_id=demo"],
    ["its payments", "/v1/transaction/?account_id=demo&agreement_id=demo-agreement"],
    ["its events", "/v1/agreement/demo-agreement/event?account_id=demo"],
  ]) {
    say(`# ${description}\ncurl '${base}${path}'`);
  }
  say(
    `# all transactions as CSV\ncurl -H 'Accept: text/csv' '${base}/v1/transaction/?account_id=demo&fee_headers=true'`,
  );
});

async function requireFolded(base: string): Promise<void> {
  const found = JSON.parse(await get(`${base}/v1/transaction/?account_id=demo`)) as {
    results?: { transaction_id: string; state: { status: string } }[];
  };
  const states = new Map(found.results?.map(({ transaction_id, state }) => [transaction_id, state.status]));
  const agreement = JSON.parse(await get(`${base}/v1/agreement/demo-agreement?account_id=demo`));
  const isActive = agreement.status === "ACTIVE" && agreement.payment_instrument !== null;
  if (isActive && demoTransactions.every(({ id, status }) => states.get(id) === status)) return;
  throw new Error(
    `the ledger did not fold the events within ${foldedWithinMs / 1000} s; is its receiver on (QUEUE_RECEIVER_BACKGROUND_PROCESSING)?`,
  );
}

async function get(url: string): Promise<string> {
  const response = await fetch(url).catch(() => {
    throw new Error(`no ledger responds at ${new URL(url).origin} (npm start runs one)`);
  });
  return response.text();
}
