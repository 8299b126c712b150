package main

import (
	"crypto/rand"
	"errors"
	"net/http"
	"reflect"
	"slices"
	"time"

	"example/features"
	"example/ledger"
)

func callLedger(url string) {
	configuration := ledger.NewConfiguration()
	configuration.Servers = ledger.ServerConfigurations{{URL: url}}
	client := ledger.NewAPIClient(configuration)
	transactions, events := client.TransactionsAPI, client.EventsAPI
	_, _, err := events.GetEvent(ctx, 9007199254740991).Execute()
	var failure *ledger.GenericOpenAPIError
	errors.As(err, &failure)
	show("missing", failure.Model().(ledger.Problem))
	found := of(transactions.SearchTransactions(ctx).
		AccountId([]string{"demo", "plain"}).
		PaymentStates([]ledger.Status{ledger.SUCCESS, ledger.ERROR}).
		RefundStates([]ledger.Status{ledger.SUCCESS, ledger.SUBMITTED}).
		DisputeStates([]ledger.Status{ledger.NEEDS_RESPONSE}).
		FromDate(time.Date(2024, 3, 1, 0, 0, 0, 0, time.UTC)).
		LimitTotal(true).
		Execute())
	show("found", found)
	kinds := []string{}
	for _, view := range found.Results {
		kinds = append(kinds, reflect.TypeOf(view.GetActualInstance()).Elem().Name())
	}
	show("kinds", kinds)
	march := client.ReportsAPI.ListGatewayPerformance(ctx).FromDate("2024-03-01").ToDate("2024-03-31")
	show("accounts", of(march.Execute()))
	agreements := client.AgreementsAPI
	agreement := agreements.GetAgreement(ctx, "demo-agreement").AccountId("demo").XConsistent(true)
	show("agreement", of(agreement.Execute()))
	show("agreements", of(agreements.SearchAgreements(ctx).AccountId([]string{"demo", "plain"}).Execute()))

	details := ledger.NewEventDetails()
	details.SetGatewayAccountId(ledger.LenientIdentifier{String: ledger.PtrString("added")})
	details.SetAmount(ledger.LenientPence{Int64: ledger.PtrInt64(4250)})
	createdAt := time.Date(2024, 3, 5, 9, 14, 22, 0, time.UTC)
	message := ledger.NewEventMessage("PAYMENT_CREATED", ledger.PAYMENT_RESOURCE, rand.Text(), createdAt)
	message.SetEventDetails(*details)
	one := ledger.EventMessages{EventMessage: message}
	show("added", withStatus(events.AddEvents(ctx).EventMessages(one).Execute()))
	show("stored", of(transactions.GetTransaction(ctx, message.ResourceExternalId).AccountId("added").Execute()))
	list := ledger.EventMessages{ArrayOfEventMessage: &[]ledger.EventMessage{*message}}
	show("again", of(events.AddEvents(ctx).EventMessages(list).Execute()))
}

func callFeatures(url string) {
	configuration := features.NewConfiguration()
	configuration.Servers = features.ServerConfigurations{{URL: url}}
	client := features.NewAPIClient(configuration)
	storage, bulk := client.FeaturesAPI, client.ChangesAPI
	customer := rand.Text()
	expiresAt := time.Date(2037, 3, 5, 9, 14, 22, 18e6, time.UTC)
	zebra := storage.AddFeature(ctx, "customer", customer, "zebra ü").ExpiresAt(expiresAt)
	show("feature", withStatus(zebra.Execute()))
	_, response, err := storage.AddFeature(ctx, "customer", customer, "late").ExpiresAt(time.Unix(0, 0)).Execute()
	var failure *features.GenericOpenAPIError
	errors.As(err, &failure)
	show("late", []any{response.StatusCode, string(failure.Body())})

	changes := features.FeatureChanges{}
	for _, name := range []string{"mango", "apple", "apple"} {
		changes.Changes = append(changes.Changes, *features.NewFeatureChange("add", "customer", customer, name))
	}
	show("changed", of(bulk.ChangeFeatures(ctx).FeatureChanges(changes).Execute()))
	listed, response, err := storage.ListFeatures(ctx, "customer", customer).Execute()
	show("listed", must(listed, err))
	replacement := storage.ReplaceFeatures(ctx, "customer", customer).RequestBody([]string{"yak", "mango", "bee"})
	show("replaced", of(replacement.IfMatch(response.Header.Get("ETag")).Execute()))
	evaluation := features.NewEvaluationRequest()
	evaluation.Context = features.NewEvaluationContext()
	evaluation.Context.SetTargetingKey("customer/" + customer)
	show("flag", of(client.FlagsAPI.EvaluateFlag(ctx, "bee").EvaluationRequest(*evaluation).Execute()))
	show("removed", must(storage.RemoveFeature(ctx, "customer", customer, "bee").Execute()).StatusCode)
	feed := of(bulk.ListChanges(ctx).Limit(1000).Execute())
	records := slices.DeleteFunc(feed.Changes, func(record features.ChangeRecord) bool { return record.Id != customer })
	show("records", []any{records[0], records[len(records)-1]})
}

// What a call got.
func of[Value any](value Value, _ *http.Response, err error) Value { return must(value, err) }

func withStatus[Value any](value Value, response *http.Response, err error) []any {
	return []any{response.StatusCode, must(value, err)}
}
