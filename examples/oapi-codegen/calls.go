package main

import (
	"context"
	"crypto/rand"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	openapi_types "github.com/oapi-codegen/runtime/types"

	"example/features"
	"example/ledger"
)

var ctx = context.Background()

func callLedger(url string) {
	client := must(ledger.NewClientWithResponses(url))
	account, plainAccount, addedAccount := "demo", "plain", "added"

	found := must(client.GetTransactionWithResponse(ctx, "demo-success", &ledger.GetTransactionParams{AccountId: &account}))
	check(found.JSON200 != nil, string(found.Body))
	payment, isPayment := must(found.JSON200.ValueByDiscriminator()).(ledger.Payment)
	check(isPayment && *payment.Amount == 4250 && payment.State.Status == ledger.Success, string(found.Body))
	check(payment.CreatedDate.Equal(time.Date(2024, 3, 5, 9, 14, 22, 18e6, time.UTC)), payment.CreatedDate)
	settlement := payment.SettlementSummary
	check(settlement.CaptureSubmitTime == nil && settlement.CapturedDate.String() == "2024-03-05", settlement)
	check(payment.RefundSummary.UserExternalId == nil && payment.TotalAmount == nil, string(found.Body))

	missing := must(client.GetTransactionWithResponse(ctx, "demo-missing", &ledger.GetTransactionParams{AccountId: &account}))
	problem := missing.ApplicationproblemJSON404
	check(problem != nil && problem.Status == 404, string(missing.Body))
	check(problem.Detail == "Transaction with id [demo-missing] not found", problem.Detail)

	state, fromDate := ledger.Success, time.Date(2024, 3, 1, 0, 0, 0, 0, time.UTC)
	searched := must(client.SearchTransactionsWithResponse(ctx, &ledger.SearchTransactionsParams{
		AccountId:     &[]string{account, "other"},
		PaymentStates: &[]ledger.Status{ledger.Success, ledger.Declined},
		RefundStates:  &[]ledger.Status{ledger.Success},
		State:         &state,
		FromDate:      &fromDate,
	}))
	check(searched.JSON200 != nil && len(searched.JSON200.Results) == 3, string(searched.Body))
	results := searched.JSON200.Results
	check(must(results[0].ValueByDiscriminator()).(ledger.Payment).TransactionId == "demo-disputed", string(searched.Body))
	refund := must(results[1].ValueByDiscriminator()).(ledger.Refund)
	check(*refund.PaymentDetails.Reference == "fishing-88", string(searched.Body))
	check(must(results[2].ValueByDiscriminator()).(ledger.Payment).TransactionId == "demo-success", string(searched.Body))

	disputes := ledger.DISPUTE
	children := must(client.ListChildTransactionsWithResponse(ctx, "demo-disputed", &ledger.ListChildTransactionsParams{
		GatewayAccountId: account,
		TransactionType:  &disputes,
	}))
	check(children.JSON200 != nil && len(children.JSON200.Transactions) == 1, string(children.Body))
	dispute := must(children.JSON200.Transactions[0].ValueByDiscriminator()).(ledger.Dispute)
	check(*dispute.Reason == ledger.Unrecognised, string(children.Body))

	plain := must(client.GetTransactionWithResponse(ctx, "plain-refund", &ledger.GetTransactionParams{AccountId: &plainAccount}))
	_, isRefund := must(plain.JSON200.ValueByDiscriminator()).(ledger.Refund)
	check(isRefund, string(plain.Body))

	all := true
	history := must(client.ListTransactionEventsWithResponse(ctx, "demo-success", &ledger.ListTransactionEventsParams{
		GatewayAccountId: account,
		IncludeAllEvents: &all,
	}))
	check(history.JSON200 != nil && len(history.JSON200.Events) == 11, string(history.Body))
	created, entered := history.JSON200.Events[0], history.JSON200.Events[2]
	check(created.State.Status == ledger.Created && entered.State == nil, string(history.Body))

	event := must(client.GetEventWithResponse(ctx, created.EventId))
	check(event.JSON200 != nil && event.JSON200.EventId == created.EventId, string(event.Body))
	check(event.JSON200.ResourceType == ledger.PAYMENTRESOURCE, string(event.Body))
	check(event.JSON200.ParentResourceExternalId == nil, string(event.Body))
	noEvent := must(client.GetEventWithResponse(ctx, 9007199254740993))
	check(strings.Contains(noEvent.ApplicationproblemJSON404.Detail, "9007199254740993"), string(noEvent.Body))

	report := must(client.GetTransactionReportWithResponse(ctx, &ledger.GetTransactionReportParams{
		AccountId: &[]string{account},
		GroupBy:   &[]ledger.GroupColumn{ledger.GROUPBYTYPE, ledger.GROUPBYSTATE},
	}))
	check(report.JSON200 != nil, string(report.Body))
	group := report.JSON200.Groups[0]
	check(*group.Type == ledger.DISPUTE && *group.State == ledger.NeedsResponse, string(report.Body))

	listed := must(client.ListGatewayPerformanceWithResponse(ctx, &ledger.ListGatewayPerformanceParams{
		FromDate: openapi_types.Date{Time: fromDate},
		ToDate:   openapi_types.Date{Time: time.Date(2024, 3, 31, 0, 0, 0, 0, time.UTC)},
	}))
	check(listed.JSON200 != nil && len(*listed.JSON200) == 3, string(listed.Body))
	numbered, demo, unknown := (*listed.JSON200)[0], (*listed.JSON200)[1], (*listed.JSON200)[2]
	check(must(numbered.GatewayAccountId.AsGatewayPerformanceGatewayAccountId0()) == 57, string(listed.Body))
	check(float64(numbered.AverageAmount) == 16777217, numbered.AverageAmount)
	check(must(demo.GatewayAccountId.AsGatewayPerformanceGatewayAccountId1()) == "demo", string(listed.Body))
	check(unknown.GatewayAccountId == nil, string(listed.Body))

	payout := must(client.GetPayoutWithResponse(ctx, "plain-payout", &ledger.GetPayoutParams{GatewayAccountId: &plainAccount}))
	check(payout.JSON200 != nil && payout.JSON200.State.Status == ledger.PAYOUTINTRANSIT, string(payout.Body))
	check(payout.JSON200.PaidOutDate == nil, string(payout.Body))

	consistent := true
	active := must(client.GetAgreementWithResponse(ctx, "demo-agreement", &ledger.GetAgreementParams{
		AccountId:   &account,
		XConsistent: &consistent,
	}))
	agreement := active.JSON200
	check(agreement != nil && agreement.Status == ledger.AGREEMENTACTIVE, string(active.Body))
	check(agreement.PaymentInstrument.CardDetails.CardBrand == "visa", string(active.Body))
	check(agreement.CancelledDate == nil, string(active.Body))

	agreements := must(client.SearchAgreementsWithResponse(ctx, &ledger.SearchAgreementsParams{
		AccountId: &[]string{account, plainAccount},
	}))
	check(agreements.JSON200 != nil && len(agreements.JSON200.Results) == 2, string(agreements.Body))
	plainAgreement := agreements.JSON200.Results[0]
	check(plainAgreement.ExternalId == "plain-agreement", string(agreements.Body))
	check(plainAgreement.PaymentInstrument == nil && plainAgreement.Reference == nil, string(agreements.Body))
	check(agreements.JSON200.Results[1].ExternalId == "demo-agreement", string(agreements.Body))

	agreed := must(client.ListAgreementEventsWithResponse(ctx, "demo-agreement", &ledger.ListAgreementEventsParams{AccountId: &account}))
	check(agreed.JSON200 != nil && len(agreed.JSON200.Events) == 4, string(agreed.Body))
	check(agreed.JSON200.Events[1].ResourceType == ledger.PAYMENTINSTRUMENTEVENT, string(agreed.Body))

	addedId, amount := ledger.LenientIdentifier{}, ledger.LenientPence{}
	check(addedId.FromLenientIdentifier0(addedAccount) == nil && amount.FromLenientPence0(4250) == nil)
	message := ledger.EventMessage{
		EventType:          "PAYMENT_CREATED",
		ResourceType:       ledger.PAYMENTRESOURCE,
		ResourceExternalId: rand.Text(),
		Timestamp:          time.Date(2024, 3, 5, 9, 14, 22, 0, time.UTC),
		EventDetails:       &ledger.EventDetails{GatewayAccountId: &addedId, Amount: &amount},
	}
	one, list := ledger.EventMessages{}, ledger.EventMessages{}
	check(one.FromEventMessage(message) == nil && list.FromEventMessageList([]ledger.EventMessage{message}) == nil)
	added := must(client.AddEventsWithResponse(ctx, one))
	check(added.JSON202 != nil && len(added.JSON202.Events) == 1, string(added.Body))
	eventId := added.JSON202.Events[0].EventId
	check(added.JSON202.Events[0].IsNew && eventId != nil, string(added.Body))

	stored := must(client.GetTransactionWithResponse(ctx, message.ResourceExternalId, &ledger.GetTransactionParams{AccountId: &addedAccount}))
	check(stored.JSON200 != nil, string(stored.Body))
	check(*must(stored.JSON200.AsPayment()).Amount == 4250, string(stored.Body))

	again := must(client.AddEventsWithResponse(ctx, list))
	check(again.JSON202 != nil && len(again.JSON202.Events) == 1, string(again.Body))
	check(!again.JSON202.Events[0].IsNew && *again.JSON202.Events[0].EventId == *eventId, string(again.Body))
}

