package main

import (
	"crypto/rand"
	"reflect"
	"slices"
	"time"

	openapi_types "github.com/oapi-codegen/runtime/types"

	"example/features"
	"example/ledger"
)

func callLedger(url string) {
	client := must(ledger.NewClientWithResponses(url))
	account, yes := "demo", true
	show("missing", must(client.GetEventWithResponse(ctx, 9007199254740991, nil)).ApplicationproblemJSON404)
	fromDate := time.Date(2024, 3, 1, 0, 0, 0, 0, time.UTC)
	searched := must(client.SearchTransactionsWithResponse(ctx, &ledger.SearchTransactionsParams{
		AccountId:     &[]string{account, "plain"},
		PaymentStates: &[]ledger.Status{ledger.Success, ledger.Error},
		RefundStates:  &[]ledger.Status{ledger.Success, ledger.Submitted},
		DisputeStates: &[]ledger.Status{ledger.NeedsResponse},
		FromDate:      &fromDate,
		LimitTotal:    &yes,
	}))
	found, kinds := []any{}, []string{}
	for _, view := range searched.JSON200.Results {
		// A union keeps the JSON that it got. Its value has only the members that its type declares.
		value := must(view.ValueByDiscriminator())
		found, kinds = append(found, value), append(kinds, reflect.TypeOf(value).Name())
	}
	show("found", map[string]any{"results": found})
	show("kinds", kinds)
	accounts := must(client.ListGatewayPerformanceWithResponse(ctx, &ledger.ListGatewayPerformanceParams{
		FromDate: openapi_types.Date{Time: fromDate},
		ToDate:   openapi_types.Date{Time: time.Date(2024, 3, 31, 0, 0, 0, 0, time.UTC)},
	}))
	show("accounts", accounts.JSON200)
	ofOne := ledger.GetAgreementParams{AccountId: &account, XConsistent: &yes}
	show("agreement", must(client.GetAgreementWithResponse(ctx, "demo-agreement", &ofOne)).JSON200)
	ofBoth := ledger.SearchAgreementsParams{AccountId: &[]string{account, "plain"}}
	show("agreements", must(client.SearchAgreementsWithResponse(ctx, &ofBoth)).JSON200)

	addedId, amount := ledger.LenientIdentifier{}, ledger.LenientPence{}
	one, list := ledger.EventMessages{}, ledger.EventMessages{}
	must(0, addedId.FromLenientIdentifier0("added"))
	must(0, amount.FromLenientPence0(4250))
	message := ledger.EventMessage{
		EventType:          "PAYMENT_CREATED",
		ResourceType:       ledger.PAYMENTRESOURCE,
		ResourceExternalId: rand.Text(),
		Timestamp:          time.Date(2024, 3, 5, 9, 14, 22, 0, time.UTC),
		EventDetails:       &ledger.EventDetails{GatewayAccountId: &addedId, Amount: &amount},
	}
	must(0, one.FromEventMessage(message))
	must(0, list.FromEventMessageList([]ledger.EventMessage{message}))
	added := must(client.AddEventsWithResponse(ctx, nil, one))
	show("added", []any{added.StatusCode(), added.JSON202})
	account = "added"
	ofAdded := ledger.GetTransactionParams{AccountId: &account}
	stored := must(client.GetTransactionWithResponse(ctx, message.ResourceExternalId, &ofAdded))
	show("stored", must(stored.JSON200.AsPayment()))
	show("again", must(client.AddEventsWithResponse(ctx, nil, list)).JSON202)
}

func callFeatures(url string) {
	client := must(features.NewClientWithResponses(url))
	customer := rand.Text()
	addFeature := func(feature string, expiresAt time.Time) *features.AddFeatureResponse {
		params := features.AddFeatureParams{ExpiresAt: &expiresAt}
		return must(client.AddFeatureWithResponse(ctx, "customer", customer, feature, &params))
	}
	added := addFeature("zebra ü", time.Date(2037, 3, 5, 9, 14, 22, 18e6, time.UTC))
	show("feature", []any{added.StatusCode(), added.JSON201})
	late := addFeature("late", time.Unix(0, 0))
	show("late", []any{late.StatusCode(), string(late.Body)})

	changes := features.FeatureChanges{}
	for _, name := range []string{"mango", "apple", "apple"} {
		change := features.FeatureChange{Type: features.Add, Resource: "customer", Id: customer, Feature: name}
		changes.Changes = append(changes.Changes, change)
	}
	show("changed", must(client.ChangeFeaturesWithResponse(ctx, nil, changes)).JSON200)
	listed := must(client.ListFeaturesWithResponse(ctx, "customer", customer, nil))
	show("listed", listed.JSON200)
	etag := listed.HTTPResponse.Header.Get("ETag")
	matching, names := features.ReplaceFeaturesParams{IfMatch: etag}, []string{"yak", "mango", "bee"}
	show("replaced", must(client.ReplaceFeaturesWithResponse(ctx, "customer", customer, &matching, names)).JSON200)
	key := "customer/" + customer
	evaluation := features.EvaluationRequest{Context: &features.EvaluationContext{TargetingKey: &key}}
	show("flag", must(client.EvaluateFlagWithResponse(ctx, "bee", evaluation)).JSON200)
	show("removed", must(client.RemoveFeatureWithResponse(ctx, "customer", customer, "bee", nil)).StatusCode())
	limit := 1000
	feed := must(client.ListChangesWithResponse(ctx, &features.ListChangesParams{Limit: &limit}))
	ofOthers := func(record features.ChangeRecord) bool { return record.Id != customer }
	records := slices.DeleteFunc(feed.JSON200.Changes, ofOthers)
	show("records", []any{records[0], records[len(records)-1]})
}
