package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"example/features"
	"example/ledger"
)

var ctx = context.Background()

func callLedger(url string) {
	configuration := ledger.NewConfiguration()
	configuration.Servers = ledger.ServerConfigurations{{URL: url}}
	client := ledger.NewAPIClient(configuration)
	transactions := client.TransactionsAPI

	view, _, err := transactions.GetTransaction(ctx, "demo-success").AccountId("demo").Execute()
	check(err == nil, err)
	payment := view.Payment
	check(payment != nil && *payment.Amount == 4250 && payment.State.Status == ledger.SUCCESS, view)
	check(payment.CreatedDate.Equal(time.Date(2024, 3, 5, 9, 14, 22, 18e6, time.UTC)), payment.CreatedDate)
	settlement := payment.SettlementSummary
	check(settlement.CaptureSubmitTime.Get() == nil && *settlement.CapturedDate.Get() == "2024-03-05", settlement)
	check(payment.RefundSummary.UserExternalId.Get() == nil && payment.TotalAmount == nil, payment)

	_, _, err = transactions.GetTransaction(ctx, "demo-missing").AccountId("demo").Execute()
	var failure *ledger.GenericOpenAPIError
	check(errors.As(err, &failure), err)
	problem, isProblem := failure.Model().(ledger.Problem)
	check(isProblem && problem.Status == 404, string(failure.Body()))
	check(problem.Detail == "Transaction with id [demo-missing] not found", problem.Detail)

	found, _, err := transactions.SearchTransactions(ctx).
		AccountId([]string{"demo", "other"}).
		PaymentStates([]ledger.Status{ledger.SUCCESS, ledger.DECLINED}).
		RefundStates([]ledger.Status{ledger.SUCCESS}).
		State(ledger.SUCCESS).
		FromDate(time.Date(2024, 3, 1, 0, 0, 0, 0, time.UTC)).
		Execute()
	check(err == nil && len(found.Results) == 3, err)
	check(found.Results[0].Payment.TransactionId == "demo-disputed", found)
	check(*found.Results[1].Refund.PaymentDetails.Reference == "fishing-88", found)
	check(found.Results[2].Payment.TransactionId == "demo-success", found)

	children, _, err := transactions.ListChildTransactions(ctx, "demo-disputed").
		GatewayAccountId("demo").TransactionType(ledger.DISPUTE).Execute()
	check(err == nil && len(children.Transactions) == 1, err)
	check(*children.Transactions[0].Dispute.Reason == "unrecognised", children)

	plain, _, err := transactions.GetTransaction(ctx, "plain-refund").AccountId("plain").Execute()
	check(err == nil && plain.Refund != nil && plain.Dispute == nil, err)

	history, _, err := transactions.ListTransactionEvents(ctx, "demo-success").
		GatewayAccountId("demo").IncludeAllEvents(true).Execute()
	check(err == nil && len(history.Events) == 11, err)
	created, entered := history.Events[0], history.Events[2]
	check(created.State.Get().Status == ledger.CREATED && entered.State.Get() == nil, history)

	event, _, err := client.EventsAPI.GetEvent(ctx, created.EventId).Execute()
	check(err == nil && event.EventId == created.EventId, err)
	check(event.ResourceType == ledger.PAYMENT_RESOURCE && event.ParentResourceExternalId.Get() == nil, event)
	_, _, err = client.EventsAPI.GetEvent(ctx, 9007199254740993).Execute()
	check(errors.As(err, &failure) && strings.Contains(string(failure.Body()), "9007199254740993"), err)

	report, _, err := client.ReportsAPI.GetTransactionReport(ctx).AccountId([]string{"demo"}).
		GroupBy([]ledger.GroupColumn{ledger.GROUP_BY_TYPE, ledger.GROUP_BY_STATE}).Execute()
	check(err == nil, err)
	check(*report.Groups[0].Type == ledger.DISPUTE && *report.Groups[0].State == ledger.NEEDS_RESPONSE, report)

	accounts, _, err := client.ReportsAPI.ListGatewayPerformance(ctx).
		FromDate("2024-03-01").ToDate("2024-03-31").Execute()
	check(err == nil && len(accounts) == 3, err)
	numbered, demo, unknown := accounts[0], accounts[1], accounts[2]
	check(*numbered.GatewayAccountId.Get().Int32 == 57 && float64(numbered.AverageAmount) == 16777217, numbered)
	check(*demo.GatewayAccountId.Get().String == "demo" && demo.AverageAmount == 2725, demo)
	check(unknown.GatewayAccountId.Get() == nil, unknown)

	payout, _, err := client.PayoutsAPI.GetPayout(ctx, "plain-payout").GatewayAccountId("plain").Execute()
	check(err == nil && payout.State.Status == ledger.PAYOUT_IN_TRANSIT && payout.PaidOutDate.Get() == nil, err)

	agreement, _, err := client.AgreementsAPI.GetAgreement(ctx, "demo-agreement").
		AccountId("demo").XConsistent(true).Execute()
	check(err == nil && agreement.Status == ledger.AGREEMENT_ACTIVE && agreement.CancelledDate.Get() == nil, err)
	check(agreement.PaymentInstrument.Get().CardDetails.Get().CardBrand == "visa", agreement)

	agreements, _, err := client.AgreementsAPI.SearchAgreements(ctx).AccountId([]string{"demo", "plain"}).Execute()
	check(err == nil && len(agreements.Results) == 2, err)
	plainAgreement := agreements.Results[0]
	check(plainAgreement.ExternalId == "plain-agreement", agreements)
	check(plainAgreement.PaymentInstrument.Get() == nil && plainAgreement.Reference.Get() == nil, agreements)
	check(agreements.Results[1].ExternalId == "demo-agreement", agreements)

	agreed, _, err := client.AgreementsAPI.ListAgreementEvents(ctx, "demo-agreement").AccountId("demo").Execute()
	check(err == nil && len(agreed.Events) == 4, err)
	check(agreed.Events[1].ResourceType == ledger.PAYMENT_INSTRUMENT_EVENT, agreed)

	details := ledger.NewEventDetails()
	details.SetGatewayAccountId(ledger.LenientIdentifier{String: ledger.PtrString("added")})
	details.SetAmount(ledger.LenientPence{Int64: ledger.PtrInt64(4250)})
	createdAt := time.Date(2024, 3, 5, 9, 14, 22, 0, time.UTC)
	message := ledger.NewEventMessage("PAYMENT_CREATED", ledger.PAYMENT_RESOURCE, rand.Text(), createdAt)
	message.SetEventDetails(*details)
	added, response, err := client.EventsAPI.AddEvents(ctx).
		EventMessages(ledger.EventMessages{EventMessage: message}).Execute()
	check(err == nil && response.StatusCode == 202 && len(added.Events) == 1, err)
	eventId := added.Events[0].EventId.Get()
	check(added.Events[0].IsNew && eventId != nil, added)

	stored, _, err := transactions.GetTransaction(ctx, message.ResourceExternalId).AccountId("added").Execute()
	check(err == nil && *stored.Payment.Amount == 4250, err)

	again, _, err := client.EventsAPI.AddEvents(ctx).
		EventMessages(ledger.EventMessages{ArrayOfEventMessage: &[]ledger.EventMessage{*message}}).Execute()
	check(err == nil && len(again.Events) == 1, err)
	check(!again.Events[0].IsNew && *again.Events[0].EventId.Get() == *eventId, again)
}

