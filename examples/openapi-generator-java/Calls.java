import features.api.ChangesApi;
import features.api.FeaturesApi;
import features.api.FlagsApi;
import features.model.ChangeRecord;
import features.model.EvaluationContext;
import features.model.EvaluationRequest;
import features.model.FeatureChange;
import features.model.FeatureChangeResult;
import features.model.FeatureChanges;
import features.model.Query;
import features.model.ResourceName;
import java.time.LocalDate;
import java.time.OffsetDateTime;
import java.util.List;
import java.util.Objects;
import java.util.UUID;
import java.util.stream.Stream;
import ledger.api.AgreementsApi;
import ledger.api.EventsApi;
import ledger.api.PayoutsApi;
import ledger.api.ReportsApi;
import ledger.api.TransactionsApi;
import ledger.model.AddedEvent;
import ledger.model.Agreement;
import ledger.model.AgreementResourceType;
import ledger.model.AgreementStatus;
import ledger.model.Dispute;
import ledger.model.EventDetails;
import ledger.model.EventMessage;
import ledger.model.EventMessages;
import ledger.model.GroupColumn;
import ledger.model.LenientIdentifier;
import ledger.model.LenientPence;
import ledger.model.Payment;
import ledger.model.PayoutStatus;
import ledger.model.Problem;
import ledger.model.Refund;
import ledger.model.ResourceType;
import ledger.model.Status;
import ledger.model.TransactionType;

public class Calls {
  public static void main(String[] urls) throws Exception {
    callLedger(urls[0]);
    callFeatures(urls[1]);
    System.exit(0); // OkHttp keeps threads for idle connections.
  }

  static void callLedger(String url) throws Exception {
    var client = new ledger.ApiClient().setBasePath(url);
    var transactions = new TransactionsApi(client);

    var view = transactions.getTransaction("demo-success", "demo", null, null, null, null, null);
    var payment = (Payment) view.getActualInstance();
    equal(List.of(payment.getAmount(), payment.getState().getStatus()), List.of(4250L, Status.SUCCESS));
    equal(payment.getCreatedDate(), OffsetDateTime.parse("2024-03-05T09:14:22.018Z"));
    equal(payment.getSettlementSummary().getCaptureSubmitTime(), null);
    equal(payment.getSettlementSummary().getCapturedDate(), LocalDate.of(2024, 3, 5));
    equal(payment.getRefundSummary().getUserExternalId(), null);
    equal(payment.getTotalAmount(), null);

    try {
      transactions.getTransaction("demo-missing", "demo", null, null, null, null, null);
      throw new AssertionError("no error");
    } catch (ledger.ApiException error) {
      var problem = Problem.fromJson(error.getResponseBody());
      equal(List.of(error.getCode(), problem.getStatus()), List.of(404, 404));
      equal(problem.getDetail(), "Transaction with id [demo-missing] not found");
    }

    var from = OffsetDateTime.parse("2024-03-01T00:00:00Z");
    var found = transactions.searchTransactions(
        List.of("demo", "other"), null, from, null, null, null, null, null, null, null,
        List.of(Status.SUCCESS, Status.DECLINED), List.of(Status.SUCCESS), null, null, Status.SUCCESS,
        null, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null);
    equal(found.getResults().size(), 3);
    equal(((Payment) found.getResults().get(0).getActualInstance()).getTransactionId(), "demo-disputed");
    var refund = (Refund) found.getResults().get(1).getActualInstance();
    equal(refund.getPaymentDetails().getReference(), "fishing-88");
    equal(((Payment) found.getResults().get(2).getActualInstance()).getTransactionId(), "demo-success");

    var children = transactions.listChildTransactions("demo-disputed", "demo", TransactionType.DISPUTE, null);
    var dispute = (Dispute) children.getTransactions().get(0).getActualInstance();
    equal(dispute.getReason(), Dispute.ReasonEnum.UNRECOGNISED);

    var plain = transactions.getTransaction("plain-refund", "plain", null, null, null, null, null);
    equal(plain.getActualInstance().getClass(), Refund.class);

    var history = transactions.listTransactionEvents("demo-success", "demo", null, true, null, null).getEvents();
    equal(history.size(), 11);
    equal(history.get(0).getState().getStatus(), Status.CREATED);
    equal(history.get(2).getState(), null);

    var events = new EventsApi(client);
    Long eventId = history.get(0).getEventId();
    var event = events.getEvent(eventId);
    equal(List.of(event.getEventId(), event.getResourceType()), List.of(eventId, ResourceType.PAYMENT_RESOURCE));
    equal(event.getParentResourceExternalId(), null);
    try {
      events.getEvent(9007199254740993L);
      throw new AssertionError("no error");
    } catch (ledger.ApiException error) {
      equal(error.getResponseBody().contains("9007199254740993"), true);
    }

    var reports = new ReportsApi(client);
    var columns = List.of(GroupColumn.GROUP_BY_TYPE, GroupColumn.GROUP_BY_STATE);
    var report = reports.getTransactionReport(
        columns, null, List.of("demo"), null, null, null, null, null, null, null, null, null, null, null, null);
    var group = report.getGroups().get(0);
    equal(List.of(group.getType(), group.getState()), List.of(TransactionType.DISPUTE, Status.NEEDS_RESPONSE));

    var accounts = reports.listGatewayPerformance(LocalDate.of(2024, 3, 1), LocalDate.of(2024, 3, 31), null);
    equal(accounts.size(), 3);
    equal(accounts.get(0).getGatewayAccountId().getInteger(), 57);
    equal(accounts.get(0).getAverageAmount().longValue(), 16777217L);
    equal(accounts.get(1).getGatewayAccountId().getString(), "demo");
    equal(accounts.get(2).getGatewayAccountId(), null);

    var payout = new PayoutsApi(client).getPayout("plain-payout", "plain", null);
    equal(payout.getState().getStatus(), PayoutStatus.PAYOUT_IN_TRANSIT);
    equal(payout.getPaidOutDate(), null);

    var agreements = new AgreementsApi(client);
    var agreement = agreements.getAgreement("demo-agreement", null, "demo", null, null, true);
    equal(agreement.getStatus(), AgreementStatus.AGREEMENT_ACTIVE);
    equal(agreement.getPaymentInstrument().getCardDetails().getCardBrand(), "visa");
    equal(agreement.getCancelledDate(), null);

    var results = agreements.searchAgreements(
        null, List.of("demo", "plain"), null, null, null, null, null, null, null, null).getResults();
    equal(results.stream().map(Agreement::getExternalId).toList(), List.of("plain-agreement", "demo-agreement"));
    equal(results.get(0).getPaymentInstrument(), null);
    equal(results.get(0).getReference(), null);

    var agreed = agreements.listAgreementEvents("demo-agreement", null, "demo", null, null).getEvents();
    equal(agreed.size(), 4);
    equal(agreed.get(1).getResourceType(), AgreementResourceType.PAYMENT_INSTRUMENT_EVENT);

    var details = new EventDetails()
        .gatewayAccountId(new LenientIdentifier("added")).amount(new LenientPence(4250L));
    var message = new EventMessage()
        .eventType("PAYMENT_CREATED").resourceType(ResourceType.PAYMENT_RESOURCE)
        .resourceExternalId(UUID.randomUUID().toString())
        .timestamp(OffsetDateTime.parse("2024-03-05T09:14:22Z")).eventDetails(details);
    var added = events.addEventsWithHttpInfo(new EventMessages(message));
    equal(List.of(added.getStatusCode(), added.getData().getEvents().size()), List.of(202, 1));
    var one = added.getData().getEvents().get(0);
    equal(List.of(one.getIsNew(), one.getEventId() != null), List.of(true, true));

    var stored = transactions.getTransaction(message.getResourceExternalId(), "added", null, null, null, null, null);
    equal(((Payment) stored.getActualInstance()).getAmount(), 4250L);

    var again = events.addEvents(new EventMessages(List.of(message))).getEvents();
    equal(again, List.of(new AddedEvent().eventId(one.getEventId()).isNew(false)));
  }

