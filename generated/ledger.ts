// Made from openapi/ledger.yaml by npm run codegen. Do not edit.

export interface paths {
    "/healthcheck": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Report the state of each registered check
         * @description Runs every check now. 200 when all are healthy, 503 when one is not, with the same body. `receiver` is there when
         *     the process takes messages from the queue. It is not healthy when it has had a message in hand for longer than 30
         *     seconds, or when for longer than 10 seconds messages came and none could be stored.
         */
        get: operations["checkHealth"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/metrics": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Tell what the service counts
         * @description Requests by operation and status, messages by what became of them, how long they took from queue to database, how
         *     many wait, are in hand and are parked, and how the connections to the database are used.
         *     One family of numbers after another, in the text format of Prometheus (version 0.0.4). What cannot be known
         *     now, such as what waits in a queue that is away, is `Nan`.
         */
        get: operations["getMetrics"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/event/{eventId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Look up an event by its number
         * @description Event numbers are given out by the ledger; the events of a transaction carry theirs as `event_id`.
         *     A number beyond 64 bits belongs to no event.
         */
        get: operations["getEvent"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/transaction/": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Search transactions
         * @description Transactions that fit every filter that is given, newest `created_date` first and, among equal dates, by
         *     `transaction_id` descending. `account_id` is needed unless `override_account_id_restriction` is `true`.
         *     A page beyond the last is 404 when there are any matches, and empty when there are none.
         *
         *     With `Accept: text/csv` every match is sent, in the same order, as a table whose first row names its columns;
         *     `account_id` is needed then, whatever `override_account_id_restriction` says. It has a column for each
         *     metadata key that payments of these accounts ever had; `x-csv` says what each cell holds. A table that breaks off
         *     in the middle ends its connection without the end that a whole one has.
         */
        get: operations["searchTransactions"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/transaction/{parentTransactionExternalId}/transaction": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the refunds and disputes of a transaction
         * @description The children that belong to the same gateway account, oldest `created_date` first.
         */
        get: operations["listChildTransactions"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/transaction/{transactionExternalId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Look up a transaction
         * @description Answers the transaction when it fits every filter that is given, and 404 otherwise. `account_id` is needed
         *     unless `override_account_id_restriction` is `true`.
         */
        get: operations["getTransaction"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/transaction/{transactionExternalId}/event": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the events of a transaction and of its children
         * @description Oldest first. By default only events that set a state are listed, and of those with the same state of the
         *     same transaction only the earliest; `include_all_events=true` lists every event.
         */
        get: operations["listTransactionEvents"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/transaction/gateway-transaction": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Look up a payment by its provider's id
         * @description The newest payment with this id at this provider, of any account. An external id that reads
         *     `gateway-transaction` cannot be looked up, since this path comes first.
         */
        get: operations["getTransactionByGatewayTransactionId"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        /** @description A billing address; parts that are not known are left out. */
        Address: {
            /** @description City. */
            city?: string;
            /** @description Country code. */
            country?: string;
            /** @description County. */
            county?: string;
            /** @description First line. */
            line1?: string;
            /** @description Second line. */
            line2?: string;
            /** @description Postcode. */
            postcode?: string;
        };
        /**
         * @description How a payment is authorised.
         * @enum {string}
         */
        AuthorisationMode: "web" | "moto_api" | "agreement" | "external";
        /** @description How the payment was authorised. */
        AuthorisationSummary: {
            /** @description 3-D Secure. */
            three_d_secure: {
                /** @description Whether it was required. */
                required: boolean;
                /** @description Version of the protocol. */
                version?: string;
            };
        };
        /** @description What is known of the card. */
        CardDetails: {
            billing_address?: components["schemas"]["Address"];
            /** @description Display name of the brand, empty when it is not known. */
            card_brand: string;
            /**
             * @description Kind of card.
             * @enum {string}
             */
            card_type?: "credit" | "debit";
            /** @description Name on the card. */
            cardholder_name?: string;
            /** @description Month and year. */
            expiry_date?: string;
            /** @description First six digits. */
            first_digits_card_number?: string;
            /** @description Last four digits. */
            last_digits_card_number?: string;
        };
        /**
         * Format: date
         * @description A calendar day.
         * @example 2024-03-11
         */
        Day: string;
        /** @description A dispute of a payment. */
        Dispute: {
            amount?: components["schemas"]["Pence"];
            created_date: components["schemas"]["Milliseconds"];
            evidence_due_date?: components["schemas"]["Milliseconds"];
            fee?: components["schemas"]["Pence"];
            /** @description Gateway account. */
            gateway_account_id?: string;
            /** @description The provider's id of the dispute. */
            gateway_transaction_id?: string;
            /** @description Whether real money is moved. */
            live?: boolean;
            net_amount?: components["schemas"]["Pence"];
            parent_transaction_id?: components["schemas"]["ExternalId"];
            payment_details: components["schemas"]["PaymentDetails"];
            /**
             * @description Why the payment is disputed.
             * @enum {string}
             */
            reason?: "credit_not_processed" | "duplicate" | "fraudulent" | "general" | "product_not_received" | "product_unacceptable" | "subscription_canceled" | "unrecognised" | "other";
            /** @description Service. */
            service_id?: string;
            settlement_summary: components["schemas"]["SettlementSummary"];
            state: components["schemas"]["TransactionState"];
            transaction_id: components["schemas"]["ExternalId"];
            /**
             * @description Always DISPUTE. (enum property replaced by openapi-typescript)
             * @enum {string}
             */
            transaction_type: "DISPUTE";
        };
        /** @description A stored event, as its message said. */
        Event: {
            /** @description The details, as the message had them, without members that were null. */
            event_details: {
                [key: string]: unknown;
            };
            event_id: components["schemas"]["EventId"];
            /** @description What happened. */
            event_type: string;
            /** @description Whether real money is moved, if the message said. */
            live: boolean | null;
            /** @description The parent the message named, if any. */
            parent_resource_external_id: string | null;
            resource_external_id: components["schemas"]["ExternalId"];
            resource_type: components["schemas"]["ResourceType"];
            /** @description Service the resource belongs to, if the message said. */
            service_id: string | null;
            timestamp: components["schemas"]["Microseconds"];
        };
        /**
         * @description What the event says of its resource: any members, of which those listed here reach the transaction. The newest
         *     event that has a member decides its value; a member whose value is null counts as absent.
         * @example {
         *       "amount": 4250,
         *       "reference": "LIC-88"
         *     }
         */
        EventDetails: {
            address_city?: components["schemas"]["LenientText"];
            address_country?: components["schemas"]["LenientText"];
            address_county?: components["schemas"]["LenientText"];
            address_line1?: components["schemas"]["LenientText"];
            address_line2?: components["schemas"]["LenientText"];
            address_postcode?: components["schemas"]["LenientText"];
            agreement_id?: components["schemas"]["LenientIdentifier"];
            agreement_payment_type?: components["schemas"]["LenientText"];
            amount?: components["schemas"]["LenientPence"];
            authorisation_mode?: components["schemas"]["AuthorisationMode"];
            can_retry?: components["schemas"]["LenientBoolean"];
            /** @description When the capture was submitted; an instant with a zone, anything else counts as absent. */
            capture_submitted_date?: unknown;
            /** @description When the money was captured; an instant with a zone, anything else counts as absent. */
            captured_date?: unknown;
            card_brand?: components["schemas"]["LenientIdentifier"];
            card_brand_label?: components["schemas"]["LenientText"];
            card_type?: components["schemas"]["LenientText"];
            cardholder_name?: components["schemas"]["LenientText"];
            corporate_surcharge?: components["schemas"]["LenientPence"];
            credential_external_id?: components["schemas"]["LenientText"];
            delayed_capture?: components["schemas"]["LenientBoolean"];
            description?: components["schemas"]["LenientText"];
            disputed?: components["schemas"]["LenientBoolean"];
            email?: components["schemas"]["LenientText"];
            /** @description Until when evidence can be given; an instant with a zone, anything else counts as absent. */
            evidence_due_date?: unknown;
            /**
             * @description Which exemption was asked for.
             * @enum {string}
             */
            exemption_3ds_requested?: "OPTIMISED" | "CORPORATE";
            /**
             * @description What became of the exemption from strong customer authentication.
             * @enum {string}
             */
            exemption3ds?: "EXEMPTION_NOT_REQUESTED" | "EXEMPTION_HONOURED" | "EXEMPTION_REJECTED" | "EXEMPTION_OUT_OF_SCOPE";
            expiry_date?: components["schemas"]["LenientText"];
            /** @description What the service wants to remember of the payment. Keys have at most 255 characters. */
            external_metadata?: {
                [key: string]: unknown;
            };
            fee?: components["schemas"]["LenientPence"];
            /** @description What the fee consists of, as objects with `fee_type` and `amount`; anything else is left out. */
            fee_breakdown?: unknown;
            first_digits_card_number?: components["schemas"]["LenientIdentifier"];
            gateway_account_id?: components["schemas"]["LenientIdentifier"];
            gateway_payout_id?: components["schemas"]["LenientIdentifier"];
            gateway_transaction_id?: components["schemas"]["LenientIdentifier"];
            language?: components["schemas"]["LenientText"];
            last_digits_card_number?: components["schemas"]["LenientIdentifier"];
            live?: components["schemas"]["LenientBoolean"];
            moto?: components["schemas"]["LenientBoolean"];
            net_amount?: components["schemas"]["LenientPence"];
            /** @description When a payout was paid out; an instant with a zone, anything else counts as absent. */
            paid_out_date?: unknown;
            payment_provider?: components["schemas"]["LenientText"];
            reason?: components["schemas"]["LenientText"];
            reference?: components["schemas"]["LenientIdentifier"];
            refund_amount_available?: components["schemas"]["LenientPence"];
            refund_amount_refunded?: components["schemas"]["LenientPence"];
            refund_status?: components["schemas"]["LenientText"];
            refunded_by?: components["schemas"]["LenientText"];
            requires_3ds?: components["schemas"]["LenientBoolean"];
            return_url?: components["schemas"]["LenientText"];
            source?: components["schemas"]["Source"];
            total_amount?: components["schemas"]["LenientPence"];
            user_email?: components["schemas"]["LenientText"];
            version_3ds?: components["schemas"]["LenientText"];
            wallet?: components["schemas"]["LenientText"];
        } & {
            [key: string]: unknown;
        };
        /**
         * Format: int64
         * @description Number of a stored event, exact over the whole 64-bit range.
         * @example 17
         */
        EventId: bigint;
        /**
         * @description What the queue carries: one message, one event. A member that is null counts as absent, and so does an empty
         *     `parent_resource_external_id` or `service_id`. Unknown members are ignored. Two messages with the same
         *     `resource_type`, `resource_external_id`, `timestamp` and `event_type` are the same event: the first stays.
         *     A message has 1 MiB at the most, its envelope included. It is JSON nested at most 100 deep, and no text in it holds
         *     a NUL character or half a surrogate pair. Numbers keep all their digits; each has at most 100, written without an
         *     exponent.
         * @example {
         *       "event_type": "PAYMENT_CREATED",
         *       "resource_type": "payment",
         *       "resource_external_id": "pay7f3k2m9q1x5c8v4b6n0t2w",
         *       "timestamp": "2024-03-05T09:14:22.018000Z",
         *       "service_id": "svc91b27",
         *       "live": true,
         *       "event_details": {
         *         "amount": 4250,
         *         "reference": "LIC-88",
         *         "description": "Fishing licence",
         *         "gateway_account_id": "57",
         *         "payment_provider": "sandbox"
         *       }
         *     }
         */
        EventMessage: {
            event_details?: components["schemas"]["EventDetails"];
            /** @description What happened. Types the ledger does not know are stored and move no state. */
            event_type: string;
            /** @description Whether real money is moved. The text "null" counts as absent. */
            live?: boolean | ("true" | "false" | "null");
            /** @description The payment a refund or a dispute belongs to. */
            parent_resource_external_id?: string;
            /**
             * @description When true the message is no event and is not stored: the transaction or payout with this
             *     `resource_external_id` is folded again from the events already stored.
             */
            reproject_domain_object?: boolean | ("true" | "false" | "null");
            resource_external_id: components["schemas"]["ExternalId"];
            resource_type: components["schemas"]["ResourceType"];
            /** @description Service the resource belongs to. */
            service_id?: string;
            /**
             * Format: date-time
             * @description When it happened, with a zone; kept to the microsecond, further digits are cut off.
             */
            timestamp: string;
        };
        /** @description Whether an exemption from strong customer authentication was asked for, and what became of it. */
        Exemption: {
            /** @description What became of it. */
            outcome?: {
                /**
                 * @description The answer.
                 * @enum {string}
                 */
                result: "honoured" | "rejected" | "out of scope";
            };
            /** @description Whether one was asked for. */
            requested: boolean;
            /**
             * @description Kind of exemption.
             * @constant
             */
            type?: "corporate";
        };
        /**
         * @description An opaque identifier, 1 to 255 characters without NUL.
         * @example pay7f3k2m9q1x5c8v4b6n0t2w
         */
        ExternalId: string;
        /** @description The outcome of one check. */
        HealthCheck: {
            /** @description Whether it passed. */
            healthy: boolean;
            /** @description `Healthy`, or what is wrong. */
            message: string;
        };
        /** @description Each registered check by its name. */
        HealthReport: {
            database: components["schemas"]["HealthCheck"];
            queue: components["schemas"]["HealthCheck"];
            receiver?: components["schemas"]["ReceiverCheck"];
        };
        /**
         * @description A boolean, or its text.
         * @example true
         */
        LenientBoolean: boolean | ("true" | "false");
        /**
         * @description Text of at most 255 characters; a number or a boolean counts as its text.
         * @example LIC-88
         */
        LenientIdentifier: string | number | boolean;
        /**
         * @description Pence, as a number or as its decimal text.
         * @example 4250
         */
        LenientPence: number | string;
        /**
         * @description Text; a number or a boolean counts as its text.
         * @example LIC-88
         */
        LenientText: string | number | boolean;
        /** @description A link to follow. */
        Link: {
            /**
             * Format: uri
             * @description Address of the page.
             */
            href: string;
        };
        /** @description One of several texts separated by commas, 1 to 255 characters without comma or NUL. */
        ListedText: string;
        /**
         * @description Numbers in the text format of Prometheus.
         * @example # HELP ledger_parked_messages Messages that are parked.
         */
        Metrics: string;
        /**
         * Format: date-time
         * @description An instant in UTC, to the microsecond.
         * @example 2024-03-05T09:14:22.018000Z
         */
        Microseconds: string;
        /**
         * Format: date-time
         * @description An instant in UTC, truncated to the millisecond.
         * @example 2024-03-05T09:14:22.018Z
         */
        Milliseconds: string;
        /**
         * Format: int64
         * @description An amount of money, in pence, or null where none is known.
         */
        OptionalPence: number | null;
        /** @description A payment. */
        Payment: {
            /** @description Agreement it belongs to. */
            agreement_id?: string;
            /** @description Kind of payment within the agreement. */
            agreement_payment_type?: string;
            amount?: components["schemas"]["Pence"];
            authorisation_mode: components["schemas"]["AuthorisationMode"];
            authorisation_summary?: components["schemas"]["AuthorisationSummary"];
            card_details?: components["schemas"]["CardDetails"];
            corporate_card_surcharge?: components["schemas"]["Pence"];
            created_date: components["schemas"]["Milliseconds"];
            /** @description Credential used with the provider. */
            credential_external_id?: string;
            /** @description Whether the service captures later. */
            delayed_capture: boolean;
            /** @description What is paid for. */
            description?: string;
            /** @description Whether it has been disputed. */
            disputed: boolean;
            /** @description Email address of the payer. */
            email?: string;
            exemption?: components["schemas"]["Exemption"];
            fee?: components["schemas"]["Pence"];
            /** @description Gateway account. */
            gateway_account_id?: string;
            /** @description Payout it is included in. */
            gateway_payout_id?: string;
            /** @description The provider's id of the payment. */
            gateway_transaction_id?: string;
            /** @description Language of the payment pages. */
            language?: string;
            /** @description Whether real money is moved. */
            live?: boolean;
            /** @description What the service wants to remember of the payment; values keep their JSON types. */
            metadata?: {
                [key: string]: unknown;
            };
            /** @description Whether it was ordered by mail or telephone. */
            moto: boolean;
            net_amount?: components["schemas"]["Pence"];
            /** @description Payment provider. */
            payment_provider?: string;
            /** @description The service's reference. */
            reference?: string;
            refund_summary?: components["schemas"]["RefundSummary"];
            /** @description Where the payer goes afterwards. */
            return_url?: string;
            /** @description Service. */
            service_id?: string;
            settlement_summary: components["schemas"]["PaymentSettlementSummary"];
            source?: components["schemas"]["Source"];
            state: components["schemas"]["TransactionState"];
            total_amount?: components["schemas"]["Pence"];
            transaction_id: components["schemas"]["ExternalId"];
            /**
             * @description Always PAYMENT. (enum property replaced by openapi-typescript)
             * @enum {string}
             */
            transaction_type: "PAYMENT";
            /** @description Wallet it was made with. */
            wallet_type?: string;
        };
        /**
         * @description What a refund or a dispute shows of its payment: the payment's details when both belong to the same gateway
         *     account, else what its own events say.
         */
        PaymentDetails: {
            card_details?: components["schemas"]["CardDetails"];
            /** @description Description of the payment. */
            description?: string;
            /** @description Email address of the payer. */
            email?: string;
            /** @description Reference of the payment. */
            reference?: string;
            /**
             * @description Always PAYMENT.
             * @constant
             */
            transaction_type: "PAYMENT";
            /** @description Wallet the payment was made with; only on refunds. */
            wallet_type?: string;
        };
        /** @description When a payment was captured and settled. */
        PaymentSettlementSummary: {
            /**
             * Format: date-time
             * @description When the capture was submitted, in UTC, truncated to the millisecond.
             */
            capture_submit_time: string | null;
            /**
             * Format: date
             * @description Day of the capture, in the zone it was told in.
             */
            captured_date: string | null;
            settled_date?: components["schemas"]["Day"];
        };
        /**
         * Format: int64
         * @description An amount of money, in pence.
         * @example 4250
         */
        Pence: number;
        /** @description An error, as a problem document (RFC 9457). */
        Problem: {
            /** @description What was wrong with this request. */
            detail: string;
            /**
             * @description Always GENERIC.
             * @constant
             */
            error_identifier: "GENERIC";
            /** @description What was wrong, one text for each fault. */
            message: string[];
            /** @description The HTTP status. */
            status: number;
            /** @description The status in words. */
            title: string;
            /**
             * @description The status says all there is to say of the kind.
             * @constant
             */
            type: "about:blank";
        };
        /** @description The outcome of looking at what takes messages from the queue. */
        ReceiverCheck: {
            /** @description For how many milliseconds nothing could be stored although messages came; 0 when the last message that came was stored. */
            failing_for_ms: number;
            /** @description Whether messages are stored in time. */
            healthy: boolean;
            /** @description `Healthy`, or what is wrong. */
            message: string;
            /** @description For how many milliseconds the oldest message in hand has been so; 0 when there is none. */
            oldest_message_age_ms: number;
        };
        /** @description A refund of a payment. */
        Refund: {
            amount?: components["schemas"]["Pence"];
            created_date: components["schemas"]["Milliseconds"];
            /** @description Gateway account. */
            gateway_account_id?: string;
            /** @description Payout it is included in. */
            gateway_payout_id?: string;
            /** @description The provider's id of the refund. */
            gateway_transaction_id?: string;
            /** @description Whether real money is moved. */
            live?: boolean;
            parent_transaction_id?: components["schemas"]["ExternalId"];
            payment_details: components["schemas"]["PaymentDetails"];
            /** @description User who refunded. */
            refunded_by?: string;
            /** @description Email address of that user. */
            refunded_by_user_email?: string;
            /** @description Service. */
            service_id?: string;
            settlement_summary: components["schemas"]["SettlementSummary"];
            state: components["schemas"]["TransactionState"];
            transaction_id: components["schemas"]["ExternalId"];
            /**
             * @description Always REFUND. (enum property replaced by openapi-typescript)
             * @enum {string}
             */
            transaction_type: "REFUND";
        };
        /** @description What of a payment can be and was refunded. */
        RefundSummary: {
            /** @description Pence that can still be refunded. */
            amount_available: components["schemas"]["OptionalPence"];
            /** @description Pence refunded so far. */
            amount_refunded: components["schemas"]["OptionalPence"];
            /** @description The same as `amount_refunded`. */
            amount_submitted: components["schemas"]["OptionalPence"];
            /** @description Availability, for example `available`, `unavailable`, `pending` or `full`. */
            status: string | null;
            /**
             * @description Always null.
             * @constant
             */
            user_external_id: string | null;
        };
        /**
         * @description Kind of resource an event tells of. Events of payments, refunds and disputes move transactions, those of
         *     payouts settle them; the others are stored.
         * @enum {string}
         */
        ResourceType: "payment" | "refund" | "dispute" | "payout" | "agreement" | "payment_instrument" | "service" | "card_payment";
        /**
         * @description Links to pages of the same search, which keep every filter; those that lead nowhere are left out. Without
         *     `last_page`, counting was limited or the page was reached by a cursor.
         */
        SearchLinks: {
            first_page: components["schemas"]["Link"];
            last_page?: components["schemas"]["Link"];
            next_cursor?: components["schemas"]["Link"];
            next_page?: components["schemas"]["Link"];
            prev_page?: components["schemas"]["Link"];
            self: components["schemas"]["Link"];
        };
        /** @description A text to look for, 1 to 255 characters without NUL. */
        SearchText: string;
        /** @description When a refund or a dispute was settled; empty until then. */
        SettlementSummary: {
            settled_date?: components["schemas"]["Day"];
        };
        /**
         * @description Where a payment came from.
         * @enum {string}
         */
        Source: "CARD_API" | "CARD_PAYMENT_LINK" | "CARD_AGENT_INITIATED_MOTO" | "CARD_EXTERNAL_TELEPHONE";
        /**
         * @description Name of a state; `undefined` when no event has set one. `failed` is of `status_version` 1 alone, `declined` and
         *     `timedout` are of version 2.
         * @enum {string}
         */
        Status: "undefined" | "created" | "started" | "submitted" | "capturable" | "success" | "failed" | "declined" | "timedout" | "cancelled" | "error" | "needs_response" | "under_review" | "lost" | "won";
        /** @description An event of a transaction. */
        TransactionEvent: {
            /** @description Pence of the transaction the event belongs to, not of the event. */
            amount: components["schemas"]["OptionalPence"];
            /** @description The event's details. */
            data: {
                [key: string]: unknown;
            };
            event_id: components["schemas"]["EventId"];
            /** @description What happened. */
            event_type: string;
            resource_type: components["schemas"]["TransactionType"];
            /** @description State that events of this type set; null where they set none. */
            state: components["schemas"]["TransactionState"] | null;
            timestamp: components["schemas"]["Milliseconds"];
        };
        /** @description The events of a transaction and of its children. */
        TransactionEventResponse: {
            /** @description Oldest first. */
            events: components["schemas"]["TransactionEvent"][];
            transaction_id: components["schemas"]["ExternalId"];
        };
        /** @description One page of a search. */
        TransactionSearchResponse: {
            _links: components["schemas"]["SearchLinks"];
            /** @description Matches on this page. */
            count: number;
            /** @description Number of this page. */
            page: number;
            /** @description The matches on this page. */
            results: components["schemas"]["TransactionView"][];
            /** @description Matches on all pages together. */
            total: number;
        };
        /** @description The children of a transaction. */
        TransactionsForTransactionResponse: {
            parent_transaction_id: components["schemas"]["ExternalId"];
            /** @description Oldest first. */
            transactions: components["schemas"]["TransactionView"][];
        };
        /**
         * @description Where a transaction stands.
         * @example {
         *       "status": "declined",
         *       "finished": true,
         *       "code": "P0010",
         *       "message": "Payment method rejected"
         *     }
         */
        TransactionState: {
            /** @description Whether a payment of an agreement may be tried again. Only on payments that were told. */
            can_retry?: boolean;
            /**
             * @description Code of the failure.
             * @enum {string}
             */
            code?: "P0010" | "P0020" | "P0030" | "P0040" | "P0050";
            /** @description Whether no further state is expected. */
            finished: boolean;
            /** @description The failure in words. */
            message?: string;
            status: components["schemas"]["Status"];
        };
        /**
         * @description Kind of a transaction.
         * @enum {string}
         */
        TransactionType: "PAYMENT" | "REFUND" | "DISPUTE";
        /** @description A payment, a refund or a dispute; `transaction_type` tells which. Members that are not known are left out. */
        TransactionView: components["schemas"]["Payment"] | components["schemas"]["Refund"] | components["schemas"]["Dispute"];
    };
    responses: {
        /** @description The request breaks the contract; the message says where and what would be right. */
        BadRequest: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description The token's scope is not enough, or an account that is named is not among the token's. */
        Forbidden: {
            headers: {
                /**
                 * @description What is asked for (RFC 6750).
                 * @example Bearer error="insufficient_scope", scope="ledger:read:all"
                 */
                "WWW-Authenticate": string;
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description The request line and the headers are larger than 16 KiB together. */
        HeadersTooLarge: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description Something unexpected; it has been logged. */
        InternalError: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description The path is known, but not with this method. */
        MethodNotAllowed: {
            headers: {
                /**
                 * @description The methods this path has.
                 * @example GET, HEAD
                 */
                Allow: string;
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description Nothing fits. */
        NotFound: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description The database took longer than this service waits. A narrower question may be answered. */
        TooSlow: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description There is no token, or it is not one that this service takes; the message says why. */
        Unauthorized: {
            headers: {
                /**
                 * @description What is asked for (RFC 6750).
                 * @example Bearer scope="ledger:read"
                 */
                "WWW-Authenticate": string;
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description The service is stopping, has too much to do, or something it depends on is away. */
        Unavailable: {
            headers: {
                /**
                 * @description Seconds after which trying again may help (RFC 9110).
                 * @example 1
                 */
                "Retry-After": number;
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
    };
    parameters: {
        /**
         * @description Answer from the events dated up to and including this instant. An account must be the transaction's account both
         *     then and now.
         * @example 2024-03-05T12:00:00Z
         */
        AsOf: string;
        /**
         * @description Gateway account the transaction must belong to.
         * @example demo
         */
        GatewayAccountId: components["schemas"]["ExternalId"];
        /**
         * @description Lifts the need to name an account. It does not widen an account that is named.
         * @example true
         */
        OverrideAccountIdRestriction: boolean;
        /**
         * @description How states are told and asked for: in version 1 `failed` stands for what version 2 tells apart as `declined`,
         *     `timedout` and `cancelled` (by the payer).
         * @example 2
         */
        StatusVersion: 1 | 2;
        /**
         * @description External id of the transaction.
         * @example demo-refund
         */
        TransactionExternalId: components["schemas"]["ExternalId"];
        /**
         * @description Type the transaction must have. Either letter case is accepted.
         * @example REFUND
         */
        TransactionTypeFilter: "PAYMENT" | "REFUND" | "DISPUTE" | "payment" | "refund" | "dispute";
    };
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    checkHealth: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Every check is healthy. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HealthReport"];
                };
            };
            400: components["responses"]["BadRequest"];
            405: components["responses"]["MethodNotAllowed"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            /** @description A check is not healthy, or the service is stopping. */
            503: {
                headers: {
                    /**
                     * @description Seconds after which trying again may help (RFC 9110). It is there when the service is stopping.
                     * @example 1
                     */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HealthReport"];
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    getMetrics: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The numbers, as they are now. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/plain": components["schemas"]["Metrics"];
                };
            };
            400: components["responses"]["BadRequest"];
            405: components["responses"]["MethodNotAllowed"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    getEvent: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Number of the event.
                 * @example 17
                 */
                eventId: components["schemas"]["EventId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The event, as its message said. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Event"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            405: components["responses"]["MethodNotAllowed"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["TooSlow"];
        };
    };
    searchTransactions: {
        parameters: {
            query: {
                /**
                 * @description Gateway accounts the transactions may belong to, separated by commas.
                 * @example [
                 *       "demo"
                 *     ]
                 */
                account_id?: components["schemas"]["ListedText"][];
                /**
                 * @description Agreement the payment must belong to.
                 * @example demo-agreement
                 */
                agreement_id?: components["schemas"]["SearchText"];
                /**
                 * @description Brands of the card, separated by commas: ids such as `visa`, not display names.
                 * @example [
                 *       "visa",
                 *       "master-card"
                 *     ]
                 */
                card_brands?: components["schemas"]["ListedText"][];
                /**
                 * @description Text that the name on the card contains, letter case aside.
                 * @example angler
                 */
                cardholder_name?: components["schemas"]["SearchText"];
                /**
                 * @description Where the page begins: taken from the link `next_cursor` of the page before, not made up. Pages that are
                 *     reached by cursors cost the same however deep they lie, and hold no transaction that arrived after the first
                 *     of them was read; `total` stays what it was then. No effect on CSV; not together with a `page` other than 1.
                 * @example WyIyMDI0LTAzLTA1VDA5OjE0OjIyLjAxODQwOFoiLCJwYXkxIiwiMTciLDIsMV0
                 */
                cursor?: string;
                /**
                 * @description Rows a page. More than 500 counts as 500. No effect on CSV.
                 * @example 20
                 */
                display_size: number;
                /**
                 * @description States of disputes to be found, separated by commas.
                 * @example [
                 *       "needs_response"
                 *     ]
                 */
                dispute_states?: components["schemas"]["Status"][];
                /**
                 * @description Text that the payer's email address contains, letter case aside.
                 * @example angler@
                 */
                email?: components["schemas"]["SearchText"];
                /**
                 * @description Whether `reference` must be the whole reference, letter case aside.
                 * @example true
                 */
                exact_reference_match: boolean;
                /**
                 * @description Whether CSV has the columns of fees. No effect on JSON.
                 * @example true
                 */
                fee_headers: boolean;
                /**
                 * @description First digits of the card number.
                 * @example 424242
                 */
                first_digits_card_number?: components["schemas"]["SearchText"];
                /**
                 * @description Instant the `created_date` must be later than.
                 * @example 2024-03-01T00:00:00Z
                 */
                from_date?: string;
                /**
                 * @description First day, in UTC, on which the payout may have been paid out. Only settled transactions are found.
                 * @example 2024-03-01
                 */
                from_settled_date?: string;
                /**
                 * @description Payout the transaction must be included in.
                 * @example demo-payout
                 */
                gateway_payout_id?: components["schemas"]["SearchText"];
                /**
                 * @description The provider's id of the transaction.
                 * @example gtx-1
                 */
                gateway_transaction_id?: components["schemas"]["SearchText"];
                /**
                 * @description Last digits of the card number.
                 * @example 4242
                 */
                last_digits_card_number?: components["schemas"]["SearchText"];
                /**
                 * @description Whether counting stops at `limit_total_size`, which is faster. There is no last page then, the page after
                 *     a full one may be empty, and a page beyond the last is empty too.
                 * @example true
                 */
                limit_total: boolean;
                /**
                 * @description Where counting stops; 10000 when it is less than `display_size`.
                 * @example 5001
                 */
                limit_total_size: number;
                /**
                 * @description Value of any metadata key, letter case aside; a number or a boolean is found by its text.
                 * @example North
                 */
                metadata_value?: components["schemas"]["SearchText"];
                /**
                 * @description Whether CSV tells which payments were ordered by mail or telephone. No effect on JSON.
                 * @example true
                 */
                moto_header: boolean;
                /**
                 * @description Lifts the need to name an account. It does not widen an account that is named.
                 * @example true
                 */
                override_account_id_restriction: components["parameters"]["OverrideAccountIdRestriction"];
                /**
                 * @description Number of the page, from 1. No effect on CSV.
                 * @example 1
                 */
                page: number;
                /**
                 * @description States of payments to be found, separated by commas. Payments, refunds and disputes are found together when
                 *     more than one of `payment_states`, `refund_states` and `dispute_states` is given; a type without its own is not.
                 * @example [
                 *       "created",
                 *       "success"
                 *     ]
                 */
                payment_states?: components["schemas"]["Status"][];
                /**
                 * @description Text that the reference contains, letter case aside. Like every search text it is taken literally: `%`, `_`
                 *     and `\` stand for themselves. Refunds and disputes are found by what they take over from their payment.
                 * @example fishing-88
                 */
                reference?: components["schemas"]["SearchText"];
                /**
                 * @description States of refunds to be found, separated by commas.
                 * @example [
                 *       "success"
                 *     ]
                 */
                refund_states?: components["schemas"]["Status"][];
                /**
                 * @description State the transaction must be in.
                 * @example success
                 */
                state?: components["schemas"]["Status"];
                /**
                 * @description How states are told and asked for: in version 1 `failed` stands for what version 2 tells apart as `declined`,
                 *     `timedout` and `cancelled` (by the payer).
                 * @example 2
                 */
                status_version: components["parameters"]["StatusVersion"];
                /**
                 * @description Instant the `created_date` must be earlier than.
                 * @example 2024-04-01T00:00:00Z
                 */
                to_date?: string;
                /**
                 * @description Last day, in UTC, on which the payout may have been paid out. Only settled transactions are found.
                 * @example 2024-03-31
                 */
                to_settled_date?: string;
                /**
                 * @description Type the transaction must have. Either letter case is accepted.
                 * @example REFUND
                 */
                transaction_type?: components["parameters"]["TransactionTypeFilter"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description One page of transactions, or all of them as CSV. */
            200: {
                headers: {
                    /**
                     * @description That the table is to be saved, and under which name. Only with CSV.
                     * @example attachment; filename="transactions.csv"
                     */
                    "Content-Disposition"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TransactionSearchResponse"];
                    "text/csv": string;
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            405: components["responses"]["MethodNotAllowed"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["TooSlow"];
        };
    };
    listChildTransactions: {
        parameters: {
            query: {
                /**
                 * @description Gateway account the transaction must belong to.
                 * @example demo
                 */
                gateway_account_id: components["parameters"]["GatewayAccountId"];
                /**
                 * @description Type the transaction must have. Either letter case is accepted.
                 * @example REFUND
                 */
                transaction_type?: components["parameters"]["TransactionTypeFilter"];
            };
            header?: never;
            path: {
                /**
                 * @description External id of the parent transaction.
                 * @example demo-success
                 */
                parentTransactionExternalId: components["schemas"]["ExternalId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The children; none is an empty list. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TransactionsForTransactionResponse"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            405: components["responses"]["MethodNotAllowed"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["TooSlow"];
        };
    };
    getTransaction: {
        parameters: {
            query: {
                /**
                 * @description Gateway account the transaction must belong to.
                 * @example demo
                 */
                account_id?: components["schemas"]["ExternalId"];
                /**
                 * @description Answer from the events dated up to and including this instant. An account must be the transaction's account both
                 *     then and now.
                 * @example 2024-03-05T12:00:00Z
                 */
                as_of?: components["parameters"]["AsOf"];
                /**
                 * @description Lifts the need to name an account. It does not widen an account that is named.
                 * @example true
                 */
                override_account_id_restriction: components["parameters"]["OverrideAccountIdRestriction"];
                /**
                 * @description Transaction that must be the parent.
                 * @example demo-success
                 */
                parent_external_id?: components["schemas"]["ExternalId"];
                /**
                 * @description How states are told and asked for: in version 1 `failed` stands for what version 2 tells apart as `declined`,
                 *     `timedout` and `cancelled` (by the payer).
                 * @example 2
                 */
                status_version: components["parameters"]["StatusVersion"];
                /**
                 * @description Type the transaction must have. Either letter case is accepted.
                 * @example REFUND
                 */
                transaction_type?: components["parameters"]["TransactionTypeFilter"];
            };
            header?: never;
            path: {
                /**
                 * @description External id of the transaction.
                 * @example demo-refund
                 */
                transactionExternalId: components["parameters"]["TransactionExternalId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The transaction. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TransactionView"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            405: components["responses"]["MethodNotAllowed"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["TooSlow"];
        };
    };
    listTransactionEvents: {
        parameters: {
            query: {
                /**
                 * @description Answer from the events dated up to and including this instant. An account must be the transaction's account both
                 *     then and now.
                 * @example 2024-03-05T12:00:00Z
                 */
                as_of?: components["parameters"]["AsOf"];
                /**
                 * @description Gateway account the transaction must belong to.
                 * @example demo
                 */
                gateway_account_id: components["parameters"]["GatewayAccountId"];
                /**
                 * @description Whether events that set no state, or repeat one, are listed too.
                 * @example true
                 */
                include_all_events: boolean;
                /**
                 * @description How states are told and asked for: in version 1 `failed` stands for what version 2 tells apart as `declined`,
                 *     `timedout` and `cancelled` (by the payer).
                 * @example 2
                 */
                status_version: components["parameters"]["StatusVersion"];
            };
            header?: never;
            path: {
                /**
                 * @description External id of the transaction.
                 * @example demo-refund
                 */
                transactionExternalId: components["parameters"]["TransactionExternalId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The events. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TransactionEventResponse"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            405: components["responses"]["MethodNotAllowed"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["TooSlow"];
        };
    };
    getTransactionByGatewayTransactionId: {
        parameters: {
            query: {
                /**
                 * @description The provider's id of the payment.
                 * @example gtx-1
                 */
                gateway_transaction_id: components["schemas"]["SearchText"];
                /**
                 * @description The provider, letter case aside.
                 * @example sandbox
                 */
                payment_provider: components["schemas"]["SearchText"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The payment. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Payment"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            405: components["responses"]["MethodNotAllowed"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["TooSlow"];
        };
    };
}
/** Parameters with a default: a handler always has them, a caller may leave them out. */
export interface defaulted {
    checkHealth: never;
    getMetrics: never;
    getEvent: never;
    getTransaction: "override_account_id_restriction" | "status_version";
    getTransactionByGatewayTransactionId: never;
    searchTransactions: "override_account_id_restriction" | "exact_reference_match" | "status_version" | "limit_total" | "limit_total_size" | "page" | "display_size" | "fee_headers" | "moto_header";
    listTransactionEvents: "include_all_events" | "status_version";
    listChildTransactions: never;
}
