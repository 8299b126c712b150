import sys
from datetime import date, datetime, timezone
from uuid import uuid4

from features_client import AuthenticatedClient as Features
from features_client.api.changes import change_features, list_changes
from features_client.api.features import add_feature, has_features, list_features, remove_feature, replace_features
from features_client.api.flags import evaluate_flag
from features_client.models import (
    ChangePage,
    EvaluationContext,
    EvaluationRequest,
    EvaluationSuccess,
    FeatureChange,
    FeatureChangeResults,
    FeatureChanges,
    FeatureChangeType,
    Query,
    QueryResults,
    ResourceName,
)
from features_client.types import UNSET as ABSENT
from ledger_client import AuthenticatedClient as Ledger
from ledger_client.api.agreements import get_agreement, list_agreement_events, search_agreements
from ledger_client.api.events import add_events, get_event
from ledger_client.api.payouts import get_payout
from ledger_client.api.reports import get_transaction_report, list_gateway_performance
from ledger_client.api.transactions import (
    get_transaction,
    list_child_transactions,
    list_transaction_events,
    search_transactions,
)
from ledger_client.models import (
    AddedEvents,
    Agreement,
    AgreementEventResponse,
    AgreementResourceType,
    AgreementSearchResponse,
    AgreementStatus,
    Dispute,
    Event,
    EventDetails,
    EventMessage,
    GroupColumn,
    Payment,
    PayoutDetail,
    PayoutStatus,
    Problem,
    Refund,
    ResourceType,
    Status,
    TransactionEventResponse,
    TransactionReport,
    TransactionsForTransactionResponse,
    TransactionSearchResponse,
    TransactionState,
    TransactionType,
)
from ledger_client.types import UNSET


def call_ledger(url: str) -> None:
    client = Ledger(base_url=url, token="none", raise_on_unexpected_status=True)

    payment = get_transaction.sync("demo-success", client=client, account_id="demo")
    assert isinstance(payment, Payment), payment
    assert (payment.amount, payment.state.status) == (4250, Status.SUCCESS), payment
    assert payment.created_date == datetime(2024, 3, 5, 9, 14, 22, 18000, timezone.utc), payment
    settlement = payment.settlement_summary
    assert (settlement.capture_submit_time, settlement.captured_date) == (None, date(2024, 3, 5)), settlement
    assert payment.refund_summary and payment.refund_summary.user_external_id is None, payment
    assert payment.total_amount is UNSET, payment

    problem = get_transaction.sync("demo-missing", client=client, account_id="demo")
    assert isinstance(problem, Problem) and problem.status == 404, problem
    assert problem.detail == "Transaction with id [demo-missing] not found", problem

    found = search_transactions.sync(
        client=client,
        account_id=["demo", "other"],
        payment_states=[Status.SUCCESS, Status.DECLINED],
        refund_states=[Status.SUCCESS],
        state=Status.SUCCESS,
        from_date=datetime(2024, 3, 1, tzinfo=timezone.utc),
    )
    assert isinstance(found, TransactionSearchResponse), found
    disputed, refund, success = found.results
    assert isinstance(disputed, Payment) and disputed.transaction_id == "demo-disputed", found
    assert isinstance(refund, Refund) and refund.payment_details.reference == "fishing-88", found
    assert isinstance(success, Payment) and success.transaction_id == "demo-success", found

    children = list_child_transactions.sync(
        "demo-disputed", client=client, gateway_account_id="demo", transaction_type=TransactionType.DISPUTE
    )
    assert isinstance(children, TransactionsForTransactionResponse), children
    [dispute] = children.transactions
    assert isinstance(dispute, Dispute) and dispute.reason == "unrecognised", dispute

    plain = get_transaction.sync("plain-refund", client=client, account_id="plain")
    assert isinstance(plain, Refund), plain

    history = list_transaction_events.sync(
        "demo-success", client=client, gateway_account_id="demo", include_all_events=True
    )
    assert isinstance(history, TransactionEventResponse), history
    created, _, entered, *others = history.events
    assert len(others) == 8, history
    assert isinstance(created.state, TransactionState) and created.state.status == Status.CREATED, created
    assert entered.state is None, entered

    event = get_event.sync(created.event_id, client=client)
    assert isinstance(event, Event), event
    assert (event.event_id, event.resource_type) == (created.event_id, ResourceType.PAYMENT_RESOURCE), event
    assert event.parent_resource_external_id is None, event
    no_event = get_event.sync(9007199254740993, client=client)
    assert isinstance(no_event, Problem) and "9007199254740993" in no_event.detail, no_event

    columns = [GroupColumn.GROUP_BY_TYPE, GroupColumn.GROUP_BY_STATE]
    report = get_transaction_report.sync(client=client, account_id=["demo"], group_by=columns)
    assert isinstance(report, TransactionReport), report
    group = report.groups[0]
    assert (group.type_, group.state) == (TransactionType.DISPUTE, Status.NEEDS_RESPONSE), group

    accounts = list_gateway_performance.sync(
        client=client, from_date=date(2024, 3, 1), to_date=date(2024, 3, 31)
    )
    assert isinstance(accounts, list), accounts
    assert [one.gateway_account_id for one in accounts] == [57, "demo", None], accounts
    assert [one.average_amount for one in accounts] == [16777217, 2725, 0], accounts

    payout = get_payout.sync("plain-payout", client=client, gateway_account_id="plain")
    assert isinstance(payout, PayoutDetail), payout
    assert (payout.state.status, payout.paid_out_date) == (PayoutStatus.PAYOUT_IN_TRANSIT, None), payout

    agreement = get_agreement.sync("demo-agreement", client=client, account_id="demo", x_consistent=True)
    assert isinstance(agreement, Agreement), agreement
    assert (agreement.status, agreement.cancelled_date) == (AgreementStatus.AGREEMENT_ACTIVE, None), agreement
    assert agreement.payment_instrument and agreement.payment_instrument.card_details, agreement
    assert agreement.payment_instrument.card_details.card_brand == "visa", agreement

    agreements = search_agreements.sync(client=client, account_id=["demo", "plain"])
    assert isinstance(agreements, AgreementSearchResponse), agreements
    assert [one.external_id for one in agreements.results] == ["plain-agreement", "demo-agreement"], agreements
    plain_agreement = agreements.results[0]
    assert (plain_agreement.payment_instrument, plain_agreement.reference) == (None, None), plain_agreement

    agreed = list_agreement_events.sync("demo-agreement", client=client, account_id="demo")
    assert isinstance(agreed, AgreementEventResponse) and len(agreed.events) == 4, agreed
    assert agreed.events[1].resource_type == AgreementResourceType.PAYMENT_INSTRUMENT_EVENT, agreed

    message = EventMessage(
        event_type="PAYMENT_CREATED",
        resource_type=ResourceType.PAYMENT_RESOURCE,
        resource_external_id=str(uuid4()),
        timestamp=datetime(2024, 3, 5, 9, 14, 22, tzinfo=timezone.utc),
        event_details=EventDetails(gateway_account_id="added", amount=4250),
    )
    added = add_events.sync_detailed(client=client, body=message)
    assert added.status_code == 202 and isinstance(added.parsed, AddedEvents), added
    [new] = added.parsed.events
    assert new.is_new and new.event_id is not None, new

    stored = get_transaction.sync(message.resource_external_id, client=client, account_id="added")
    assert isinstance(stored, Payment) and stored.amount == 4250, stored

    repeated = add_events.sync(client=client, body=[message])
    assert isinstance(repeated, AddedEvents), repeated
    assert [(one.event_id, one.is_new) for one in repeated.events] == [(new.event_id, False)], repeated


