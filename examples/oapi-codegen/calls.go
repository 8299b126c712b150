package main

import (
	"context"
	"crypto/rand"
	"encoding/json"
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
	yes := true
	getTransaction := func(id string, account string) *ledger.GetTransactionResponse {
		return must(client.GetTransactionWithResponse(ctx, id, &ledger.GetTransactionParams{AccountId: &account}))
	}

	payment := must(getTransaction("demo-success", account).JSON200.ValueByDiscriminator())
	show("payment", payment)
	show("missing", getTransaction("demo-missing", account).ApplicationproblemJSON404)
	plain := must(getTransaction("plain-refund", plainAccount).JSON200.ValueByDiscriminator())
	show("plain", plain)

	state, fromDate := ledger.Success, time.Date(2024, 3, 1, 0, 0, 0, 0, time.UTC)
	searched := must(client.SearchTransactionsWithResponse(ctx, &ledger.SearchTransactionsParams{
		AccountId:     &[]string{account, "other"},
		PaymentStates: &[]ledger.Status{ledger.Success, ledger.Declined},
		RefundStates:  &[]ledger.Status{ledger.Success},
		State:         &state,
		FromDate:      &fromDate,
	}))
	found := valuesOf(searched.JSON200.Results)
	show("found", map[string]any{"results": found})
	disputes := ledger.DISPUTE
	related := must(client.ListChildTransactionsWithResponse(ctx, "demo-disputed", &ledger.ListChildTransactionsParams{
		GatewayAccountId: account,
		TransactionType:  &disputes,
	}))
	children := valuesOf(related.JSON200.Transactions)
	show("children", map[string]any{"transactions": children})
	kinds := []string{}
	for _, value := range append(append(found, children...), payment, plain) {
		kinds = append(kinds, strings.TrimPrefix(fmt.Sprintf("%T", value), "ledger."))
	}
	show("kinds", kinds)

	history := must(client.ListTransactionEventsWithResponse(ctx, "demo-success", &ledger.ListTransactionEventsParams{
		GatewayAccountId: account,
		IncludeAllEvents: &yes,
	}))
	show("history", history.JSON200)
	show("event", must(client.GetEventWithResponse(ctx, history.JSON200.Events[0].EventId)).JSON200)
	show("no_event", must(client.GetEventWithResponse(ctx, 9007199254740993)).ApplicationproblemJSON404)

	report := must(client.GetTransactionReportWithResponse(ctx, &ledger.GetTransactionReportParams{
		AccountId: &[]string{account},
		GroupBy:   &[]ledger.GroupColumn{ledger.GROUPBYTYPE, ledger.GROUPBYSTATE},
	}))
	show("group", report.JSON200.Groups[0])
	accounts := must(client.ListGatewayPerformanceWithResponse(ctx, &ledger.ListGatewayPerformanceParams{
		FromDate: openapi_types.Date{Time: fromDate},
		ToDate:   openapi_types.Date{Time: time.Date(2024, 3, 31, 0, 0, 0, 0, time.UTC)},
	}))
	show("accounts", accounts.JSON200)
	payout := must(client.GetPayoutWithResponse(ctx, "plain-payout", &ledger.GetPayoutParams{GatewayAccountId: &plainAccount}))
	show("payout", payout.JSON200)

	agreement := must(client.GetAgreementWithResponse(ctx, "demo-agreement", &ledger.GetAgreementParams{
		AccountId:   &account,
		XConsistent: &yes,
	}))
	show("agreement", agreement.JSON200)
	ofBoth := ledger.SearchAgreementsParams{AccountId: &[]string{account, plainAccount}}
	show("agreements", must(client.SearchAgreementsWithResponse(ctx, &ofBoth)).JSON200)
	ofOne := ledger.ListAgreementEventsParams{AccountId: &account}
	show("agreed", must(client.ListAgreementEventsWithResponse(ctx, "demo-agreement", &ofOne)).JSON200)

	addedId, amount := ledger.LenientIdentifier{}, ledger.LenientPence{}
	check(addedId.FromLenientIdentifier0(addedAccount))
	check(amount.FromLenientPence0(4250))
	message := ledger.EventMessage{
		EventType:          "PAYMENT_CREATED",
		ResourceType:       ledger.PAYMENTRESOURCE,
		ResourceExternalId: rand.Text(),
		Timestamp:          time.Date(2024, 3, 5, 9, 14, 22, 0, time.UTC),
		EventDetails:       &ledger.EventDetails{GatewayAccountId: &addedId, Amount: &amount},
	}
	one, list := ledger.EventMessages{}, ledger.EventMessages{}
	check(one.FromEventMessage(message))
	check(list.FromEventMessageList([]ledger.EventMessage{message}))
	added := must(client.AddEventsWithResponse(ctx, one))
	show("added", []any{added.StatusCode(), added.JSON202})
	show("stored", must(getTransaction(message.ResourceExternalId, addedAccount).JSON200.AsPayment()))
	show("again", must(client.AddEventsWithResponse(ctx, list)).JSON202)
}

