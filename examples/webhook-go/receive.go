package main

import (
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"sync"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
)

const bodyBytesMax = 1 << 21

type event struct {
	EventType          string `json:"event_type"`
	ResourceType       string `json:"resource_type"`
	ResourceExternalId string `json:"resource_external_id"`
}

type receiver struct {
	webhook *standardwebhooks.Webhook
	// The ids of the events that were handled. Each connection has a goroutine.
	handled map[string]bool
	lock    sync.Mutex
}

func (r *receiver) handle(request *http.Request) int {
	if request.ContentLength < 0 || request.ContentLength > bodyBytesMax {
		return http.StatusRequestEntityTooLarge
	}
	body, err := io.ReadAll(request.Body)
	if err != nil {
		return http.StatusBadRequest
	}
	if r.webhook.Verify(body, request.Header) != nil {
		return http.StatusUnauthorized
	}
	r.lock.Lock()
	defer r.lock.Unlock()
	id := request.Header.Get(standardwebhooks.HeaderWebhookID)
	if r.handled[id] {
		return http.StatusNoContent
	}
	var received event
	if err := json.Unmarshal(body, &received); err != nil {
		return http.StatusInternalServerError
	}
	fmt.Printf("%s %s/%s\n", received.EventType, received.ResourceType, received.ResourceExternalId)
	r.handled[id] = true
	return http.StatusNoContent
}

func main() {
	webhook, err := standardwebhooks.NewWebhook(os.Getenv("WEBHOOK_SECRET"))
	if err != nil {
		log.Fatal(err)
	}
	r := &receiver{webhook: webhook, handled: map[string]bool{}}
	http.HandleFunc("POST /", func(response http.ResponseWriter, request *http.Request) {
		response.WriteHeader(r.handle(request))
	})
	log.Fatal(http.ListenAndServe("127.0.0.1:"+os.Getenv("PORT"), nil))
}
