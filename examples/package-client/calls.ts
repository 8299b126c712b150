import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
// Outside this repository, import "payment-ledger-services-client".
import { featuresClient, ledgerClient, ResponseError } from "../../src/client/client.ts";

const [ledgerUrl = "", featuresUrl = ""] = process.argv.slice(2);
const print = (...values: unknown[]) => process.stdout.write(`${values.join(" ")}\n`);

const ledger = ledgerClient({ baseUrl: ledgerUrl, timeoutMs: 5000 });

const payment = await ledger.getTransaction({ transactionExternalId: "demo-success", account_id: "demo" });
assert.deepEqual([payment.amount, payment.state.status], [4250, "success"]);
print("payment", payment.transaction_id, payment.amount, payment.state.status);

await assert.rejects(
  ledger.getTransaction({ transactionExternalId: "demo-missing", account_id: "demo" }),
  (error) => error instanceof ResponseError && error.problem?.status === 404,
);

const found: string[] = [];
const search = {
  account_id: ["demo"],
  payment_states: ["success" as const, "declined" as const],
  display_size: 1,
};
for await (const { transaction_id } of ledger.eachTransaction(search)) found.push(transaction_id);
assert.equal(found.length, 3);
print("found", ...found);

const agreement = await ledger.getAgreement({
  agreementExternalId: "demo-agreement",
  account_id: "demo",
  "X-Consistent": true,
});
assert.deepEqual([agreement.status, agreement.cancelled_date], ["ACTIVE", null]);
assert.equal(agreement.payment_instrument?.card_details?.card_brand, "visa");

const { results } = await ledger.searchAgreements({ account_id: ["demo", "other"] });
const agreements = results.map(({ external_id }) => external_id);
assert.deepEqual(agreements, ["demo-agreement"]);
print("agreements", ...agreements);

const { events } = await ledger.listAgreementEvents({
  agreementExternalId: "demo-agreement",
  account_id: "demo",
});
assert.deepEqual([events.length, events[1]?.resource_type], [4, "PAYMENT_INSTRUMENT"]);

const message = {
  event_type: "PAYMENT_CREATED",
  resource_type: "payment" as const,
  resource_external_id: randomUUID(),
  timestamp: "2024-03-05T09:14:22Z",
  event_details: { gateway_account_id: "added", amount: 4250 },
};
const one = await ledger.addEvents(
  { body: message },
  { onResponse: ({ status }) => assert.equal(status, 202) },
);
const event_id = one.events[0]?.event_id;
assert(typeof event_id === "bigint");
assert.deepEqual(one, { events: [{ event_id, is_new: true }] });

const added = await ledger.getTransaction({
  transactionExternalId: message.resource_external_id,
  account_id: "added",
});
assert.equal(added.amount, 4250);

const again = await ledger.addEvents({ body: [message] });
assert.deepEqual(again, { events: [{ event_id, is_new: false }] });
print("added", added.transaction_id, "with event", event_id);

const features = featuresClient({ baseUrl: featuresUrl });
const customer = { resource: "customer", id: randomUUID() };
const trial = `../trial ${customer.id}`;
for (const feature of ["dark-mode", trial]) await features.addFeature({ ...customer, feature });
const listed = await features.listFeatures(customer);
assert.deepEqual(listed, ["dark-mode", trial]);
print("features", ...listed);

await features.removeFeature({ ...customer, feature: "dark-mode" });
const withTrial = await Array.fromAsync(features.eachResource({ resource: "customer", feature: trial }));
assert.deepEqual(withTrial, [customer.id]);
print("customers with the feature", ...withTrial);
