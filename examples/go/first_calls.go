package main

import (
	"context"
	"fmt"
	"os"
	"slices"
	"time"

	"example/features"
	"example/ledger"
)

func main() {
	ctx := context.Background()
	account := "demo"
	payments := must(ledger.NewClientWithResponses(os.Args[1]))

	response := must(payments.GetTransactionWithResponse(ctx, "demo-success", &ledger.GetTransactionParams{AccountId: &account}))
	check(response.JSON200 != nil, response.Status(), string(response.Body))
	payment, isPayment := must(response.JSON200.ValueByDiscriminator()).(ledger.Payment)
	check(isPayment && *payment.Amount == 4250 && payment.State.Status == ledger.Success, string(response.Body))
	fmt.Println("payment", payment.TransactionId, *payment.Amount, payment.State.Status)

	missing := must(payments.GetTransactionWithResponse(ctx, "demo-missing", &ledger.GetTransactionParams{AccountId: &account}))
	check(missing.ApplicationproblemJSON404 != nil, missing.Status(), string(missing.Body))
	fmt.Println("problem", missing.StatusCode(), missing.ApplicationproblemJSON404.Detail)

	accounts := []string{account}
	states := []ledger.Status{ledger.Success, ledger.Declined}
	found := must(payments.SearchTransactionsWithResponse(ctx, &ledger.SearchTransactionsParams{AccountId: &accounts, PaymentStates: &states}))
	check(found.JSON200 != nil && found.JSON200.Total == 3, found.Status(), string(found.Body))
	fmt.Println("found", found.JSON200.Total)

	storage := must(features.NewClientWithResponses(os.Args[2]))
	customer := fmt.Sprint(time.Now().UnixNano())
	trial := "trial ü " + customer
	names := []string{"dark-mode", trial}
	for _, name := range names {
		added := must(storage.AddFeatureWithResponse(ctx, "customer", customer, name, nil))
		check(added.JSON201 != nil, added.Status(), string(added.Body))
	}
	listed := must(storage.ListFeaturesWithResponse(ctx, "customer", customer, nil))
	check(listed.JSON200 != nil && slices.Equal(*listed.JSON200, names), listed.Status(), string(listed.Body))
	fmt.Println("features", *listed.JSON200)

	removed := must(storage.RemoveFeatureWithResponse(ctx, "customer", customer, "dark-mode"))
	check(removed.StatusCode() == 204, removed.Status(), string(removed.Body))
	withTrial := must(storage.ListResourcesWithResponse(ctx, "customer", &features.ListResourcesParams{Feature: trial}))
	check(withTrial.JSON200 != nil && slices.Equal(withTrial.JSON200.Ids, []string{customer}), withTrial.Status(), string(withTrial.Body))
	fmt.Println("customers with the feature", withTrial.JSON200.Ids)
}

func must[Value any](value Value, err error) Value {
	check(err == nil, err)
	return value
}

func check(ok bool, details ...any) {
	if !ok {
		fmt.Fprintln(os.Stderr, details...)
		os.Exit(1)
	}
}
