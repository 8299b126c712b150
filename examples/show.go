package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
)

var ctx = context.Background()

func main() {
	callLedger(os.Args[1])
	callFeatures(os.Args[2])
}

// Prints what a step got.
func show(step string, value any) { fmt.Println(step, string(must(json.Marshal(value)))) }

func must[Value any](value Value, err error) Value {
	if err != nil {
		panic(err)
	}
	return value
}
