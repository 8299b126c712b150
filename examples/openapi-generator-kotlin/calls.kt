import com.squareup.moshi.Moshi
import features.apis.ChangesApi
import features.apis.FeaturesApi
import features.apis.FlagsApi
import features.models.EvaluationContext
import features.models.EvaluationRequest
import features.models.FeatureChange
import features.models.FeatureChanges
import java.time.LocalDate
import java.time.OffsetDateTime
import java.util.UUID
import kotlin.system.exitProcess
import ledger.apis.AgreementsApi
import ledger.apis.EventsApi
import ledger.apis.ReportsApi
import ledger.apis.TransactionsApi
import ledger.models.Dispute
import ledger.models.EventDetails
import ledger.models.EventMessages
import ledger.models.Payment
import ledger.models.Refund
import ledger.models.ResourceType
import ledger.models.Status

fun main(urls: Array<String>) {
    callLedger(urls[0])
    callFeatures(urls[1])
    exitProcess(0) // OkHttp keeps threads for idle connections.
}

/** Prints what a step got. */
fun Moshi.show(step: String, value: Any) = println("$step ${adapter(Any::class.java).toJson(value)}")

/** The classes of what the generated code has as a map. */
val kinds = mapOf("PAYMENT" to Payment::class, "REFUND" to Refund::class, "DISPUTE" to Dispute::class)

fun Moshi.transactionOf(view: Any): Any =
    adapter(kinds.getValue((view as Map<*, *>)["transaction_type"] as String).java).fromJsonValue(view)!!

fun callLedger(url: String) {
    val json = ledger.infrastructure.Serializer.moshi
    val transactions = TransactionsApi(url)
    val events = EventsApi(url)
    try {
        events.getEvent(9007199254740991)
    } catch (error: ledger.infrastructure.ClientException) {
        println("missing ${(error.response as ledger.infrastructure.ClientError<*>).body}")
    }
    val found = transactions.searchTransactions(
        accountId = listOf("demo", "plain"),
        paymentStates = listOf(Status.success, Status.error),
        refundStates = listOf(Status.success, Status.submitted),
        disputeStates = listOf(Status.needs_response),
        fromDate = OffsetDateTime.parse("2024-03-01T00:00:00Z"),
        limitTotal = true,
    )
    val views = found.results.map { json.transactionOf(it) }
    json.show("found", mapOf("results" to views))
    json.show("kinds", views.map { it.javaClass.simpleName })
    val march = LocalDate.of(2024, 3, 1) to LocalDate.of(2024, 3, 31)
    json.show("accounts", ReportsApi(url).listGatewayPerformance(march.first, march.second))
    val agreements = AgreementsApi(url)
    json.show("agreement", agreements.getAgreement("demo-agreement", accountId = "demo", xConsistent = true))
    json.show("agreements", agreements.searchAgreements(accountId = listOf("demo", "plain")))

    val message = EventMessages(
        eventType = "PAYMENT_CREATED",
        resourceType = ResourceType.PAYMENT_RESOURCE,
        resourceExternalId = UUID.randomUUID().toString(),
        timestamp = OffsetDateTime.parse("2024-03-05T09:14:22Z"),
        eventDetails = EventDetails(gatewayAccountId = "added", amount = 4250),
    )
    val added = events.addEventsWithHttpInfo(message, null) as ledger.infrastructure.Success
    json.show("added", listOf(added.statusCode, added.data!!))
    val stored = transactions.getTransaction(message.resourceExternalId, accountId = "added")
    json.show("stored", json.transactionOf(stored))
    json.show("again", events.addEvents(message))
}

fun callFeatures(url: String) {
    val json = features.infrastructure.Serializer.moshi
    val storage = FeaturesApi(url)
    val bulk = ChangesApi(url)
    val customer = UUID.randomUUID().toString()
    val expiresAt = OffsetDateTime.parse("2037-03-05T09:14:22.018Z")
    val added = storage.addFeatureWithHttpInfo("customer", customer, "zebra ü", expiresAt, null)
    json.show("feature", listOf(added.statusCode, (added as features.infrastructure.Success).data!!))
    try {
        storage.addFeature("customer", customer, "late", OffsetDateTime.parse("2001-01-01T00:00:00Z"))
    } catch (error: features.infrastructure.ClientException) {
        val response = error.response as features.infrastructure.ClientError<*>
        json.show("late", listOf(response.statusCode, response.body!!))
    }

    val changes = listOf("mango", "apple", "apple").map { FeatureChange(FeatureChange.Type.add, "customer", customer, it) }
    json.show("changed", bulk.changeFeatures(FeatureChanges(changes)))
    val listed = storage.listFeaturesWithHttpInfo("customer", customer, null, null) as features.infrastructure.Success
    json.show("listed", listed.data!!)
    val etag = listed.headers.getValue("etag").first()
    json.show("replaced", storage.replaceFeatures("customer", customer, etag, listOf("yak", "mango", "bee")))
    val context = EvaluationContext("customer/$customer")
    json.show("flag", FlagsApi(url).evaluateFlag("bee", EvaluationRequest(context)))
    json.show("removed", storage.removeFeatureWithHttpInfo("customer", customer, "bee", null).statusCode)
    val records = bulk.listChanges(limit = 1000).changes.filter { it.id == customer }
    json.show("records", listOf(records.first(), records.last()))
}
