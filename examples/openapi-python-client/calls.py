import sys
from datetime import date, datetime, timezone
from uuid import uuid4

from features_client import AuthenticatedClient as Features
from features_client import models as feature_models
from features_client.api.changes import change_features, list_changes
from features_client.api.features import add_feature, list_features, remove_feature, replace_features
from features_client.api.flags import evaluate_flag
from ledger_client import AuthenticatedClient as Ledger
from ledger_client import models
from ledger_client.api.agreements import get_agreement, search_agreements
from ledger_client.api.events import add_events, get_event
from ledger_client.api.reports import list_gateway_performance
from ledger_client.api.transactions import get_transaction, search_transactions
from show import show


def call_ledger(url: str) -> None:
    client = Ledger(base_url=url, token="none", raise_on_unexpected_status=True)
    show("missing", get_event.sync(9007199254740991, client=client))
    found = search_transactions.sync(
        client=client,
        account_id=["demo", "plain"],
        payment_states=[models.Status.SUCCESS, models.Status.ERROR],
        refund_states=[models.Status.SUCCESS, models.Status.SUBMITTED],
        dispute_states=[models.Status.NEEDS_RESPONSE],
        from_date=datetime(2024, 3, 1, tzinfo=timezone.utc),
        limit_total=True,
    )
    assert isinstance(found, models.TransactionSearchResponse), found
    show("found", found)
    show("kinds", [type(one).__name__ for one in found.results])
    march = (date(2024, 3, 1), date(2024, 3, 31))
    show("accounts", list_gateway_performance.sync(client=client, from_date=march[0], to_date=march[1]))
    show("agreement", get_agreement.sync("demo-agreement", client=client, account_id="demo", x_consistent=True))
    show("agreements", search_agreements.sync(client=client, account_id=["demo", "plain"]))

    message = models.EventMessage(
        event_type="PAYMENT_CREATED",
        resource_type=models.ResourceType.PAYMENT_RESOURCE,
        resource_external_id=str(uuid4()),
        timestamp=datetime(2024, 3, 5, 9, 14, 22, tzinfo=timezone.utc),
        event_details=models.EventDetails(gateway_account_id="added", amount=4250),
    )
    added = add_events.sync_detailed(client=client, body=message)
    show("added", [added.status_code, added.parsed])
    show("stored", get_transaction.sync(message.resource_external_id, client=client, account_id="added"))
    show("again", add_events.sync(client=client, body=[message]))


def call_features(url: str) -> None:
    client = Features(base_url=url, token="none", raise_on_unexpected_status=True)
    customer = str(uuid4())
    expires_at = datetime(2037, 3, 5, 9, 14, 22, 18000, timezone.utc)
    added = add_feature.sync_detailed("customer", customer, "zebra ü", client=client, expires_at=expires_at)
    show("feature", [added.status_code, added.parsed])
    past = datetime(2001, 1, 1, tzinfo=timezone.utc)
    late = add_feature.sync_detailed("customer", customer, "late", client=client, expires_at=past)
    show("late", [late.status_code, late.parsed])

    add = feature_models.FeatureChangeType.ADD
    changes = [
        feature_models.FeatureChange(type_=add, resource="customer", id=customer, feature=name)
        for name in ["mango", "apple", "apple"]
    ]
    show("changed", change_features.sync(client=client, body=feature_models.FeatureChanges(changes=changes)))
    listed = list_features.sync_detailed("customer", customer, client=client)
    show("listed", listed.parsed)
    names, etag = ["yak", "mango", "bee"], listed.headers["etag"]
    show("replaced", replace_features.sync("customer", customer, client=client, body=names, if_match=etag))
    context = feature_models.EvaluationContext(targeting_key=f"customer/{customer}")
    show("flag", evaluate_flag.sync("bee", client=client, body=feature_models.EvaluationRequest(context=context)))
    show("removed", remove_feature.sync_detailed("customer", customer, "bee", client=client).status_code)
    feed = list_changes.sync(client=client, limit=1000)
    assert isinstance(feed, feature_models.ChangePage), feed
    records = [record for record in feed.changes if record.id == customer]
    show("records", [records[0], records[-1]])


call_ledger(sys.argv[1])
call_features(sys.argv[2])