func callFeatures(url string) {
	configuration := features.NewConfiguration()
	configuration.Servers = features.ServerConfigurations{{URL: url}}
	client := features.NewAPIClient(configuration)
	storage, bulk := client.FeaturesAPI, client.ChangesAPI
	customer := rand.Text()
	expiresAt := time.Date(2037, 3, 5, 9, 14, 22, 18e6, time.UTC)

	added, response, err := storage.AddFeature(ctx, "customer", customer, "zebra ü").ExpiresAt(expiresAt).Execute()
	check(err == nil && response.StatusCode == 201 && added.Result, err)

	_, _, err = storage.AddFeature(ctx, "customer", customer, "late").ExpiresAt(time.Unix(0, 0)).Execute()
	var failure *features.GenericOpenAPIError
	check(errors.As(err, &failure), err)
	check(string(failure.Body()) == "query parameter expires_at must be in the future\n", string(failure.Body()))

	changes := features.FeatureChanges{}
	for _, name := range []string{"mango", "apple", "apple"} {
		changes.Changes = append(changes.Changes, *features.NewFeatureChange("add", "customer", customer, name))
	}
	changed, _, err := bulk.ChangeFeatures(ctx).FeatureChanges(changes).Execute()
	check(err == nil && len(changed.Results) == 3, err)
	check(changed.Results[1].Changed && !changed.Results[2].Changed, changed)

	listed, response, err := storage.ListFeatures(ctx, "customer", customer).Execute()
	check(err == nil && slices.Equal(listed, []string{"zebra ü", "mango", "apple"}), err, listed)

	replaced, _, err := storage.ReplaceFeatures(ctx, "customer", customer).
		IfMatch(response.Header.Get("ETag")).RequestBody([]string{"yak", "mango", "bee"}).Execute()
	check(err == nil && slices.Equal(replaced, []string{"mango", "yak", "bee"}), err, replaced)

	resources := []features.ResourceName{*features.NewResourceName("customer", customer)}
	query := *features.NewQuery(resources, []string{"bee", "zebra ü"})
	checked, _, err := storage.HasFeatures(ctx).Query(query).Execute()
	check(err == nil && slices.Equal(checked.Results[0].Has, []bool{true, false}), err, checked)

	evaluation := features.NewEvaluationRequest()
	evaluation.Context = features.NewEvaluationContext()
	evaluation.Context.SetTargetingKey("customer/" + customer)
	flag, _, err := client.FlagsAPI.EvaluateFlag(ctx, "bee").EvaluationRequest(*evaluation).Execute()
	check(err == nil && flag.Value && flag.Reason == "TARGETING_MATCH", err, flag)

	response, err = storage.RemoveFeature(ctx, "customer", customer, "bee").Execute()
	check(err == nil && response.StatusCode == 204, err)

	feed, _, err := bulk.ListChanges(ctx).Limit(1000).Execute()
	check(err == nil, err)
	records := slices.DeleteFunc(feed.Changes, func(record features.ChangeRecord) bool { return record.Id != customer })
	first, last := records[0], records[len(records)-1]
	check(first.Type == "added" && first.ExpiresAt.Equal(expiresAt), first)
	check(last.Type == "removed" && last.ExpiresAt == nil, last)
}

func main() {
	callLedger(os.Args[1])
	callFeatures(os.Args[2])
}

func check(ok bool, details ...any) {
	if !ok {
		panic(fmt.Sprint(details...))
	}
}
