import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import * as features from "./features";
import * as ledger from "./ledger";

const [ledgerUrl = "", featuresUrl = ""] = process.argv.slice(2);

async function callLedger() {
  const configuration = new ledger.Configuration({ basePath: ledgerUrl });
  const transactions = new ledger.TransactionsApi(configuration);
  const accountId = "demo";

  const payment = await transactions.getTransaction({ transactionExternalId: "demo-success", accountId });
  assert(payment.transactionType === "PAYMENT");
  const { captureSubmitTime, capturedDate } = payment.settlementSummary;
  assert.deepEqual([payment.amount, payment.state.status], [4250, ledger.Status.Success]);
  assert.deepEqual(payment.createdDate, new Date("2024-03-05T09:14:22.018Z"));
  assert.deepEqual([captureSubmitTime, capturedDate], [null, new Date("2024-03-05")]);
  assert.deepEqual([payment.refundSummary?.userExternalId, payment.totalAmount], [null, undefined]);

  const missing = transactions.getTransaction({ transactionExternalId: "demo-missing", accountId });
  const error = await missing.catch((reason) => reason);
  assert(error instanceof ledger.ResponseError);
  const problem = ledger.ProblemFromJSON(await error.response.json());
  assert.deepEqual([problem.status, problem.detail], [404, "Transaction with id [demo-missing] not found"]);

  const found = await transactions.searchTransactions({
    accountId: [accountId, "other"],
    paymentStates: [ledger.Status.Success, ledger.Status.Declined],
    refundStates: [ledger.Status.Success],
    state: ledger.Status.Success,
    fromDate: new Date("2024-03-01"),
  });
  assert.deepEqual(
    found.results.map(({ transactionId, transactionType }) => [transactionId, transactionType]),
    [
      ["demo-disputed", "PAYMENT"],
      ["demo-refund", "REFUND"],
      ["demo-success", "PAYMENT"],
    ],
  );
  const refund = found.results[1];
  assert(refund?.transactionType === "REFUND");
  assert.equal(refund.paymentDetails.reference, "fishing-88");

  const children = await transactions.listChildTransactions({
    parentTransactionExternalId: "demo-disputed",
    gatewayAccountId: accountId,
    transactionType: ledger.TransactionType.Dispute,
  });
  const dispute = children.transactions[0];
  assert(dispute?.transactionType === "DISPUTE");
  assert.equal(dispute.reason, "unrecognised");

  const plain = await transactions.getTransaction({
    transactionExternalId: "plain-refund",
    accountId: "plain",
  });
  assert.equal(plain.transactionType, "REFUND");

  const history = await transactions.listTransactionEvents({
    transactionExternalId: "demo-success",
    gatewayAccountId: accountId,
    includeAllEvents: true,
  });
  const [created, , entered] = history.events;
  assert.equal(history.events.length, 11);
  assert.deepEqual([created?.state?.status, entered?.state], ["created", null]);

  const eventId = created?.eventId ?? 0;
  const events = new ledger.EventsApi(configuration);
  const event = await events.getEvent({ eventId });
  assert.deepEqual(
    [event.eventId, event.resourceType, event.parentResourceExternalId],
    [eventId, ledger.ResourceType.PAYMENT_RESOURCE, null],
  );

  const reports = new ledger.ReportsApi(configuration);
  const report = await reports.getTransactionReport({
    accountId: [accountId],
    groupBy: [ledger.GroupColumn.GROUP_BY_TYPE, ledger.GroupColumn.GROUP_BY_STATE],
  });
  const [first] = report.groups;
  assert.deepEqual([first?.type, first?.state, first?.count], ["DISPUTE", ledger.Status.NeedsResponse, 1]);

  const march = { fromDate: new Date("2024-03-01"), toDate: new Date("2024-03-31") };
  const accounts = await reports.listGatewayPerformance(march);
  assert.deepEqual(
    accounts.map(({ gatewayAccountId, averageAmount }) => [gatewayAccountId, averageAmount]),
    [
      [57, 16_777_217],
      ["demo", 2725],
      [null, 0],
    ],
  );

  const payout = await new ledger.PayoutsApi(configuration).getPayout({
    gatewayPayoutId: "plain-payout",
    gatewayAccountId: "plain",
  });
  assert.deepEqual([payout.state.status, payout.paidOutDate], [ledger.PayoutStatus.PAYOUT_IN_TRANSIT, null]);

  const agreements = new ledger.AgreementsApi(configuration);
  const agreementExternalId = "demo-agreement";
  const agreement = await agreements.getAgreement({ agreementExternalId, accountId, xConsistent: true });
  assert.deepEqual(
    [agreement.status, agreement.cancelledDate],
    [ledger.AgreementStatus.AGREEMENT_ACTIVE, null],
  );
  assert.equal(agreement.paymentInstrument?.cardDetails?.cardBrand, "visa");

  const { results } = await agreements.searchAgreements({ accountId: [accountId, "plain"] });
  assert.deepEqual(
    results.map(({ externalId }) => externalId),
    ["plain-agreement", "demo-agreement"],
  );
  assert.deepEqual([results[0]?.paymentInstrument, results[0]?.reference], [null, null]);

  const agreed = await agreements.listAgreementEvents({ agreementExternalId, accountId });
  assert.deepEqual(
    [agreed.events.length, agreed.events[1]?.resourceType],
    [4, ledger.AgreementResourceType.PAYMENT_INSTRUMENT_EVENT],
  );

  // The generated type is one event, without a list.
  const eventMessages: ledger.EventMessages = {
    eventType: "PAYMENT_CREATED",
    resourceType: ledger.ResourceType.PAYMENT_RESOURCE,
    resourceExternalId: randomUUID(),
    timestamp: new Date("2024-03-05T09:14:22Z"),
    eventDetails: { gatewayAccountId: "added", amount: 4250 },
  };
  const response = await events.addEventsRaw({ eventMessages });
  const one = await response.value();
  const addedId = one.events[0]?.eventId;
  assert(typeof addedId === "number");
  assert.deepEqual([response.raw.status, one.events], [202, [{ eventId: addedId, isNew: true }]]);

  const added = await transactions.getTransaction({
    transactionExternalId: eventMessages.resourceExternalId,
    accountId: "added",
  });
  assert.equal(added.amount, 4250);

  const again = await events.addEvents({ eventMessages });
  assert.deepEqual(again.events, [{ eventId: addedId, isNew: false }]);
}

