import assert from "node:assert/strict";
// Outside this repository, import "payment-ledger-services-client".
import { featuresClient, ledgerClient, NotFoundError } from "../../src/client/client.ts";
import { customer, message } from "../requests.ts";

const [ledgerUrl = "", featuresUrl = ""] = process.argv.slice(2);
const print = (...values: unknown[]) => process.stdout.write(`${values.join(" ")}\n`);

const ledger = ledgerClient({ baseUrl: ledgerUrl, timeoutMs: 5000 });
const payment = await ledger.getTransaction({ transactionExternalId: "demo-success", account_id: "demo" });
assert.deepEqual([payment.amount, payment.state.status], [4250, "success"]);
print("payment", payment.transaction_id, payment.amount, payment.state.status);

await assert.rejects(
  ledger.getTransaction({ transactionExternalId: "demo-missing", account_id: "demo" }),
  (error) => error instanceof NotFoundError && error.problem?.status === 404,
);

const states = ["success" as const, "declined" as const];
const search = ledger.eachTransaction({ account_id: ["demo"], payment_states: states, display_size: 1 });
const found = (await Array.fromAsync(search)).map(({ transaction_id }) => transaction_id);
assert.equal(found.length, 3);
print("found", ...found);

const { events } = await ledger.addEvents({ body: message });
const event_id = events[0]?.event_id;
assert(typeof event_id === "bigint");
assert.deepEqual(events, [{ event_id, is_new: true }]);
const again = await ledger.addEvents({ body: [message] });
assert.deepEqual(again, { events: [{ event_id, is_new: false }] });
print("added", message.resource_external_id, "with event", event_id);

const features = featuresClient({ baseUrl: featuresUrl });
const trial = `../trial ${customer.id}`;
for (const feature of ["dark-mode", trial]) await features.addFeature({ ...customer, feature });
const listed = await features.listFeatures(customer);
assert.deepEqual(listed, ["dark-mode", trial]);
print("features", ...listed);

await features.removeFeature({ ...customer, feature: "dark-mode" });
const withTrial = await Array.fromAsync(features.eachResource({ resource: "customer", feature: trial }));
assert.deepEqual(withTrial, [customer.id]);
print("customers with the feature", ...withTrial);