func callFeatures(url string) {
	client := must(features.NewClientWithResponses(url))
	customer := rand.Text()

	expiresAt, past := time.Date(2037, 3, 5, 9, 14, 22, 18e6, time.UTC), time.Unix(0, 0)
	added := must(client.AddFeatureWithResponse(ctx, "customer", customer, "zebra ü", &features.AddFeatureParams{ExpiresAt: &expiresAt}))
	show("feature", []any{added.StatusCode(), added.JSON201})
	late := must(client.AddFeatureWithResponse(ctx, "customer", customer, "late", &features.AddFeatureParams{ExpiresAt: &past}))
	show("late", []any{late.StatusCode(), string(late.Body)})

	changes := features.FeatureChanges{}
	for _, name := range []string{"mango", "apple", "apple"} {
		change := features.FeatureChange{Type: features.Add, Resource: "customer", Id: customer, Feature: name}
		changes.Changes = append(changes.Changes, change)
	}
	show("changed", must(client.ChangeFeaturesWithResponse(ctx, changes)).JSON200)
	listed := must(client.ListFeaturesWithResponse(ctx, "customer", customer, nil))
	show("listed", listed.JSON200)
	etag := listed.HTTPResponse.Header.Get("ETag")
	replaced := must(client.ReplaceFeaturesWithResponse(
		ctx, "customer", customer, &features.ReplaceFeaturesParams{IfMatch: &etag}, []string{"yak", "mango", "bee"},
	))
	show("replaced", replaced.JSON200)
	checked := must(client.HasFeaturesWithResponse(ctx, features.Query{
		Resources: []features.ResourceName{{Resource: "customer", Id: customer}},
		Features:  []string{"bee", "zebra ü"},
	}))
	show("checked", checked.JSON200)
	key := "customer/" + customer
	evaluation := features.EvaluationRequest{Context: &features.EvaluationContext{TargetingKey: &key}}
	show("flag", must(client.EvaluateFlagWithResponse(ctx, "bee", evaluation)).JSON200)
	show("removed", must(client.RemoveFeatureWithResponse(ctx, "customer", customer, "bee")).StatusCode())

	limit := 1000
	feed := must(client.ListChangesWithResponse(ctx, &features.ListChangesParams{Limit: &limit}))
	ofOthers := func(record features.ChangeRecord) bool { return record.Id != customer }
	records := slices.DeleteFunc(feed.JSON200.Changes, ofOthers)
	show("records", []any{records[0], records[len(records)-1]})
}

func main() {
	callLedger(os.Args[1])
	callFeatures(os.Args[2])
}

// A union keeps the JSON that it got. Its value has only the members that its type declares.
func valuesOf[View interface{ ValueByDiscriminator() (any, error) }](views []View) []any {
	values := []any{}
	for _, view := range views {
		values = append(values, must(view.ValueByDiscriminator()))
	}
	return values
}

func show(step string, value any) { fmt.Println(step, string(must(json.Marshal(value)))) }

func must[Value any](value Value, err error) Value {
	check(err)
	return value
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}
