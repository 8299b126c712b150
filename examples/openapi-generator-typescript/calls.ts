import { randomUUID } from "node:crypto";
import * as features from "./features";
import * as ledger from "./ledger";
import { show } from "./show";

const [ledgerUrl = "", featuresUrl = ""] = process.argv.slice(2);

/** JSON has the names of the contract, unlike the types of the client: they are not compared with what is expected. */
const showJson = (step: Parameters<typeof show>[0], json: unknown) => show(step, json as never);

/** The response with which a call fails. */
const failureOf = (call: Promise<unknown>): Promise<Response> =>
  call.then(
    () => Promise.reject(new Error("no error")),
    (error) => error.response,
  );

async function callLedger() {
  const configuration = new ledger.Configuration({ basePath: ledgerUrl });
  const transactions = new ledger.TransactionsApi(configuration);
  const events = new ledger.EventsApi(configuration);
  const missing = await failureOf(events.getEvent({ eventId: Number.MAX_SAFE_INTEGER }));
  showJson("missing", ledger.ProblemToJSON(ledger.ProblemFromJSON(await missing.json())));
  const found = await transactions.searchTransactions({
    accountId: ["demo", "plain"],
    paymentStates: [ledger.Status.Success, ledger.Status.Error],
    refundStates: [ledger.Status.Success, ledger.Status.Submitted],
    disputeStates: [ledger.Status.NeedsResponse],
    fromDate: new Date("2024-03-01"),
    limitTotal: true,
  });
  showJson("found", ledger.TransactionSearchResponseToJSON(found));
  const march = { fromDate: new Date("2024-03-01"), toDate: new Date("2024-03-31") };
  const accounts = await new ledger.ReportsApi(configuration).listGatewayPerformance(march);
  showJson("accounts", accounts.map(ledger.GatewayPerformanceToJSON));

  const agreements = new ledger.AgreementsApi(configuration);
  const one = { agreementExternalId: "demo-agreement", accountId: "demo", xConsistent: true };
  showJson("agreement", ledger.AgreementToJSON(await agreements.getAgreement(one)));
  const ofBoth = await agreements.searchAgreements({ accountId: ["demo", "plain"] });
  showJson("agreements", ledger.AgreementSearchResponseToJSON(ofBoth));

  // The generated type is one event, without a list.
  const eventMessages: ledger.EventMessages = {
    eventType: "PAYMENT_CREATED",
    resourceType: ledger.ResourceType.PAYMENT_RESOURCE,
    resourceExternalId: randomUUID(),
    timestamp: new Date("2024-03-05T09:14:22Z"),
    eventDetails: { gatewayAccountId: "added", amount: 4250 },
  };
  const added = await events.addEventsRaw({ eventMessages });
  showJson("added", [added.raw.status, ledger.AddedEventsToJSON(await added.value())]);
  const own = { transactionExternalId: eventMessages.resourceExternalId, accountId: "added" };
  const stored = await transactions.getTransaction(own);
  showJson("stored", ledger.TransactionViewToJSON(stored));
  showJson("again", ledger.AddedEventsToJSON(await events.addEvents({ eventMessages })));
}

async function callFeatures() {
  const configuration = new features.Configuration({ basePath: featuresUrl });
  const storage = new features.FeaturesApi(configuration);
  const bulk = new features.ChangesApi(configuration);
  const path = { resource: "customer", id: randomUUID() };
  const expiresAt = new Date("2037-03-05T09:14:22.018Z");
  const added = await storage.addFeatureRaw({ ...path, feature: "zebra ü", expiresAt });
  show("feature", [added.raw.status, await added.value()]);
  const past = new Date("2001-01-01");
  const late = await failureOf(storage.addFeature({ ...path, feature: "late", expiresAt: past }));
  show("late", [late.status, await late.text()]);

  const type = features.FeatureChangeTypeEnum.Add;
  const changes = ["mango", "apple", "apple"].map((feature) => ({ type, ...path, feature }));
  show("changed", await bulk.changeFeatures({ featureChanges: { changes } }));
  const listed = await storage.listFeaturesRaw(path);
  show("listed", await listed.value());
  const ifMatch = listed.raw.headers.get("etag") ?? "";
  show("replaced", await storage.replaceFeatures({ ...path, ifMatch, requestBody: ["yak", "mango", "bee"] }));
  const evaluationRequest = { context: { targetingKey: `customer/${path.id}` } };
  show("flag", await new features.FlagsApi(configuration).evaluateFlag({ key: "bee", evaluationRequest }));
  show("removed", (await storage.removeFeatureRaw({ ...path, feature: "bee" })).raw.status);
  const feed = await bulk.listChanges({ limit: 1000 });
  const records = feed.changes.filter(({ id }) => id === path.id);
  showJson("records", [records[0], records.at(-1)].map(features.ChangeRecordToJSON));
}

void Promise.all([callLedger(), callFeatures()]);
