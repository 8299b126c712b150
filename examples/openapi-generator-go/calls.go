package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/http"
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
	transactions, events := client.TransactionsAPI, client.EventsAPI
	problemOf := func(err error) any {
		var failure *ledger.GenericOpenAPIError
		errors.As(err, &failure)
		return failure.Model().(ledger.Problem)
	}

	payment := of(transactions.GetTransaction(ctx, "demo-success").AccountId("demo").Execute()).show("payment")
	_, _, err := transactions.GetTransaction(ctx, "demo-missing").AccountId("demo").Execute()
	show("missing", problemOf(err))
	plain := of(transactions.GetTransaction(ctx, "plain-refund").AccountId("plain").Execute()).show("plain")
	found := of(transactions.SearchTransactions(ctx).
		AccountId([]string{"demo", "other"}).
		PaymentStates([]ledger.Status{ledger.SUCCESS, ledger.ERROR}).
		RefundStates([]ledger.Status{ledger.SUCCESS}).
		DisputeStates([]ledger.Status{ledger.NEEDS_RESPONSE}).
		FromDate(time.Date(2024, 3, 1, 0, 0, 0, 0, time.UTC)).
		LimitTotal(true).
		Execute()).show("found")
	kinds := []string{}
	for _, view := range append(found.Results, *payment, *plain) {
		kinds = append(kinds, strings.TrimPrefix(fmt.Sprintf("%T", view.GetActualInstance()), "*ledger."))
	}
	show("kinds", kinds)
	_, _, err = events.GetEvent(ctx, 9007199254740993).Execute()
	show("no_event", problemOf(err))
	of(client.ReportsAPI.ListGatewayPerformance(ctx).
		FromDate("2024-03-01").ToDate("2024-03-31").Execute()).show("accounts")
	agreements := client.AgreementsAPI
	of(agreements.GetAgreement(ctx, "demo-agreement").AccountId("demo").XConsistent(true).Execute()).show("agreement")
	of(agreements.SearchAgreements(ctx).AccountId([]string{"demo", "plain"}).Execute()).show("agreements")

	details := ledger.NewEventDetails()
	details.SetGatewayAccountId(ledger.LenientIdentifier{String: ledger.PtrString("added")})
	details.SetAmount(ledger.LenientPence{Int64: ledger.PtrInt64(4250)})
	createdAt := time.Date(2024, 3, 5, 9, 14, 22, 0, time.UTC)
	message := ledger.NewEventMessage("PAYMENT_CREATED", ledger.PAYMENT_RESOURCE, rand.Text(), createdAt)
	message.SetEventDetails(*details)
	of(events.AddEvents(ctx).EventMessages(ledger.EventMessages{EventMessage: message}).Execute()).showStatus("added")
	of(transactions.GetTransaction(ctx, message.ResourceExternalId).AccountId("added").Execute()).show("stored")
	list := ledger.EventMessages{ArrayOfEventMessage: &[]ledger.EventMessage{*message}}
	of(events.AddEvents(ctx).EventMessages(list).Execute()).show("again")
}

func callFeatures(url string) {
	configuration := features.NewConfiguration()
	configuration.Servers = features.ServerConfigurations{{URL: url}}
	client := features.NewAPIClient(configuration)
	storage, bulk := client.FeaturesAPI, client.ChangesAPI
	customer := rand.Text()
	expiresAt := time.Date(2037, 3, 5, 9, 14, 22, 18e6, time.UTC)
	of(storage.AddFeature(ctx, "customer", customer, "zebra ü").ExpiresAt(expiresAt).Execute()).showStatus("feature")
	_, response, err := storage.AddFeature(ctx, "customer", customer, "late").ExpiresAt(time.Unix(0, 0)).Execute()
	var failure *features.GenericOpenAPIError
	errors.As(err, &failure)
	show("late", []any{response.StatusCode, string(failure.Body())})

	changes := features.FeatureChanges{}
	for _, name := range []string{"mango", "apple", "apple"} {
		changes.Changes = append(changes.Changes, *features.NewFeatureChange("add", "customer", customer, name))
	}
	of(bulk.ChangeFeatures(ctx).FeatureChanges(changes).Execute()).show("changed")
	listed, response, err := storage.ListFeatures(ctx, "customer", customer).Execute()
	of(listed, response, err).show("listed")
	of(storage.ReplaceFeatures(ctx, "customer", customer).
		IfMatch(response.Header.Get("ETag")).RequestBody([]string{"yak", "mango", "bee"}).Execute()).show("replaced")
	evaluation := features.NewEvaluationRequest()
	evaluation.Context = features.NewEvaluationContext()
	evaluation.Context.SetTargetingKey("customer/" + customer)
	of(client.FlagsAPI.EvaluateFlag(ctx, "bee").EvaluationRequest(*evaluation).Execute()).show("flag")
	show("removed", must(storage.RemoveFeature(ctx, "customer", customer, "bee").Execute()).StatusCode)
	feed := of(bulk.ListChanges(ctx).Limit(1000).Execute()).value
	records := slices.DeleteFunc(feed.Changes, func(record features.ChangeRecord) bool { return record.Id != customer })
	show("records", []any{records[0], records[len(records)-1]})
}

func main() {
	callLedger(os.Args[1])
	callFeatures(os.Args[2])
}

// What a call got.
type result[Value any] struct {
	value  Value
	status int
}

func of[Value any](value Value, response *http.Response, err error) result[Value] {
	return result[Value]{must(value, err), response.StatusCode}
}

func (got result[Value]) show(step string) Value {
	show(step, got.value)
	return got.value
}

func (got result[Value]) showStatus(step string) { show(step, []any{got.status, got.value}) }