  static void callFeatures(String url) throws Exception {
    var client = new features.ApiClient().setBasePath(url);
    var storage = new FeaturesApi(client);
    var bulk = new ChangesApi(client);
    var customer = UUID.randomUUID().toString();
    var expiresAt = OffsetDateTime.parse("2037-03-05T09:14:22.018Z");

    var added = storage.addFeatureWithHttpInfo("customer", customer, "zebra ü", expiresAt);
    equal(List.of(added.getStatusCode(), added.getData().getResult()), List.of(201, true));

    try {
      storage.addFeature("customer", customer, "late", OffsetDateTime.parse("2001-01-01T00:00:00Z"));
      throw new AssertionError("no error");
    } catch (features.ApiException error) {
      equal(error.getResponseBody(), "query parameter expires_at must be in the future\n");
    }

    var changes = Stream.of("mango", "apple", "apple")
        .map(name -> new FeatureChange().type(FeatureChange.TypeEnum.ADD).resource("customer").id(customer).feature(name))
        .toList();
    var changed = bulk.changeFeatures(new FeatureChanges().changes(changes));
    equal(changed.getResults().stream().map(FeatureChangeResult::getChanged).toList(), List.of(true, true, false));

    var listed = storage.listFeaturesWithHttpInfo("customer", customer, null, null);
    equal(listed.getData(), List.of("zebra ü", "mango", "apple"));

    var etag = listed.getHeaders().get("etag").get(0);
    var replaced = storage.replaceFeatures("customer", customer, List.of("yak", "mango", "bee"), etag);
    equal(replaced, List.of("mango", "yak", "bee"));

    var resource = new ResourceName().resource("customer").id(customer);
    var query = new Query().resources(List.of(resource)).features(List.of("bee", "zebra ü"));
    equal(storage.hasFeatures(query).getResults().get(0).getHas(), List.of(true, false));

    var context = new EvaluationContext().targetingKey("customer/" + customer);
    var flag = new FlagsApi(client).evaluateFlag("bee", new EvaluationRequest().context(context));
    equal(List.of(flag.getValue(), flag.getReason().getValue()), List.of(true, "TARGETING_MATCH"));

    equal(storage.removeFeatureWithHttpInfo("customer", customer, "bee").getStatusCode(), 204);

    var feed = bulk.listChanges(null, 1000, null).getChanges();
    var records = feed.stream().filter(record -> record.getId().equals(customer)).toList();
    var last = records.get(records.size() - 1);
    equal(records.get(0).getType(), ChangeRecord.TypeEnum.ADDED);
    equal(records.get(0).getExpiresAt(), expiresAt);
    equal(last.getType(), ChangeRecord.TypeEnum.REMOVED);
    equal(last.getExpiresAt(), null);
  }

  static void equal(Object actual, Object expected) {
    if (!Objects.equals(actual, expected)) throw new AssertionError(actual + " is not " + expected);
  }
}
