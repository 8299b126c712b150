import sys
from datetime import date, datetime, timezone
from uuid import uuid4

import features_client as features
import ledger_client as ledger


def call_ledger(url: str) -> None:
    with ledger.ApiClient(ledger.Configuration(host=url)) as client:
        transactions = ledger.TransactionsApi(client)

        payment = transactions.get_transaction("demo-success", account_id="demo").actual_instance
        assert isinstance(payment, ledger.Payment), payment
        assert (payment.amount, payment.state.status) == (4250, ledger.Status.SUCCESS), payment
        assert payment.created_date == datetime(2024, 3, 5, 9, 14, 22, 18000, timezone.utc), payment
        settlement = payment.settlement_summary
        assert (settlement.capture_submit_time, settlement.captured_date) == (None, date(2024, 3, 5)), settlement
        assert payment.refund_summary and payment.refund_summary.user_external_id is None, payment
        assert payment.total_amount is None, payment

        try:
            transactions.get_transaction("demo-missing", account_id="demo")
            raise AssertionError("no error")
        except ledger.exceptions.NotFoundException as error:
            problem = error.data
            assert isinstance(problem, ledger.Problem), problem
            assert problem.detail == "Transaction with id [demo-missing] not found", problem

        found = transactions.search_transactions(
            account_id=["demo", "other"],
            payment_states=[ledger.Status.SUCCESS, ledger.Status.DECLINED],
            refund_states=[ledger.Status.SUCCESS],
            state=ledger.Status.SUCCESS,
            from_date=datetime(2024, 3, 1, tzinfo=timezone.utc),
        )
        disputed, refund, success = (view.actual_instance for view in found.results)
        assert isinstance(disputed, ledger.Payment) and disputed.transaction_id == "demo-disputed", found
        assert isinstance(refund, ledger.Refund) and refund.payment_details.reference == "fishing-88", found
        assert isinstance(success, ledger.Payment) and success.transaction_id == "demo-success", found

        children = transactions.list_child_transactions(
            "demo-disputed", "demo", transaction_type=ledger.TransactionType.DISPUTE
        )
        dispute = children.transactions[0].actual_instance
        assert isinstance(dispute, ledger.Dispute) and dispute.reason == "unrecognised", dispute

        plain = transactions.get_transaction("plain-refund", account_id="plain").actual_instance
        assert isinstance(plain, ledger.Refund), plain

        history = transactions.list_transaction_events("demo-success", "demo", include_all_events=True)
        created, _, entered, *others = history.events
        assert len(others) == 8, history
        assert created.state and created.state.status == ledger.Status.CREATED and entered.state is None, history

        events = ledger.EventsApi(client)
        event = events.get_event(created.event_id)
        assert (event.event_id, event.resource_type) == (created.event_id, ledger.ResourceType.PAYMENT_RESOURCE), event
        assert event.parent_resource_external_id is None, event
        try:
            events.get_event(9007199254740993)
            raise AssertionError("no error")
        except ledger.exceptions.NotFoundException as error:
            problem = error.data
            assert isinstance(problem, ledger.Problem) and "9007199254740993" in problem.detail, problem

        reports = ledger.ReportsApi(client)
        columns = [ledger.GroupColumn.GROUP_BY_TYPE, ledger.GroupColumn.GROUP_BY_STATE]
        group = reports.get_transaction_report(account_id=["demo"], group_by=columns).groups[0]
        assert (group.type, group.state) == (ledger.TransactionType.DISPUTE, ledger.Status.NEEDS_RESPONSE), group

        accounts = reports.list_gateway_performance(date(2024, 3, 1), date(2024, 3, 31))
        ids = [one.gateway_account_id and one.gateway_account_id.actual_instance for one in accounts]
        assert ids == [57, "demo", None], accounts
        assert [one.average_amount for one in accounts] == [16777217, 2725, 0], accounts

        payout = ledger.PayoutsApi(client).get_payout("plain-payout", gateway_account_id="plain")
        assert payout.state.status == ledger.PayoutStatus.PAYOUT_IN_TRANSIT, payout
        assert payout.paid_out_date is None, payout

        agreements = ledger.AgreementsApi(client)
        agreement = agreements.get_agreement("demo-agreement", account_id="demo", x_consistent=True)
        assert agreement.status == ledger.AgreementStatus.AGREEMENT_ACTIVE, agreement
        assert agreement.payment_instrument and agreement.payment_instrument.card_details, agreement
        assert agreement.payment_instrument.card_details.card_brand == "visa", agreement
        assert agreement.cancelled_date is None, agreement

        results = agreements.search_agreements(account_id=["demo", "plain"]).results
        assert [one.external_id for one in results] == ["plain-agreement", "demo-agreement"], results
        assert (results[0].payment_instrument, results[0].reference) == (None, None), results

        agreed = agreements.list_agreement_events("demo-agreement", account_id="demo").events
        assert len(agreed) == 4, agreed
        assert agreed[1].resource_type == ledger.AgreementResourceType.PAYMENT_INSTRUMENT_EVENT, agreed

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
        [new] = added.data.events
        assert added.status_code == 202 and new.is_new and new.event_id is not None, added

        stored = transactions.get_transaction(message.resource_external_id, account_id="added").actual_instance
        assert isinstance(stored, ledger.Payment) and stored.amount == 4250, stored

        [repeated] = events.add_events(ledger.EventMessages([message])).events
        assert (repeated.event_id, repeated.is_new) == (new.event_id, False), repeated