async function callFeatures() {
  const configuration = new features.Configuration({ basePath: featuresUrl });
  const storage = new features.FeaturesApi(configuration);
  const bulk = new features.ChangesApi(configuration);
  const path = { resource: "customer", id: randomUUID() };
  const expiresAt = new Date("2037-03-05T09:14:22.018Z");

  const added = await storage.addFeatureRaw({ ...path, feature: "zebra ü", expiresAt });
  assert.deepEqual([added.raw.status, await added.value()], [201, { result: true }]);

  const late = storage.addFeature({ ...path, feature: "late", expiresAt: new Date("2001-01-01") });
  const error = await late.catch((reason) => reason);
  assert(error instanceof features.ResponseError);
  assert.deepEqual(
    [error.response.status, await error.response.text()],
    [400, "query parameter expires_at must be in the future\n"],
  );

  const type = features.FeatureChangeTypeEnum.Add;
  const changes = ["mango", "apple", "apple"].map((feature) => ({ type, ...path, feature }));
  const changed = await bulk.changeFeatures({ featureChanges: { changes } });
  assert.deepEqual(changed.results, [{ changed: true }, { changed: true }, { changed: false }]);

  const listed = await storage.listFeaturesRaw(path);
  assert.deepEqual(await listed.value(), ["zebra ü", "mango", "apple"]);

  const ifMatch = listed.raw.headers.get("etag") ?? "";
  const replaced = await storage.replaceFeatures({ ...path, ifMatch, requestBody: ["yak", "mango", "bee"] });
  assert.deepEqual(replaced, ["mango", "yak", "bee"]);

  const checked = await storage.hasFeatures({ query: { resources: [path], features: ["bee", "zebra ü"] } });
  assert.deepEqual(checked.results, [{ ...path, has: [true, false] }]);

  const flag = await new features.FlagsApi(configuration).evaluateFlag({
    key: "bee",
    evaluationRequest: { context: { targetingKey: `${path.resource}/${path.id}` } },
  });
  assert.deepEqual([flag.value, flag.reason], [true, "TARGETING_MATCH"]);

  const removed = await storage.removeFeatureRaw({ ...path, feature: "bee" });
  assert.equal(removed.raw.status, 204);

  const feed = await bulk.listChanges({ limit: 1000 });
  const records = feed.changes.filter(({ id }) => id === path.id);
  assert.deepEqual([records[0]?.type, records[0]?.expiresAt], ["added", expiresAt]);
  assert.deepEqual([records.at(-1)?.type, records.at(-1)?.expiresAt], ["removed", undefined]);
}

void Promise.all([callLedger(), callFeatures()]);
