import { setTimeout as wait } from "node:timers/promises";
import { runCommand, say, UsageFault } from "../../process/command.ts";
import { readSettings } from "../../process/settings.ts";
import { openSender } from "../queue/sender.ts";
import { settings } from "../settings.ts";
import { demoEvents, demoTransactions } from "./demo-events.ts";

const usage = `Usage: npm run demo

Sends the events of a few payments to the queue of a running ledger, out of order and some of them twice,
waits until they are folded, and prints requests to try. Running it again changes nothing.

  --help   print this text
`;

const visibleWithinMs = 30_000;

await runCommand("demo", usage, async (args) => {
  if (args.length > 0) throw new UsageFault("takes no arguments");
  const { HOST, LEDGER_PORT, QUEUE_URL } = readSettings(process.env, settings);
  const base = `http://${HOST.includes(":") ? `[${HOST}]` : HOST}:${LEDGER_PORT}`;
  await using sender = await openSender(QUEUE_URL);
  const messages = demoEvents();
  await sender.send(messages.map((message) => JSON.stringify(message)));
  say(`sent ${messages.length} messages to ${sender.url}`);

  await visible(base);
  const events = await ask(`${base}/v1/transaction/demo-success/event?gateway_account_id=demo`);
  const eventId = /"event_id":(\d+)/.exec(events)?.[1];
  say(`they are folded into ${demoTransactions.length} transactions; try:\n`);
  for (const [what, path] of [
    ["all of them", "/v1/transaction/?account_id=demo"],
    ["by reference", "/v1/transaction/?account_id=demo&reference=parking&display_size=2"],
    ["a payment that was partly refunded", "/v1/transaction/demo-success?account_id=demo"],
    [
      "the same, as it was before it was captured",
      "/v1/transaction/demo-success?account_id=demo&as_of=2024-03-05T09:30:00Z",
    ],
    ["its refund", "/v1/transaction/demo-success/transaction?gateway_account_id=demo"],
    [
      "what happened to both",
      "/v1/transaction/demo-success/event?gateway_account_id=demo&include_all_events=true",
    ],
    [
      "the payment with a provider's id",
      "/v1/transaction/gateway-transaction?gateway_transaction_id=gtx-1&payment_provider=sandbox",
    ],
    ["one event", `/v1/event/${eventId}`],
    ["a payment that was rejected", "/v1/transaction/demo-rejected?account_id=demo"],
    ["one that expired", "/v1/transaction/demo-expired?account_id=demo"],
    ["a dispute", "/v1/transaction/demo-dispute?account_id=demo"],
    [
      "what was settled on a day",
      "/v1/transaction/?account_id=demo&from_settled_date=2024-03-08&to_settled_date=2024-03-08",
    ],
  ]) {
    say(`# ${what}\ncurl '${base}${path}'`);
  }
  say(
    `# all of them as a table\ncurl -H 'Accept: text/csv' '${base}/v1/transaction/?account_id=demo&fee_headers=true'`,
  );
});

async function visible(base: string): Promise<void> {
  const deadline = Date.now() + visibleWithinMs;
  while (Date.now() < deadline) {
    const found = JSON.parse(await ask(`${base}/v1/transaction/?account_id=demo`)) as {
      results?: { transaction_id: string; state: { status: string } }[];
    };
    const states = new Map(found.results?.map(({ transaction_id, state }) => [transaction_id, state.status]));
    if (demoTransactions.every(({ id, status }) => states.get(id) === status)) return;
    await wait(100);
  }
  throw new Error(
    `the ledger did not fold them within ${visibleWithinMs / 1000} s; is its receiver on (QUEUE_RECEIVER_BACKGROUND_PROCESSING)?`,
  );
}

async function ask(url: string): Promise<string> {
  const reply = await fetch(url).catch(() => {
    throw new Error(`no ledger answers at ${new URL(url).origin}; is it running (npm start)?`);
  });
  return reply.text();
}
