import sys
from datetime import date, datetime, timezone
from uuid import uuid4

import features_client as features
import ledger_client as ledger
from show import show


def call_ledger(url: str) -> None:
    with ledger.ApiClient(ledger.Configuration(host=url)) as client:
        transactions, events = ledger.TransactionsApi(client), ledger.EventsApi(client)
        try:
            events.get_event(9007199254740991)
        except ledger.exceptions.NotFoundException as error:
            show("missing", error.data)
        found = transactions.search_transactions(
            account_id=["demo", "plain"],
            payment_states=[ledger.Status.SUCCESS, ledger.Status.ERROR],
            refund_states=[ledger.Status.SUCCESS, ledger.Status.SUBMITTED],
            dispute_states=[ledger.Status.NEEDS_RESPONSE],
            from_date=datetime(2024, 3, 1, tzinfo=timezone.utc),
            limit_total=True,
        )
        show("found", found)
        show("kinds", [type(view.actual_instance).__name__ for view in found.results])
        march = (date(2024, 3, 1), date(2024, 3, 31))
        show("accounts", ledger.ReportsApi(client).list_gateway_performance(*march))
        agreements = ledger.AgreementsApi(client)
        show("agreement", agreements.get_agreement("demo-agreement", account_id="demo", x_consistent=True))
        show("agreements", agreements.search_agreements(account_id=["demo", "plain"]))

        message = ledger.EventMessage(
            event_type="PAYMENT_CREATED",
            resource_type=ledger.ResourceType.PAYMENT_RESOURCE,
            resource_external_id=str(uuid4()),
            timestamp=datetime(2024, 3, 5, 9, 14, 22, tzinfo=timezone.utc),
            event_details=ledger.EventDetails(
                gateway_account_id=ledger.LenientIdentifier("added"), amount=ledger.LenientPence(4250)
            ),
        )
        added = events.add_events_with_http_info(ledger.EventMessages(message))
        show("added", [added.status_code, added.data])
        show("stored", transactions.get_transaction(message.resource_external_id, account_id="added"))
        show("again", events.add_events(ledger.EventMessages([message])))


def call_features(url: str) -> None:
    with features.ApiClient(features.Configuration(host=url)) as client:
        storage, bulk = features.FeaturesApi(client), features.ChangesApi(client)
        customer = str(uuid4())
        expires_at = datetime(2037, 3, 5, 9, 14, 22, 18000, timezone.utc)
        added = storage.add_feature_with_http_info("customer", customer, "zebra ü", expires_at=expires_at)
        show("feature", [added.status_code, added.data])
        try:
            storage.add_feature("customer", customer, "late", expires_at=datetime(2001, 1, 1, tzinfo=timezone.utc))
        except features.exceptions.BadRequestException as error:
            show("late", [error.status, error.body])

        changes = [
            features.FeatureChange(type="add", resource="customer", id=customer, feature=name)
            for name in ["mango", "apple", "apple"]
        ]
        show("changed", bulk.change_features(features.FeatureChanges(changes=changes)))
        listed = storage.list_features_with_http_info("customer", customer)
        show("listed", listed.data)
        etag = (listed.headers or {})["etag"]
        show("replaced", storage.replace_features("customer", customer, etag, ["yak", "mango", "bee"]))
        context = features.EvaluationContext(targetingKey=f"customer/{customer}")
        show("flag", features.FlagsApi(client).evaluate_flag("bee", features.EvaluationRequest(context=context)))
        show("removed", storage.remove_feature_with_http_info("customer", customer, "bee").status_code)
        records = [record for record in bulk.list_changes(limit=1000).changes if record.id == customer]
        show("records", [records[0], records[-1]])


call_ledger(sys.argv[1])
call_features(sys.argv[2])
