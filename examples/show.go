package main

import (
	"encoding/json"
	"fmt"
)

// Prints what a step got.
func show(step string, value any) { fmt.Println(step, string(must(json.Marshal(value)))) }

func must[Value any](value Value, err error) Value {
	if err != nil {
		panic(err)
	}
	return value
}