def call_features(url: str) -> None:
    client = Features(base_url=url, token="none", raise_on_unexpected_status=True)
    customer = str(uuid4())
    expires_at = datetime(2037, 3, 5, 9, 14, 22, 18000, timezone.utc)

    added = add_feature.sync_detailed("customer", customer, "zebra ü", client=client, expires_at=expires_at)
    assert added.status_code == 201, added

    past = datetime(2001, 1, 1, tzinfo=timezone.utc)
    late = add_feature.sync("customer", customer, "late", client=client, expires_at=past)
    assert late == "query parameter expires_at must be in the future\n", late

    changes = [
        FeatureChange(type_=FeatureChangeType.ADD, resource="customer", id=customer, feature=name)
        for name in ["mango", "apple", "apple"]
    ]
    changed = change_features.sync(client=client, body=FeatureChanges(changes=changes))
    assert isinstance(changed, FeatureChangeResults), changed
    assert [result.changed for result in changed.results] == [True, True, False], changed

    listed = list_features.sync_detailed("customer", customer, client=client)
    assert listed.parsed == ["zebra ü", "mango", "apple"], listed

    replaced = replace_features.sync(
        "customer", customer, client=client, body=["yak", "mango", "bee"], if_match=listed.headers["etag"]
    )
    assert replaced == ["mango", "yak", "bee"], replaced

    resource = ResourceName(resource="customer", id=customer)
    checked = has_features.sync(client=client, body=Query(resources=[resource], features=["bee", "zebra ü"]))
    assert isinstance(checked, QueryResults) and [result.has for result in checked.results] == [[True, False]], checked

    context = EvaluationContext(targeting_key=f"customer/{customer}")
    flag = evaluate_flag.sync("bee", client=client, body=EvaluationRequest(context=context))
    assert isinstance(flag, EvaluationSuccess) and (flag.value, flag.reason) == (True, "TARGETING_MATCH"), flag

    removed = remove_feature.sync_detailed("customer", customer, "bee", client=client)
    assert removed.status_code == 204, removed

    feed = list_changes.sync(client=client, limit=1000)
    assert isinstance(feed, ChangePage), feed
    records = [record for record in feed.changes if record.id == customer]
    assert (records[0].type_, records[0].expires_at) == ("added", expires_at), records
    assert (records[-1].type_, records[-1].expires_at) == ("removed", ABSENT), records


call_ledger(sys.argv[1])
call_features(sys.argv[2])