func callFeatures(url string) {
	client := must(features.NewClientWithResponses(url))
	customer := rand.Text()
	expiresAt := time.Date(2037, 3, 5, 9, 14, 22, 18e6, time.UTC)

	added := must(client.AddFeatureWithResponse(ctx, "customer", customer, "zebra ü", &features.AddFeatureParams{ExpiresAt: &expiresAt}))
	check(added.JSON201 != nil && added.JSON201.Result, string(added.Body))

	past := time.Unix(0, 0)
	late := must(client.AddFeatureWithResponse(ctx, "customer", customer, "late", &features.AddFeatureParams{ExpiresAt: &past}))
	check(late.StatusCode() == 400, late.Status())
	check(string(late.Body) == "query parameter expires_at must be in the future\n", string(late.Body))

	changes := features.FeatureChanges{}
	for _, name := range []string{"mango", "apple", "apple"} {
		change := features.FeatureChange{Type: features.Add, Resource: "customer", Id: customer, Feature: name}
		changes.Changes = append(changes.Changes, change)
	}
	changed := must(client.ChangeFeaturesWithResponse(ctx, changes))
	check(changed.JSON200 != nil && len(changed.JSON200.Results) == 3, string(changed.Body))
	check(changed.JSON200.Results[1].Changed && !changed.JSON200.Results[2].Changed, string(changed.Body))

	listed := must(client.ListFeaturesWithResponse(ctx, "customer", customer, nil))
	check(slices.Equal(*listed.JSON200, []string{"zebra ü", "mango", "apple"}), string(listed.Body))

	etag := listed.HTTPResponse.Header.Get("ETag")
	replaced := must(client.ReplaceFeaturesWithResponse(
		ctx, "customer", customer, &features.ReplaceFeaturesParams{IfMatch: &etag}, []string{"yak", "mango", "bee"},
	))
	check(slices.Equal(*replaced.JSON200, []string{"mango", "yak", "bee"}), string(replaced.Body))

	checked := must(client.HasFeaturesWithResponse(ctx, features.Query{
		Resources: []features.ResourceName{{Resource: "customer", Id: customer}},
		Features:  []string{"bee", "zebra ü"},
	}))
	check(slices.Equal(checked.JSON200.Results[0].Has, []bool{true, false}), string(checked.Body))

	key := "customer/" + customer
	evaluation := features.EvaluationRequest{Context: &features.EvaluationContext{TargetingKey: &key}}
	flag := must(client.EvaluateFlagWithResponse(ctx, "bee", evaluation))
	check(flag.JSON200.Value && flag.JSON200.Reason == features.TARGETINGMATCH, string(flag.Body))

	removed := must(client.RemoveFeatureWithResponse(ctx, "customer", customer, "bee"))
	check(removed.StatusCode() == 204, removed.Status())

	limit := 1000
	feed := must(client.ListChangesWithResponse(ctx, &features.ListChangesParams{Limit: &limit}))
	check(feed.JSON200 != nil, string(feed.Body))
	ofOthers := func(record features.ChangeRecord) bool { return record.Id != customer }
	records := slices.DeleteFunc(feed.JSON200.Changes, ofOthers)
	first, last := records[0], records[len(records)-1]
	check(first.Type == features.ChangeRecordTypeAdded && first.ExpiresAt.Equal(expiresAt), first)
	check(last.Type == features.ChangeRecordTypeRemoved && last.ExpiresAt == nil, last)
}

func main() {
	callLedger(os.Args[1])
	callFeatures(os.Args[2])
}

func must[Value any](value Value, err error) Value {
	check(err == nil, err)
	return value
}

func check(ok bool, details ...any) {
	if !ok {
		panic(fmt.Sprint(details...))
	}
}