def call_features(url: str) -> None:
    with features.ApiClient(features.Configuration(host=url)) as client:
        storage = features.FeaturesApi(client)
        bulk = features.ChangesApi(client)
        customer = str(uuid4())
        expires_at = datetime(2037, 3, 5, 9, 14, 22, 18000, timezone.utc)

        added = storage.add_feature_with_http_info("customer", customer, "zebra ü", expires_at=expires_at)
        assert added.status_code == 201 and added.data.result is True, added

        try:
            storage.add_feature("customer", customer, "late", expires_at=datetime(2001, 1, 1, tzinfo=timezone.utc))
            raise AssertionError("no error")
        except features.exceptions.BadRequestException as error:
            assert error.data == "query parameter expires_at must be in the future\n", error

        changes = [
            features.FeatureChange(type="add", resource="customer", id=customer, feature=name)
            for name in ["mango", "apple", "apple"]
        ]
        changed = bulk.change_features(features.FeatureChanges(changes=changes))
        assert [result.changed for result in changed.results] == [True, True, False], changed

        listed = storage.list_features_with_http_info("customer", customer)
        assert listed.data == ["zebra ü", "mango", "apple"], listed

        etag = (listed.headers or {})["etag"]
        replaced = storage.replace_features("customer", customer, ["yak", "mango", "bee"], if_match=etag)
        assert replaced == ["mango", "yak", "bee"], replaced

        resource = features.ResourceName(resource="customer", id=customer)
        checked = storage.has_features(features.Query(resources=[resource], features=["bee", "zebra ü"]))
        assert [result.has for result in checked.results] == [[True, False]], checked

        context = features.EvaluationContext(targetingKey=f"customer/{customer}")
        flag = features.FlagsApi(client).evaluate_flag("bee", features.EvaluationRequest(context=context))
        assert (flag.value, flag.reason) == (True, "TARGETING_MATCH"), flag

        removed = storage.remove_feature_with_http_info("customer", customer, "bee")
        assert removed.status_code == 204, removed

        records = [record for record in bulk.list_changes(limit=1000).changes if record.id == customer]
        assert (records[0].type, records[0].expires_at) == ("added", expires_at), records
        assert (records[-1].type, records[-1].expires_at) == ("removed", None), records


call_ledger(sys.argv[1])
call_features(sys.argv[2])
