import com.google.gson.Gson;
import features.api.*;
import features.model.*;
import java.time.LocalDate;
import java.time.OffsetDateTime;
import java.util.List;
import java.util.UUID;
import java.util.stream.Stream;
import ledger.api.*;
import ledger.model.*;

public class Calls {
  public static void main(String[] urls) throws Exception {
    callLedger(urls[0]);
    callFeatures(urls[1]);
    System.exit(0); // OkHttp keeps threads for idle connections.
  }

  static void callLedger(String url) throws Exception {
    var client = new ledger.ApiClient().setBasePath(url);
    var json = ledger.JSON.getGson();
    var transactions = new TransactionsApi(client);
    var events = new EventsApi(client);
    try {
      events.getEvent(9007199254740991L, null, null, null);
    } catch (ledger.ApiException error) {
      show(json, "missing", ledger.model.Problem.fromJson(error.getResponseBody()));
    }
    var from = OffsetDateTime.parse("2024-03-01T00:00:00Z");
    var found = transactions.searchTransactions(
        List.of("demo", "plain"), null, from, null, null, null, null, null, null, null,
        List.of(Status.SUCCESS, Status.ERROR), List.of(Status.SUCCESS, Status.SUBMITTED),
        List.of(Status.NEEDS_RESPONSE), null, null, null, null, null, null, null, null, null, null, true,
        null, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null,
        null);
    show(json, "found", found);
    var views = found.getResults().stream();
    show(json, "kinds", views.map(view -> view.getActualInstance().getClass().getSimpleName()).toList());
    var reports = new ReportsApi(client);
    show(json, "accounts", reports.listGatewayPerformance(LocalDate.of(2024, 3, 1), LocalDate.of(2024, 3, 31), null, null, null, null));
    var agreements = new AgreementsApi(client);
    show(json, "agreement", agreements.getAgreement("demo-agreement", null, "demo", null, null, true, null, null, null));
    show(json, "agreements", agreements.searchAgreements(
        null, List.of("demo", "plain"), null, null, null, null, null, null, null, null, null, null, null, null, null, null));

    var details = new EventDetails()
        .gatewayAccountId(new LenientIdentifier("added")).amount(new LenientPence(4250L));
    var message = new EventMessage()
        .eventType("PAYMENT_CREATED").resourceType(ResourceType.PAYMENT_RESOURCE)
        .resourceExternalId(UUID.randomUUID().toString())
        .timestamp(OffsetDateTime.parse("2024-03-05T09:14:22Z")).eventDetails(details);
    var added = events.addEventsWithHttpInfo(new EventMessages(message), null);
    show(json, "added", List.of(added.getStatusCode(), added.getData()));
    show(json, "stored",
        transactions.getTransaction(message.getResourceExternalId(), "added", null, null, null, null, null, null, null, null,
            null));
    show(json, "again", events.addEvents(new EventMessages(List.of(message)), null));
  }

  static void callFeatures(String url) throws Exception {
    var client = new features.ApiClient().setBasePath(url);
    var json = features.JSON.getGson();
    var storage = new FeaturesApi(client);
    var bulk = new ChangesApi(client);
    var customer = UUID.randomUUID().toString();
    var expiresAt = OffsetDateTime.parse("2037-03-05T09:14:22.018Z");
    var added = storage.addFeatureWithHttpInfo("customer", customer, "zebra ü", expiresAt, null);
    show(json, "feature", List.of(added.getStatusCode(), added.getData()));
    try {
      storage.addFeature("customer", customer, "late", OffsetDateTime.parse("2001-01-01T00:00:00Z"), null);
    } catch (features.ApiException error) {
      show(json, "late", List.of(error.getCode(), error.getResponseBody()));
    }

    var add = FeatureChange.TypeEnum.ADD;
    var changes = Stream.of("mango", "apple", "apple")
        .map(name -> new FeatureChange().type(add).resource("customer").id(customer).feature(name)).toList();
    show(json, "changed", bulk.changeFeatures(new FeatureChanges().changes(changes), null));
    var listed = storage.listFeaturesWithHttpInfo("customer", customer, null, null);
    show(json, "listed", listed.getData());
    var etag = listed.getHeaders().get("etag").get(0);
    show(json, "replaced", storage.replaceFeatures("customer", customer, etag, List.of("yak", "mango", "bee"), null));
    var context = new EvaluationContext().targetingKey("customer/" + customer);
    show(json, "flag", new FlagsApi(client).evaluateFlag("bee", new EvaluationRequest().context(context)));
    show(json, "removed", storage.removeFeatureWithHttpInfo("customer", customer, "bee", null).getStatusCode());
    var feed = bulk.listChanges(null, 1000, null, null).getChanges();
    var records = feed.stream().filter(record -> record.getId().equals(customer)).toList();
    show(json, "records", List.of(records.get(0), records.get(records.size() - 1)));
  }

  /** Prints what a step got. */
  static void show(Gson json, String step, Object value) {
    System.out.println(step + " " + json.toJson(value));
  }
}
