// Generated from openapi/ledger.yaml by npm run codegen. Do not edit.

export interface paths {
    "/healthcheck": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Check the health of the service
         * @description Runs every check. The status is 200 if all checks are healthy and 503 otherwise. The check `receiver` is present
         *     if the process receives messages. It is unhealthy if a message has been in flight for more than 30 seconds, if
         *     messages have arrived for more than 10 seconds and none could be stored, or if a batch of Kafka cannot be read,
         *     behind which a partition waits.
         *
         *     The list `publishing` is present if the process has targets for events and the database can be read. It does not
         *     change the status, since an unhealthy target holds back nothing else. It names the events that a target has
         *     rejected and that wait for another attempt, without their contents. Reasons have the status or the code with which
         *     a target responds, and no text of it. A target whose name is a URL is shown without its path.
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
         * Read the metrics
         * @description Returns requests by operation and status, messages by outcome, their latency from the queue to the database, the
         *     numbers of messages in the queue, in flight and dead-lettered, and the use of database connections, in the text
         *     format of Prometheus (version 0.0.4). A value that is not known, such as the length of an unreachable queue, is
         *     `Nan`.
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
    "/v1/agreement": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Search agreements
         * @description Returns the agreements that match every filter, newest `created_date` first; equal dates are ordered by
         *     `external_id`, descending. `service_id` or `account_id` is required unless
         *     `override_account_or_service_id_restriction` is `true`. A page after the last one gets 404 if there are matches,
         *     and is empty if there are none.
         *
         *     A page has fewer agreements than `display_size` if more would be larger than 2 MiB. The link `next_page` then
         *     leads to the agreement after the last one, as the header `Link` does on every page but the last.
         */
        get: operations["searchAgreements"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/agreement/{agreementExternalId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get an agreement
         * @description Returns the agreement if it matches every filter, and 404 otherwise. `service_id` or `account_id` is required
         *     unless `override_account_or_service_id_restriction` is `true`.
         */
        get: operations["getAgreement"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/agreement/{agreementExternalId}/event": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the events of an agreement and of its payment instruments
         * @description Returns the events of an agreement, and of every payment instrument of which an event has ever named the agreement,
         *     oldest first.
         *
         *     A response has up to 200 events, fewer if they are larger than 2 MiB. If there are more, the header `Link` leads
         *     to the next page.
         */
        get: operations["listAgreementEvents"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/audit": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read who looked and who changed
         * @description Returns the records of accesses, oldest first: one for each response of an operation that can return personal data
         *     or that changes something, to a caller that is known. A service without authentication records nothing. A response
         *     is sent when its record is stored on the disk of the service, so a record can exist of a response that its caller
         *     never got. This list has it some tenths of a second later, or as soon as the database is available. Records of this
         *     operation are among them.
         *
         *     A reader that goes on from its last cursor gets each record once and misses none. `Accept` selects the format. JSON
         *     returns one page, which ends at the limit or at the newest record. Server-sent events (`text/event-stream`)
         *     continue: each record has its cursor as `id`, and a client that reconnects with `Last-Event-ID` misses nothing.
         *     `limit` does not apply to them. Records that are older than the setting `AUDIT_KEEP` are deleted by the month.
         */
        get: operations["listAccessRecords"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/dead-letter": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List dead letters
         * @description Returns the messages that can never be stored and the published events that a target has rejected to the last
         *     attempt, each with its reason, newest first. They are replayed and discarded with the command `dead-letters`. If
         *     there are more than `display_size`, the header `Link` leads to the next page.
         */
        get: operations["listDeadLetters"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/dead-letter/{deadLetterId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get a dead letter and what a replay would do
         * @description Returns a dead letter with its message, in which personal data is masked, and what a replay would do. A preview
         *     reads the message and does not write; the database can still reject it.
         *
         *     A value is shown if its member is declared without `x-personal-data` and if it has the form of its member: a
         *     declared constant, a boolean, pence of up to 12 digits, an instant, a calendar day in a date, an id of up to 64
         *     letters, digits and `_ . : -` with at least one digit, or a code such as `PAYMENT_CREATED` or `visa`. Nothing that
         *     looks like the number of a card is shown, and no free text, object or list but `event_details`. Any other value is
         *     shown as its type. A name that the contract does not have is shown as a number, such as `(member 1)`. Envelopes of
         *     Amazon SNS and of CloudEvents are not shown.
         */
        get: operations["getDeadLetter"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/event": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read the feed of events
         * @description Returns the stored events in the order in which they were stored, which is the same for all readers. A reader that
         *     goes on from its last cursor gets each event once and misses none, however many receivers store events meanwhile. An
         *     event is in the feed when every SQL transaction that began to write before it has ended: usually at once.
         *
         *     `Accept` selects the format. JSON and NDJSON return one page, which ends at the limit, at 2 MiB, after 10,000
         *     events that do not match, or at the newest event. Except at the newest event, `has_more` is true and the header
         *     `Link` leads to the next page; a page can be empty although there are more. Server-sent events
         *     (`text/event-stream`) continue: each event has its cursor as `id`, and a client that reconnects with
         *     `Last-Event-ID`, as browsers do, misses nothing. A comment is sent every 15 seconds to keep the connection
         *     alive. `limit` does not apply to it.
         *
         *     Without `account_id` the feed has the events of every account, which needs the scope `ledger:read:all`. An event
         *     belongs to the account that its details name. One that names none belongs to the account of its resource;
         *     that of a payment instrument is the account of its agreement, or of the first agreement that has one. If the
         *     account becomes known later, the feed of the account has the event from then on.
         *
         *     Nothing is deleted from the feed. A cursor gets 410 if its event does not exist, because an older state of the
         *     database was restored or a failover of it lost the event. An open stream with such a cursor ends.
         */
        get: operations["listEvents"];
        put?: never;
        /**
         * Add events
         * @description Stores one event, or up to 100 events in a list, and folds them into their transactions, payouts and agreements,
         *     all or none. When the response is sent, they are committed. An event that is stored already is not stored again, so
         *     a request can be repeated. If an event is invalid, nothing is stored, and the message names each error; the events
         *     of a list are numbered from 1.
         */
        post: operations["addEvents"];
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
         * Get an event
         * @description Returns the event with this number, which is the `event_id` in the feed and in the extended events of a
         *     transaction. A number beyond 64 bits gets 404.
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
    "/v1/event/ticker": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the events of live transactions
         * @description Returns the events of live payments, refunds and disputes of all accounts between two instants, newest first, with
         *     columns of their transactions. A response has up to 10,000 events. If there are more, the header `Link` leads to
         *     the next page. If the service fails while it sends the response, it closes the connection without the final chunk.
         */
        get: operations["listTickerEvents"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/intake": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get the state of the intake
         * @description Returns how many messages wait in the queue, how many dead letters are open, and what became of the messages in
         *     each minute of the last hour, in all processes of the ledger together. A process adds its numbers every 5 seconds;
         *     one that is killed loses those since then.
         *
         *     `freshness` has the times from the acceptance of events until a destination had them, also of all processes: an event
         *     is accepted when a request with it is received, or when its message was sent. It is visible to lookup and report
         *     when it is committed, and, with a replica, when that has it; to the feed when a reader can read it; to a target when
         *     that has acknowledged it. If a process has too many transactions that are not visible yet, some are not measured.
         *
         *     If the process has targets for events, `publishing` has the state of
         *     each, and the events that wait for another attempt.
         */
        get: operations["getIntake"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/payout": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Search payouts
         * @description Returns the payouts that match every filter, newest `created_date` first; equal dates are ordered by
         *     `gateway_payout_id`, descending. `gateway_account_id` is required unless `override_account_id_restriction` is
         *     `true`. A page after the last one gets 404 if there are matches, and is empty if there are none.
         *
         *     With `extended=true` each payout has what it settles, as `getPayout` returns it. All transactions of the page are
         *     added up for that; if they are too many, the status is 504, and a smaller page has fewer.
         */
        get: operations["searchPayouts"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/payout/{gatewayPayoutId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get a payout and what it settles
         * @description Returns the payout, and the number and the sums of the transactions that it settles: those of its account whose
         *     `gateway_payout_id` is the payout. A payout adds up if `difference` is 0. `gateway_account_id` is required unless
         *     `override_account_id_restriction` is `true`.
         */
        get: operations["getPayout"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/report/gateway-performance-report": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Add up live payments by account and month
         * @description Returns the number, the gross amount and the average of the live payments in state `SUCCESS` between two days,
         *     inclusive, for each gateway account and month that has one. Payments that correct a failed refund do not count. The
         *     list is ordered by account, as text, then by month.
         *     A response has up to 10,000 entries. If there are more, the header `Link` leads to the next page.
         */
        get: operations["listGatewayPerformance"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/report/payments_by_state": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Count payments by state
         * @description Returns the number of payments in each state, as version 2 shows states, of an account or of all, whether they are
         *     live or not. `account_id` is required unless `override_account_id_restriction` is `true`.
         */
        get: operations["getPaymentsByState"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/report/performance-report": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Add up live payments by day
         * @description Returns the number, the gross amount and the average of the live payments of all accounts between two days,
         *     inclusive, or of all time. Both days are required, or none. Without `state` only finished payments count. Payments
         *     that correct a failed refund do not count: no payer has made them.
         */
        get: operations["getPerformanceReport"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/report/performance-report-legacy": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Add up live payments between instants
         * @deprecated
         * @description Use `GET /v1/report/performance-report`, which has a summary of each day and does not read each payment. This
         *     operation exists for clients of alphagov/pay-ledger.
         *
         *     Returns the number of the live payments of all accounts that have an `amount`, and the sum and the average of the
         *     amounts, without surcharges, between two instants, inclusive, or of all time. Both instants are required, or none.
         *     It reads each of these payments, so a long time can end with 504.
         */
        get: operations["getLegacyPerformanceReport"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/report/transactions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Add up transactions in groups
         * @description Returns the number and the sums of the transactions that match every filter, in groups by the columns in
         *     `group_by`. The groups are ordered by these columns, each ascending: texts by code point, missing values last.
         *     Without `group_by` there is one group. The filters are those of `searchTransactions` with the same names; a search
         *     with the same filters has the sum of all counts as its `total`. `account_id` is required unless
         *     `override_account_id_restriction` is `true`.
         *
         *     A response has up to `display_size` groups. If there are more, the header `Link` leads to the next page. With
         *     `Accept: text/csv` or `format=csv` the response contains every group, with a header row; amounts are integers, as in JSON.
         *     Days, weeks and months are calendar periods in `time_zone`. A page is read as of one moment.
         */
        get: operations["getTransactionReport"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/report/transactions-by-hour": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Add up live transactions by hour
         * @description Returns the number and the sums of the live transactions of all accounts in each hour that has one, oldest first.
         *     It reads every transaction between the two dates. A response has up to 10,000 hours. If there are more, the header
         *     `Link` leads to the next page.
         */
        get: operations["listTransactionsByHour"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/report/transactions-summary": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Add up successful payments and refunds
         * @description Returns the number and the gross amount of the payments and refunds in state `SUCCESS`, of an account or of all,
         *     whether they are live or not. `account_id` is required unless `override_account_id_restriction` is `true`, and
         *     `from_date` unless `override_from_date_validation` is `true`.
         */
        get: operations["getTransactionsSummary"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/report/transactions/changes": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List why a report has changed
         * @description Compares the report `getTransactionReport` with the same filters and groups at two positions. `groups` has the
         *     difference of each group that is not the same. `changes` lists what makes it, by the SQL transactions that stored it,
         *     in their order: each entry has the event that changed a transaction, and what that added to groups and removed from
         *     them. The sum of all entries is
         *     exactly the difference. An entry without an event is a rebuild of the transaction by other rules.
         *
         *     The first page has `groups`. A response has up to `display_size` changes of transactions, and none of those that
         *     add and remove the same. If there are more, the header `Link` leads to the next page; a page can be empty although
         *     there are more. `account_id` is required unless `override_account_id_restriction` is `true`.
         */
        get: operations["listTransactionReportChanges"];
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
         * @description Returns the transactions that match every filter, newest `created_date` first; equal dates are ordered by
         *     `transaction_id`, descending. `account_id` is required unless `override_account_id_restriction` is `true`. A page
         *     after the last one gets 404 if there are matches, and is empty if there are none. The slash at the end of the path is
         *     optional.
         *
         *     With `Accept: text/csv` or `format=csv` the response contains every match in the same order, with a header
         *     row; `x-csv` describes the cells. There is a column for each metadata key that payments of the accounts in
         *     `account_id` have ever had, up to 100. Without `account_id`, all metadata is in the column Other metadata.
         *     `columns` chooses other columns. If the service fails while it sends the CSV, it closes the connection without
         *     the final chunk.
         *
         *     A page has fewer transactions than `display_size` if more would be larger than 2 MiB. The link `next_page` then
         *     leads to the transaction after the last one, as the header `Link` does on every page but the last.
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
         * @description Returns the children in the same gateway account, oldest `created_date` first. A response has up to 200 children,
         *     fewer if they are larger than 2 MiB. If there are more, the header `Link` leads to the next page.
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
         * Get a transaction
         * @description Returns the transaction if it matches every filter, and 404 otherwise. `account_id` is required unless
         *     `override_account_id_restriction` is `true`.
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
         * @description Returns the events of a transaction and of its children, oldest first. By default the list contains the first
         *     event of each transaction that set each state. With `include_all_events=true` it contains every event.
         *
         *     A response reads up to 200 events, fewer if they are larger than 2 MiB. If there are more, the header `Link` leads
         *     to the next page, whose list may be empty without `include_all_events`.
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
    "/v1/transaction/#query": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Search transactions
         * @description The same as `searchTransactions`, as a request that is safe to repeat and has a body.
         */
        post: operations["queryTransactions"];
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
         * Get a payment by the provider's id
         * @description Returns the newest payment with this id at this provider, in any account. A transaction whose external id is
         *     `gateway-transaction` cannot be looked up, since this path takes precedence.
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
        /** @description The record of an access. It has no personal data of payers. */
        AccessRecord: {
            /** @description When the response was made, by the clock of the service. */
            accessed_date: components["schemas"]["MicrosecondInstant"];
            /** @description The claim `client_id` or `azp` of the caller, or null if there is none. */
            client: string | null;
            /** @description The cursor after this record. */
            cursor: string;
            /** @description The accounts that the request names, up to 20. Texts that are no identifiers are left out. */
            gateway_account_ids: string[];
            /** @description The operation of the contract, or `command` and the name of a command of the operator. */
            operation: string;
            /** @description The header `Access-Reason` of the request, or null. */
            reason: string | null;
            /** @description When the database got the record, by its clock. Usually some tenths of a second later. */
            recorded_date: components["schemas"]["MicrosecondInstant"];
            /** @description The `X-Request-Id` of the response; null for a command. */
            request_id: string | null;
            /** @description The number of these resources, or null if it is unknown, as it is of a stream or a CSV. */
            resource_count: number | null;
            /**
             * @description The first 20 external ids of resources in the request or, if it names none, in the response. Texts of requests without success that
             *     are no identifiers are left out. For features the kind and the id, with a slash.
             */
            resource_ids: string[];
            /** @description The service, `ledger` or `features`. */
            service: string;
            /** @description The status of the response. A command has 202, which is recorded before it changes anything. */
            status: number;
            /** @description The claim `sub` of the caller, `command` for a command, or null if there is none. */
            subject: string | null;
        };
        /** @description One page of records of accesses. */
        AccessRecordPage: {
            /** @description Whether there are more records now. */
            has_more: boolean;
            /** @description The cursor after these records. It is present even if there are none. */
            next_cursor: string;
            /** @description The records. */
            records: components["schemas"]["AccessRecord"][];
        };
        /** @description What became of an event. */
        AddedEvent: {
            /**
             * Format: int64
             * @description Number of the stored event, a 64-bit integer; null for a message with `reproject_domain_object`, which contains none.
             */
            event_id: bigint | null;
            /** @description Whether the event was not stored before. */
            is_new: boolean;
        };
        /** @description What became of each event. */
        AddedEvents: {
            /** @description One entry for each event, in the order of the request. */
            events: components["schemas"]["AddedEvent"][];
        };
        /** @description A billing address. Unknown parts are absent. */
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
        /** @description An agreement to take recurring payments. */
        Agreement: {
            /** @description Email address of the user who cancelled the agreement; null if no user did. */
            cancelled_by_user_email: string | null;
            /**
             * Format: date-time
             * @description The timestamp of the newest event, truncated to the millisecond, if the agreement is cancelled; otherwise null.
             */
            cancelled_date: string | null;
            created_date: components["schemas"]["MillisecondInstant"];
            /** @description Description of the agreement. */
            description: string | null;
            external_id: components["schemas"]["ExternalId"];
            /** @description Whether real money is involved. */
            live: boolean | null;
            /** @description The newest payment instrument of the agreement; null if there is none. */
            payment_instrument: components["schemas"]["PaymentInstrument"] | null;
            /** @description Reference that the service gives the agreement. */
            reference: string | null;
            /** @description Service of the agreement. */
            service_id: string | null;
            status: components["schemas"]["AgreementStatus"];
            /** @description Id that the service gives the payer. */
            user_identifier: string | null;
        };
        /** @description An event of an agreement or of one of its payment instruments. */
        AgreementEvent: {
            /** @description Details of the event. */
            data: {
                [key: string]: unknown;
            };
            /** @description Number of the event. Absent unless `extended`. */
            event_id?: components["schemas"]["EventId"];
            /** @description Type of the event. */
            event_type: string;
            /** @description Whether real money is involved. */
            live: boolean | null;
            resource_external_id: components["schemas"]["ExternalId"];
            resource_type: components["schemas"]["AgreementResourceType"];
            /** @description Service in the message. */
            service_id: string | null;
            timestamp: components["schemas"]["MillisecondInstant"];
        };
        /** @description The events of an agreement and of its payment instruments. */
        AgreementEventResponse: {
            /** @description Absent on the last page, and unless `extended`. */
            _links?: components["schemas"]["NextCursorLink"];
            /** @description The events, oldest first. */
            events: components["schemas"]["AgreementEvent"][];
        };
        /**
         * @description Whether an event belongs to the agreement or to one of its payment instruments.
         * @enum {string}
         */
        AgreementResourceType: "AGREEMENT" | "PAYMENT_INSTRUMENT";
        /** @description One page of a search. */
        AgreementSearchResponse: {
            _links: components["schemas"]["SearchLinks"];
            /** @description Number of matches on this page. */
            count: number;
            /**
             * Format: int32
             * @description Number of this page.
             */
            page: number;
            /** @description The matches on this page. */
            results: components["schemas"]["Agreement"][];
            total: components["schemas"]["MatchCount"];
        };
        /**
         * @description Status of an agreement. `UNDEFINED` means that no event has set one.
         * @enum {string}
         */
        AgreementStatus: "UNDEFINED" | "CREATED" | "ACTIVE" | "INACTIVE" | "CANCELLED";
        /**
         * @description Authorisation mode of a payment.
         * @enum {string}
         */
        AuthorisationMode: "web" | "moto_api" | "agreement" | "external";
        /** @description Authorisation of a payment. */
        AuthorisationSummary: {
            /** @description 3-D Secure. */
            three_d_secure: {
                /** @description Whether 3-D Secure was required. */
                required: boolean;
                /** @description Version of the protocol. */
                version?: string;
            };
        };
        /** @description Details of the card. */
        CardDetails: {
            billing_address?: components["schemas"]["Address"];
            /**
             * @description Display name of the brand, such as `Visa`, or empty if it is unknown. Of a payment instrument: the id of the
             *     brand, such as `visa`.
             */
            card_brand: string;
            /**
             * @description Type of the card.
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
        /** @description An event that has changed a transaction. */
        ChangingEvent: {
            /** @description The cursor after this event. */
            cursor: components["schemas"]["Cursor"];
            /** @description Number of the event. */
            event_id: components["schemas"]["EventId"];
            /** @description Type of the event. */
            event_type: string;
            /** @description Id of the resource. */
            resource_external_id: components["schemas"]["ExternalId"];
            /** @description Type of the resource. */
            resource_type: components["schemas"]["ResourceType"];
            /** @description When the event happened, in UTC. */
            timestamp: components["schemas"]["MicrosecondInstant"];
        };
        /** @description The number and the gross amount of transactions. */
        CountAndGrossAmount: {
            count: components["schemas"]["TransactionCount"];
            /** @description Sum of `total_amount`, or of `amount` where there is no `total_amount`. */
            gross_amount: components["schemas"]["PenceSum"];
        };
        /** @description Name of a column of the CSV of `searchTransactions`. `KEY (metadata)` is the column of a metadata key. */
        CsvColumn: string;
        /** @description A position in a list of this ledger, which only the ledger can read. Take it from a link of the service. */
        Cursor: string;
        /**
         * Format: date
         * @description A calendar day.
         * @example 2024-03-11
         */
        Day: string;
        /** @description A message that can never be stored, or a published event that a target has rejected to the last attempt. */
        DeadLetter: {
            created_date: components["schemas"]["MicrosecondInstant"];
            dead_letter_id: components["schemas"]["DeadLetterId"];
            /**
             * Format: date-time
             * @description When an operator discarded it; null if it is open.
             */
            discarded_date: string | null;
            /** @description Why an operator discarded it, or null. */
            note: string | null;
            /** @description Why the message cannot be stored or published. */
            reason: string;
            /**
             * Format: int32
             * @description Size of the message in bytes.
             */
            size: number;
            /** @description The queue's id of the message, or the target with the number of the event. */
            source_id: string;
            /** @description The target that has rejected the published event; null for a message that cannot be stored. */
            target: string | null;
        };
        /** @description A dead letter with its message. */
        DeadLetterDetail: {
            created_date: components["schemas"]["MicrosecondInstant"];
            dead_letter_id: components["schemas"]["DeadLetterId"];
            /**
             * Format: date-time
             * @description When an operator discarded it; null if it is open.
             */
            discarded_date: string | null;
            /** @description The message as indented JSON, in which personal data is masked. Null if it is not JSON or exceeds a limit of `EventMessage`. */
            message: string | null;
            /** @description Why an operator discarded it, or null. */
            note: string | null;
            /** @description Why the message cannot be stored or published. */
            reason: string;
            replay: components["schemas"]["ReplayPreview"];
            /**
             * Format: int32
             * @description Size of the message in bytes.
             */
            size: number;
            /** @description The queue's id of the message, or the target with the number of the event. */
            source_id: string;
            /** @description The target that has rejected the published event; null for a message that cannot be stored. */
            target: string | null;
        };
        /**
         * Format: int64
         * @description Number of a dead letter, a 64-bit integer.
         * @example 17
         */
        DeadLetterId: bigint;
        /** @description One page of dead letters. */
        DeadLetterPage: {
            /** @description Absent on the last page. */
            _links?: components["schemas"]["NextCursorLink"];
            /** @description The dead letters, newest first. */
            dead_letters: components["schemas"]["DeadLetter"][];
        };
        /**
         * @description Whether a dead letter waits for an operator.
         * @enum {string}
         */
        DeadLetterState: "open" | "discarded";
        /**
         * @description Any JSON value.
         * @example 2024-03-05T09:14:22Z
         */
        DetailValue: unknown;
        /** @description A dispute of a payment. */
        Dispute: {
            amount?: components["schemas"]["Pence"];
            created_date: components["schemas"]["MillisecondInstant"];
            evidence_due_date?: components["schemas"]["MillisecondInstant"];
            fee?: components["schemas"]["Pence"];
            /** @description Gateway account. */
            gateway_account_id?: string;
            /** @description The provider's id of the dispute. */
            gateway_transaction_id?: string;
            /** @description Whether real money is involved. */
            live?: boolean;
            net_amount?: components["schemas"]["Pence"];
            parent_transaction_id?: components["schemas"]["ExternalId"];
            payment_details: components["schemas"]["PaymentDetails"];
            /**
             * @description Reason for the dispute.
             * @enum {string}
             */
            reason?: "credit_not_processed" | "duplicate" | "fraudulent" | "general" | "product_not_received" | "product_unacceptable" | "subscription_canceled" | "unrecognised" | "other";
            /** @description Service. */
            service_id?: string;
            settlement_summary: components["schemas"]["SettlementSummary"];
            state: components["schemas"]["TransactionState"];
            transaction_id: components["schemas"]["ExternalId"];
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            transaction_type: "DISPUTE";
        };
        /**
         * @description Type of a dispute.
         * @enum {string}
         */
        DisputeType: "DISPUTE";
        /** @description A stored event. */
        Event: {
            /** @description The details of the message without its null members. */
            event_details: {
                [key: string]: unknown;
            };
            event_id: components["schemas"]["EventId"];
            /** @description Type of the event. */
            event_type: string;
            /** @description Whether real money is involved, or null if the message has no value. */
            live: boolean | null;
            /** @description The parent in the message, or null. */
            parent_resource_external_id: string | null;
            resource_external_id: components["schemas"]["ExternalId"];
            resource_type: components["schemas"]["ResourceType"];
            /** @description Service in the message, or null. */
            service_id: string | null;
            timestamp: components["schemas"]["MicrosecondInstant"];
        };
        /**
         * @description Details of the resource. Any member is allowed; those listed here become part of the transaction, payout or
         *     agreement, except if they are stored only. The value of a member comes from the newest event that has it. A
         *     member that is null counts as absent. Values of members with `x-personal-data`, and those that have not the form of
         *     their member, are masked for operators. After a redaction, `<REDACTED>` is in place of the values of
         *     members with `x-personal-data`, and of members that are not listed here.
         * @example {
         *       "amount": 4250,
         *       "reference": "LIC-88"
         *     }
         */
        EventDetails: {
            /** @description City of the billing address. */
            address_city?: components["schemas"]["LenientText"];
            /** @description Country of the billing address, such as `GB`. */
            address_country?: components["schemas"]["LenientText"];
            /** @description County of the billing address. */
            address_county?: components["schemas"]["LenientText"];
            /** @description First line of the billing address. */
            address_line1?: components["schemas"]["LenientText"];
            /** @description Second line of the billing address. */
            address_line2?: components["schemas"]["LenientText"];
            /** @description Postcode of the billing address. */
            address_postcode?: components["schemas"]["LenientText"];
            /** @description State or province of the billing address. Stored only. */
            address_state_province?: components["schemas"]["DetailValue"];
            /** @description Administrator who corrected the state. Stored only. */
            admin_github_id?: components["schemas"]["DetailValue"];
            /** @description Agreement of the payment instrument, a text of up to 255 characters. Any other value counts as absent. */
            agreement_external_id?: components["schemas"]["DetailValue"];
            /** @description Agreement of the payment. */
            agreement_id?: components["schemas"]["LenientIdentifier"];
            /** @description Type of a payment of an agreement, such as `recurring`. */
            agreement_payment_type?: components["schemas"]["LenientText"];
            /** @description Amount of the payment, refund, dispute or payout. */
            amount?: components["schemas"]["LenientPence"];
            /** @description Authorisation mode of the payment. */
            authorisation_mode?: components["schemas"]["AuthorisationMode"];
            /** @description Whether a rejected payment of an agreement can be tried again. */
            can_retry?: components["schemas"]["LenientBoolean"];
            /** @description When the agreement was cancelled. Stored only: the agreement shows the timestamp of its newest event. */
            cancelled_date?: components["schemas"]["DetailValue"];
            /** @description When the capture was submitted, an instant with a UTC offset. Any other value counts as absent. */
            capture_submitted_date?: components["schemas"]["DetailValue"];
            /** @description When the payment was captured, an instant with a UTC offset. Any other value counts as absent. */
            captured_date?: components["schemas"]["DetailValue"];
            /** @description Id of the card brand, such as `visa`. */
            card_brand?: components["schemas"]["LenientIdentifier"];
            /** @description Name of the card brand, such as `Visa`. */
            card_brand_label?: components["schemas"]["LenientText"];
            /** @description Type of the card, `CREDIT` or `DEBIT`. */
            card_type?: components["schemas"]["LenientText"];
            /** @description Name of the cardholder. */
            cardholder_name?: components["schemas"]["LenientText"];
            /** @description Surcharge for a corporate card. */
            corporate_surcharge?: components["schemas"]["LenientPence"];
            /** @description Credentials of the gateway account with which the payment is made. */
            credential_external_id?: components["schemas"]["LenientText"];
            /**
             * @description The currency of the amounts (ISO 4217). An event in another currency than `x-currency` becomes a dead letter. Stored
             *     only.
             */
            currency?: string;
            /** @description Whether the service approves the capture later. */
            delayed_capture?: components["schemas"]["LenientBoolean"];
            /** @description Description of the payment or agreement. */
            description?: components["schemas"]["LenientText"];
            /** @description Type of the account to which the payout goes. Stored only. */
            destination_type?: components["schemas"]["DetailValue"];
            /** @description Whether the payment is disputed. */
            disputed?: components["schemas"]["LenientBoolean"];
            /** @description Email address of the payer. */
            email?: components["schemas"]["LenientText"];
            /** @description When the payout is expected in the bank account. Stored only. */
            estimated_arrival_date_in_bank?: components["schemas"]["DetailValue"];
            /** @description Deadline for evidence, an instant with a UTC offset. Any other value counts as absent. */
            evidence_due_date?: components["schemas"]["DetailValue"];
            /**
             * @description The requested exemption.
             * @enum {string}
             */
            exemption_3ds_requested?: "OPTIMISED" | "CORPORATE";
            /**
             * @description Outcome of the exemption from strong customer authentication.
             * @enum {string}
             */
            exemption3ds?: "EXEMPTION_NOT_REQUESTED" | "EXEMPTION_HONOURED" | "EXEMPTION_REJECTED" | "EXEMPTION_OUT_OF_SCOPE";
            /** @description When the card expires, such as `11/29`. */
            expiry_date?: components["schemas"]["LenientText"];
            /** @description Metadata of the service for the payment. A key has at most 255 characters. */
            external_metadata?: {
                [key: string]: unknown;
            } | null;
            /** @description Id of the failed payout's balance transaction at the payment provider. Stored only. */
            failure_balance_transaction?: components["schemas"]["DetailValue"];
            /** @description Code of the failure of the payout. Stored only. */
            failure_code?: components["schemas"]["DetailValue"];
            /** @description Message of the failure of the payout. Stored only. */
            failure_message?: components["schemas"]["DetailValue"];
            /** @description Fee of the payment or dispute. */
            fee?: components["schemas"]["LenientPence"];
            /** @description Parts of the fee, objects with `fee_type` and `amount`. Other values are ignored. */
            fee_breakdown?: components["schemas"]["DetailValue"];
            /** @description First six digits of the card number. */
            first_digits_card_number?: components["schemas"]["LenientIdentifier"];
            /** @description Gateway account of the resource. */
            gateway_account_id?: components["schemas"]["LenientIdentifier"];
            /** @description When the payment provider captured the payment. Stored only. */
            gateway_event_date?: components["schemas"]["DetailValue"];
            /** @description Payout that contains the payment, refund or dispute. */
            gateway_payout_id?: components["schemas"]["LenientIdentifier"];
            /** @description Why the payment provider rejected the payment. Stored only. */
            gateway_rejection_reason?: components["schemas"]["DetailValue"];
            /** @description Status of the payout at the payment provider. Stored only. */
            gateway_status?: components["schemas"]["DetailValue"];
            /** @description Id of the payment, refund or dispute at the payment provider. */
            gateway_transaction_id?: components["schemas"]["LenientIdentifier"];
            /** @description Language of the payment pages. */
            language?: components["schemas"]["LenientText"];
            /** @description Last four digits of the card number. */
            last_digits_card_number?: components["schemas"]["LenientIdentifier"];
            /** @description Whether real money is involved, if no message has it as a member of its own. */
            live?: components["schemas"]["LenientBoolean"];
            /** @description Whether the payment is an order by mail or telephone. */
            moto?: components["schemas"]["LenientBoolean"];
            /** @description Amount without the fee. */
            net_amount?: components["schemas"]["LenientPence"];
            /** @description When the payout was paid, an instant with a UTC offset. Any other value counts as absent. */
            paid_out_date?: components["schemas"]["DetailValue"];
            /** @description Payment instrument of the agreement. Stored only. */
            payment_instrument_external_id?: components["schemas"]["DetailValue"];
            /** @description Payment instrument with which a payment of an agreement is made. Stored only. */
            payment_instrument_id?: components["schemas"]["DetailValue"];
            /** @description Payment provider. */
            payment_provider?: components["schemas"]["LenientText"];
            /** @description Reason of the dispute, or why the agreement is inactive. */
            reason?: components["schemas"]["LenientText"];
            /** @description Reference that the service gives the payment or agreement. */
            reference?: components["schemas"]["LenientIdentifier"];
            /** @description Amount of the payment that can still be refunded. */
            refund_amount_available?: components["schemas"]["LenientPence"];
            /** @description Amount of the payment that was refunded. */
            refund_amount_refunded?: components["schemas"]["LenientPence"];
            /** @description Whether the payment can be refunded, such as `available` or `full`. */
            refund_status?: components["schemas"]["LenientText"];
            /** @description Id of the user who made the refund. */
            refunded_by?: components["schemas"]["LenientText"];
            /** @description Whether the payment needs 3-D Secure. */
            requires_3ds?: components["schemas"]["LenientBoolean"];
            /** @description URL to which the payer returns. */
            return_url?: components["schemas"]["LenientText"];
            /** @description Whether the payment sets up the payment instrument of its agreement. Stored only. */
            save_payment_instrument_to_agreement?: components["schemas"]["DetailValue"];
            /** @description Source of the payment. */
            source?: components["schemas"]["Source"];
            /** @description Text of the payout on the bank statement. Stored only. */
            statement_descriptor?: components["schemas"]["DetailValue"];
            /** @description Amount that the payer pays, with the surcharge. */
            total_amount?: components["schemas"]["LenientPence"];
            /** @description Type of the payment instrument, such as `CARD`. An object or array counts as absent. */
            type?: components["schemas"]["DetailValue"];
            /** @description Why an administrator corrected the state. Stored only. */
            updated_reason?: components["schemas"]["DetailValue"];
            /** @description Email address of the user who made the refund or cancelled the agreement. */
            user_email?: components["schemas"]["LenientText"];
            /** @description Id of the user who cancelled the agreement. Stored only. */
            user_external_id?: components["schemas"]["DetailValue"];
            /** @description Id that the service gives the payer of an agreement. An object or array counts as absent. */
            user_identifier?: components["schemas"]["DetailValue"];
            /** @description Version of 3-D Secure. */
            version_3ds?: components["schemas"]["LenientText"];
            /** @description Wallet of the card, such as `APPLE_PAY`. */
            wallet?: components["schemas"]["LenientText"];
            /** @description Support ticket of the correction. Stored only. */
            zendesk_id?: components["schemas"]["DetailValue"];
        } & {
            [key: string]: unknown;
        };
        /**
         * @description One page of the feed of events.
         * @example {
         *       "events": [],
         *       "has_more": false,
         *       "next_cursor": "KZy3XO-mPiR6g4i3Crp36tpKHe3JAu9b1p3zxQ4dW7hGm2sT8vLcYf0nB5aEoU1rjKtPZqDl6Mw"
         *     }
         */
        EventFeedPage: {
            /** @description The events. The list may be empty on any page. */
            events: components["schemas"]["FeedEvent"][];
            /** @description Whether the next page can have events now. */
            has_more: boolean;
            /** @description The cursor after these events. It is present even if there are none. */
            next_cursor: string;
        };
        /**
         * Format: int64
         * @description Number of a stored event, a 64-bit integer.
         * @example 17
         */
        EventId: bigint;
        /**
         * @description A message of the queue, which contains one event. A member that is null counts as absent, as does an empty
         *     `parent_resource_external_id` or `service_id`. Other members than these are kept with the event, as
         *     `other_members` in the feed, and published with it. Messages with equal `resource_type`,
         *     `resource_external_id`, `timestamp` and `event_type` contain the same event: the first one is stored.
         *
         *     The limits are 1 MiB including the envelope, 100 levels of nesting and 100 digits in a number without an exponent.
         *     Numbers keep all their digits. A text with a NUL character or an unpaired surrogate is rejected.
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
            /** @description Details of the resource that the event sets. */
            event_details?: components["schemas"]["EventDetails"];
            /** @description Type of the event, such as one of `x-event-types`. An event of another type is stored and sets no state. */
            event_type: string;
            /** @description The account of the resource, if `event_details` do not name it. */
            gateway_account_id?: components["schemas"]["LenientIdentifier"];
            /** @description Whether real money is involved. The text "null" counts as absent. */
            live?: boolean | ("true" | "false" | "null");
            /** @description The payment of a refund or dispute. */
            parent_resource_external_id?: string;
            /**
             * @description If true, the message contains no event and is not stored. The projection of the transaction, payout,
             *     agreement or payment instrument with this `resource_external_id` is rebuilt from its stored events.
             */
            reproject_domain_object?: boolean | ("true" | "false" | "null");
            /** @description Id of the resource. */
            resource_external_id: components["schemas"]["ExternalId"];
            /** @description Type of the resource. */
            resource_type: components["schemas"]["ResourceType"];
            /** @description Service of the resource. */
            service_id?: string;
            /**
             * Format: date-time
             * @description When the event happened, with seconds and a UTC offset, such as `2024-03-05T09:14:22Z`; truncated to the
             *     microsecond.
             */
            timestamp: string;
        };
        /** @description A list of events. */
        EventMessageList: components["schemas"]["EventMessage"][];
        /** @description One event, or a list of events. */
        EventMessages: components["schemas"]["EventMessage"] | components["schemas"]["EventMessageList"];
        /** @description Exemption from strong customer authentication. */
        Exemption: {
            /** @description Outcome of the request. */
            outcome?: {
                /**
                 * @description Result of the request.
                 * @enum {string}
                 */
                result: "honoured" | "rejected" | "out of scope";
            };
            /** @description Whether an exemption was requested. */
            requested: boolean;
            /**
             * @description Type of the exemption.
             * @constant
             */
            type?: "corporate";
        };
        /**
         * @description An opaque identifier of 1 to 255 characters without NUL.
         * @example pay7f3k2m9q1x5c8v4b6n0t2w
         */
        ExternalId: string;
        /**
         * @description One fault of a request. It has a place: `parameter`, `header` or `pointer`. A fault without `remedy` has no safe
         *     correction, or more than one.
         * @example {
         *       "parameter": "limit",
         *       "rule": {
         *         "maximum": 1000
         *       },
         *       "detail": "query parameter limit must be at most 1000",
         *       "remedy": [
         *         {
         *           "op": "replace",
         *           "path": "/limit",
         *           "value": "1000"
         *         }
         *       ]
         *     }
         */
        Fault: {
            /** @description What is expected. */
            detail: string;
            /** @description The name of the header. */
            header?: string;
            /** @description The name of the path or query parameter. */
            parameter?: string;
            /** @description The place in the body, as a JSON pointer (RFC 6901). The whole body is an empty text. */
            pointer?: string;
            /**
             * @description The only safe correction, as a JSON Patch (RFC 6902). For a `pointer` it changes the body. For a `parameter` or
             *     a `header` it changes an object that has the texts of all parameters, or of all headers, by name.
             */
            remedy?: components["schemas"]["PatchOperation"][];
            /**
             * @description The rule that the value breaks, with its value: a keyword of JSON Schema or of the contract, such as
             *     `{"maximum": 500}`.
             */
            rule: {
                [key: string]: unknown;
            };
        };
        /** @description A stored event in the feed. */
        FeedEvent: {
            /** @description The cursor after this event. */
            cursor: string;
            /** @description The details of the message without its null members. */
            event_details: {
                [key: string]: unknown;
            };
            /** @description Number of the event. */
            event_id: components["schemas"]["EventId"];
            /** @description Type of the event. */
            event_type: string;
            /** @description The account that the event belongs to, or null if it was not known when the event was stored. */
            gateway_account_id: string | null;
            /** @description Whether real money is involved, or null if the message has no value. */
            live: boolean | null;
            /**
             * @description The other members of the message, such as its own `gateway_account_id`, without those that are null. Absent if
             *     there are none.
             */
            other_members?: {
                [key: string]: unknown;
            };
            /** @description The parent in the message, or null. */
            parent_resource_external_id: string | null;
            /** @description Id of the resource. */
            resource_external_id: components["schemas"]["ExternalId"];
            /** @description Type of the resource. */
            resource_type: components["schemas"]["ResourceType"];
            /** @description Service in the message, or null. */
            service_id: string | null;
            /** @description When the event happened, in UTC. */
            timestamp: components["schemas"]["MicrosecondInstant"];
        };
        /** @description The time from the acceptance of events until a destination had them. */
        Freshness: {
            /**
             * @description `lookup`, `report`, `feed`, or `target` and the name of a target.
             * @example feed
             */
            destination: string;
            /** @description Number of events that were measured. */
            events: components["schemas"]["MessageCount"];
            /**
             * Format: int64
             * @description Time within which half of the events were visible, in milliseconds, rounded up to two digits.
             * @example 9
             */
            p50_ms: number;
            /**
             * Format: int64
             * @description Time within which 99 % of the events were visible, in milliseconds, rounded up to two digits.
             * @example 21
             */
            p99_ms: number;
        };
        /** @description The payments of an account in a month. */
        GatewayPerformance: {
            /**
             * Format: double
             * @description The sum divided by the number.
             */
            average_amount: number;
            /** @description Gateway account, as an integer if it has the form of one up to 2147483647, otherwise as text. Null for payments without one. */
            gateway_account_id: number | string | null;
            /** @description Month (UTC), from 1. */
            month: number;
            /** @description Sum of `total_amount`, or of `amount` where there is no `total_amount`. */
            total_amount: components["schemas"]["PenceSum"];
            /** @description Number of payments. */
            total_volume: components["schemas"]["TransactionCount"];
            /** @description Year (UTC). */
            year: number;
        };
        /** @description Accounts and months with payments. */
        GatewayPerformanceReport: components["schemas"]["GatewayPerformance"][];
        /**
         * @description A column by which a report groups transactions.
         * @enum {string}
         */
        GroupColumn: "account" | "type" | "state" | "day" | "week" | "month" | "live" | "moto";
        /** @description The result of one check. */
        HealthCheck: {
            /** @description Whether the check passed. */
            healthy: boolean;
            /** @description `Healthy`, or the reason. */
            message: string;
        };
        /** @description The result of each check. */
        HealthReport: {
            database: components["schemas"]["HealthCheck"];
            /**
             * @description The id of the ledger, with which the ids of published events begin. It is that of its database. A dump that is
             *     restored as another database gets a new one.
             * @example 0d4fb1c6-2f2c-4b6e-9a8b-6b0a4f1f2f55
             */
            ledger_id: string;
            /** @description The state of each target. */
            publishing?: components["schemas"]["PublishingCheck"][];
            queue: components["schemas"]["HealthCheck"];
            receiver?: components["schemas"]["ReceiverCheck"];
            transparency_log?: components["schemas"]["TransparencyLogCheck"];
        };
        /** @description What became of the messages in a minute. */
        IntakeMinute: {
            /** @description Messages that became dead letters. */
            dead_letter: components["schemas"]["MessageCount"];
            /** @description Messages with an event that was stored. */
            duplicate: components["schemas"]["MessageCount"];
            /**
             * Format: int64
             * @description Average time from the sending of a message to its commit, in milliseconds. Null if the queue does not have it.
             */
            lag_ms_average: number | null;
            /**
             * Format: int64
             * @description Greatest time from the sending of a message to its commit, in milliseconds, or null.
             */
            lag_ms_max: number | null;
            /** @description Start of the minute. */
            minute: components["schemas"]["MillisecondInstant"];
            /** @description Messages that rebuilt a projection. */
            rebuilt: components["schemas"]["MessageCount"];
            /** @description Deliveries that are retried later. */
            retried: components["schemas"]["MessageCount"];
            /** @description Messages with a new event. */
            stored: components["schemas"]["MessageCount"];
        };
        /** @description The state of the intake. */
        IntakeReport: {
            /** @description How fresh each destination of events was in the present minute and the one before, in order of name. */
            freshness: components["schemas"]["Freshness"][];
            /**
             * Format: int64
             * @description Approximate number of messages in the queue. Null if the queue cannot be reached.
             */
            messages_waiting: number | null;
            /** @description The minutes of the last hour in which there were messages, oldest first. */
            minutes: components["schemas"]["IntakeMinute"][];
            /** @description Number of open dead letters. Counting stops at 10,000. */
            open_dead_letters: number;
            /** @description The state of each target for events. Absent if the process has none, or if the state cannot be read. */
            publishing?: components["schemas"]["PublishingCheck"][];
        };
        /** @description A position of this ledger, or a day. */
        KnownAt: string;
        /**
         * @description A boolean, or its text `true` or `false`.
         * @example true
         */
        LenientBoolean: boolean | ("true" | "false");
        /**
         * @description Text of at most 255 characters. A number or a boolean is converted to text.
         * @example LIC-88
         */
        LenientIdentifier: string | number | boolean;
        /**
         * @description An amount in the minor unit of `x-currency`, pence by default, as an integer or as decimal text.
         * @example 4250
         */
        LenientPence: number | string;
        /**
         * @description Text. A number or a boolean is converted to text.
         * @example LIC-88
         */
        LenientText: string | number | boolean;
        /** @description A link. */
        Link: {
            /**
             * Format: uri
             * @description Address of the page.
             */
            href: string;
        };
        /** @description A `ScopeId` in a comma-separated list, without comma. */
        ListedScopeId: string;
        /** @description An item of a comma-separated list, 1 to 255 characters without comma or NUL. */
        ListedText: string;
        /**
         * Format: int64
         * @description Number of matches on all pages.
         * @example 2
         */
        MatchCount: number;
        /**
         * Format: int64
         * @description Number of messages.
         * @example 420
         */
        MessageCount: number;
        /**
         * @description Metrics in the text format of Prometheus.
         * @example # HELP ledger_dead_letters Messages in the dead-letter table.
         */
        Metrics: string;
        /**
         * Format: date-time
         * @description An instant in UTC, exact to the microsecond.
         * @example 2024-03-05T09:14:22.018000Z
         */
        MicrosecondInstant: string;
        /**
         * Format: date-time
         * @description An instant in UTC, truncated to the millisecond.
         * @example 2024-03-05T09:14:22.018Z
         */
        MillisecondInstant: string;
        /** @description The link to the next page of a list. */
        NextCursorLink: {
            next_cursor: components["schemas"]["Link"];
        };
        /**
         * Format: int64
         * @description An amount in the minor unit of `x-currency`, pence by default, or null if unknown.
         */
        OptionalPence: number | null;
        /**
         * @description One operation of a JSON Patch (RFC 6902).
         * @example {
         *       "op": "move",
         *       "from": "/acount_id",
         *       "path": "/account_id"
         *     }
         */
        PatchOperation: {
            /** @description The source of `move`. */
            from?: string;
            /**
             * @description `replace` sets the value at `path`, `move` moves the value at `from` to `path`.
             * @enum {string}
             */
            op: "replace" | "move";
            /** @description A JSON pointer (RFC 6901). */
            path: string;
            /** @description The value of `replace`: any JSON. */
            value?: unknown;
        };
        /** @description A payment. */
        Payment: {
            /** @description Agreement of the payment. */
            agreement_id?: string;
            /** @description Type of payment in the agreement. */
            agreement_payment_type?: string;
            amount?: components["schemas"]["Pence"];
            authorisation_mode: components["schemas"]["AuthorisationMode"];
            authorisation_summary?: components["schemas"]["AuthorisationSummary"];
            card_details?: components["schemas"]["CardDetails"];
            corporate_card_surcharge?: components["schemas"]["Pence"];
            created_date: components["schemas"]["MillisecondInstant"];
            /** @description Credential at the payment provider. */
            credential_external_id?: string;
            /** @description Whether the service captures the payment later. */
            delayed_capture: boolean;
            /** @description Description of the payment. */
            description?: string;
            /** @description Whether it has been disputed. */
            disputed: boolean;
            /** @description Email address of the payer. */
            email?: string;
            exemption?: components["schemas"]["Exemption"];
            fee?: components["schemas"]["Pence"];
            /** @description Gateway account. */
            gateway_account_id?: string;
            /** @description Payout that includes it. */
            gateway_payout_id?: string;
            /** @description The provider's id of the payment. */
            gateway_transaction_id?: string;
            /** @description Language of the payment pages. */
            language?: string;
            /** @description Whether real money is involved. */
            live?: boolean;
            /** @description Metadata of the service for the payment. Values keep their JSON types. */
            metadata?: {
                [key: string]: unknown;
            };
            /** @description Whether it is a mail order or telephone order. */
            moto: boolean;
            net_amount?: components["schemas"]["Pence"];
            /** @description Payment provider. */
            payment_provider?: string;
            /** @description Reference of the service. */
            reference?: string;
            refund_summary?: components["schemas"]["RefundSummary"];
            /** @description Address to which the payer returns. */
            return_url?: string;
            /** @description Service. */
            service_id?: string;
            settlement_summary: components["schemas"]["PaymentSettlementSummary"];
            source?: components["schemas"]["Source"];
            state: components["schemas"]["TransactionState"];
            total_amount?: components["schemas"]["Pence"];
            transaction_id: components["schemas"]["ExternalId"];
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            transaction_type: "PAYMENT";
            /** @description Wallet of the payer. */
            wallet_type?: string;
        };
        /**
         * @description Details of the payment of a refund or dispute. They come from the payment if both are in the same gateway account,
         *     and otherwise from the events of the refund or dispute.
         */
        PaymentDetails: {
            card_details: components["schemas"]["CardDetails"];
            /** @description Description of the payment. */
            description?: string;
            /** @description Email address of the payer. */
            email?: string;
            /** @description Reference of the payment. */
            reference?: string;
            transaction_type: components["schemas"]["PaymentType"];
            /** @description Wallet of the payment. Present on refunds only. */
            wallet_type?: string;
        };
        /** @description A payment instrument, such as a card. */
        PaymentInstrument: {
            agreement_external_id: components["schemas"]["ExternalId"];
            /** @description Details of the card; null if none is known. */
            card_details: components["schemas"]["CardDetails"] | null;
            created_date: components["schemas"]["MillisecondInstant"];
            external_id: components["schemas"]["ExternalId"];
            /** @description Type of the payment instrument, such as `CARD`. */
            type: string | null;
        };
        /** @description Number of payments in each state. */
        PaymentsByState: {
            cancelled: components["schemas"]["TransactionCount"];
            capturable: components["schemas"]["TransactionCount"];
            created: components["schemas"]["TransactionCount"];
            declined: components["schemas"]["TransactionCount"];
            error: components["schemas"]["TransactionCount"];
            lost: components["schemas"]["TransactionCount"];
            needs_response: components["schemas"]["TransactionCount"];
            started: components["schemas"]["TransactionCount"];
            submitted: components["schemas"]["TransactionCount"];
            success: components["schemas"]["TransactionCount"];
            timedout: components["schemas"]["TransactionCount"];
            undefined: components["schemas"]["TransactionCount"];
            under_review: components["schemas"]["TransactionCount"];
            won: components["schemas"]["TransactionCount"];
        };
        /** @description Capture and settlement of a payment. */
        PaymentSettlementSummary: {
            /**
             * Format: date-time
             * @description When the capture was submitted, in UTC, truncated to the millisecond.
             */
            capture_submit_time: string | null;
            /**
             * Format: date
             * @description Day of the capture, at the UTC offset of the event.
             */
            captured_date: string | null;
            settled_date?: components["schemas"]["Day"];
        };
        /**
         * @description Type of a payment.
         * @enum {string}
         */
        PaymentType: "PAYMENT";
        /** @description A payout. */
        Payout: {
            /** @description Amount of the payout; 0 if it is not known. */
            amount: components["schemas"]["Pence"];
            created_date: components["schemas"]["MillisecondInstant"];
            /** @description `amount` minus `settled_amount`. Absent unless `extended=true`. */
            difference?: components["schemas"]["PenceSum"];
            /** @description Gateway account of the payout. */
            gateway_account_id: string | null;
            gateway_payout_id: components["schemas"]["ExternalId"];
            /** @description Whether real money is involved. */
            live: boolean | null;
            /**
             * Format: date-time
             * @description When the payout was paid, truncated to the millisecond; null if it is not known.
             */
            paid_out_date: string | null;
            /** @description Service of the payout. */
            service_id: string | null;
            /** @description What the payout settles, one entry for each type of transaction. Absent unless `extended=true`. */
            settled?: components["schemas"]["SettledTransactions"][];
            /** @description Sum of `settled_amount` of all types. Absent unless `extended=true`. */
            settled_amount?: components["schemas"]["PenceSum"];
            state: components["schemas"]["PayoutState"];
        };
        /** @description A payout and what it settles. */
        PayoutDetail: {
            /** @description Amount of the payout; 0 if it is not known. */
            amount: components["schemas"]["Pence"];
            created_date: components["schemas"]["MillisecondInstant"];
            /** @description `amount` minus `settled_amount`. */
            difference: components["schemas"]["PenceSum"];
            /** @description Gateway account of the payout. */
            gateway_account_id: string | null;
            gateway_payout_id: components["schemas"]["ExternalId"];
            /** @description Whether real money is involved. */
            live: boolean | null;
            /**
             * Format: date-time
             * @description When the payout was paid, truncated to the millisecond; null if it is not known.
             */
            paid_out_date: string | null;
            /** @description Service of the payout. */
            service_id: string | null;
            /** @description What the payout settles, one entry for each type of transaction. */
            settled: components["schemas"]["SettledTransactions"][];
            /** @description Sum of `settled_amount` of all types. */
            settled_amount: components["schemas"]["PenceSum"];
            state: components["schemas"]["PayoutState"];
        };
        /** @description Links to pages of the same search, with every filter. Links to pages that do not exist are absent. */
        PayoutLinks: {
            first_page: components["schemas"]["Link"];
            last_page: components["schemas"]["Link"];
            next_page?: components["schemas"]["Link"];
            prev_page?: components["schemas"]["Link"];
            self: components["schemas"]["Link"];
        };
        /** @description One page of payouts. */
        PayoutSearchResponse: {
            _links: components["schemas"]["PayoutLinks"];
            /** @description Number of matches on this page. */
            count: number;
            /**
             * Format: int32
             * @description Number of this page.
             */
            page: number;
            /** @description The matches on this page. */
            results: components["schemas"]["Payout"][];
            total: components["schemas"]["MatchCount"];
        };
        /** @description State of a payout. */
        PayoutState: {
            /** @description Whether the state is final. */
            finished: boolean;
            status: components["schemas"]["PayoutStatus"];
        };
        /**
         * @description Name of the state of a payout. `undefined` means that no event has set a state.
         * @enum {string}
         */
        PayoutStatus: "undefined" | "intransit" | "paidout" | "failed";
        /**
         * Format: int64
         * @description An amount in the minor unit of `x-currency`, pence by default.
         * @example 4250
         */
        Pence: number;
        /**
         * Format: int64
         * @description A sum of amounts in the minor unit of `x-currency`, pence by default, a 64-bit integer. Only more than 1,000 amounts
         *     near the limit of `Pence` can exceed it.
         * @example 4250
         */
        PenceSum: bigint;
        /** @description Number, gross amount and average of payments. */
        PerformanceReport: {
            /**
             * Format: double
             * @description The sum divided by the number; 0 if there are none.
             */
            average_amount: number;
            /** @description Sum of `total_amount`, or of `amount` where there is no `total_amount`. */
            total_amount: components["schemas"]["PenceSum"];
            /** @description Number of payments. */
            total_volume: components["schemas"]["TransactionCount"];
        };
        /**
         * @description An error, as a problem document (RFC 9457). `error_identifier` and `message` are for clients of alphagov/pay-ledger.
         * @example {
         *       "type": "/problems/not-found",
         *       "title": "Nothing matches the request",
         *       "status": 404,
         *       "detail": "nothing is served at this path",
         *       "error_identifier": "GENERIC",
         *       "message": [
         *         "nothing is served at this path"
         *       ],
         *       "request_id": "2f1d8a52-8e0b-4c52-9a36-5d0f7c1b9e44"
         *     }
         */
        Problem: {
            /** @description What happened, with every fault of the request. */
            detail: string;
            /**
             * @deprecated
             * @description Use `type`. It is always GENERIC.
             * @constant
             */
            error_identifier: "GENERIC";
            /** @description The faults of the request. Absent if the problem is not in a place of the request. */
            errors?: components["schemas"]["Fault"][];
            /**
             * @deprecated
             * @description Use `errors`. The errors of the request, one text for each.
             */
            message: string[];
            /** @description The id of the request, as in the header `X-Request-Id`. */
            request_id: string;
            /** @description The HTTP status. */
            status: number;
            /** @description The kind of the problem in words. */
            title: string;
            /** @description The kind of the problem, as the address of a page about it. It is absolute if the service knows its own address. */
            type: string;
        };
        /** @description An event as a CloudEvent 1.0 in JSON. A target gets it if its URL has `format=cloudevents`. */
        PublishedCloudEvent: {
            /** @description The event. */
            data: components["schemas"]["PublishedEvent"];
            /**
             * @description The media type of `data`.
             * @constant
             */
            datacontenttype: "application/json";
            /** @description The gateway account, if the event has one. */
            gatewayaccountid?: string;
            /** @description The id of the event, the same in each attempt. It begins with the id of the ledger. */
            id: string;
            /** @description The setting `PUBLISH_SOURCE`, by default `/payment-ledger/` and the id of the ledger. */
            source: string;
            /**
             * @description The version of CloudEvents.
             * @constant
             */
            specversion: "1.0";
            /** @description The resource: its type, a slash and its id. */
            subject: string;
            /** @description The `timestamp` of the event. */
            time: components["schemas"]["MicrosecondInstant"];
            /** @description The `event_type`. */
            type: string;
        };
        /**
         * @description An event as its producer sent it to the queue, without its null members, and with the timestamp in UTC. It has the
         *     other members of the message, too.
         */
        PublishedEvent: {
            /** @description The details of the message without its null members. */
            event_details: {
                [key: string]: unknown;
            };
            /** @description Type of the event. */
            event_type: string;
            /** @description Whether real money is involved. */
            live?: boolean;
            /** @description The parent of the resource. */
            parent_resource_external_id?: components["schemas"]["ExternalId"];
            /** @description Id of the resource. */
            resource_external_id: components["schemas"]["ExternalId"];
            /** @description Type of the resource. */
            resource_type: components["schemas"]["ResourceType"];
            /** @description The service. */
            service_id?: string;
            /** @description When the event happened, in UTC. */
            timestamp: components["schemas"]["MicrosecondInstant"];
        } & {
            [key: string]: unknown;
        };
        /** @description The state of a target to which events are published. */
        PublishingCheck: {
            /**
             * Format: int64
             * @description MillisecondInstant since every stored event was sent to the target for the last time. 0 if that is now.
             */
            behind_ms: bigint;
            /** @description Number of events that the target has rejected and that wait for another attempt, without those behind them of their resources. Counting stops at 1,000. */
            deferred: number;
            /** @description Whether the target takes events without a limit and is less than a minute behind. */
            healthy: boolean;
            /** @description `Healthy`, or the reason. */
            message: string;
            /** @description The name of the target. A URL is shown without its path, with a digest. */
            target: string;
            /** @description Up to 10 of these events, the next attempt first. */
            waiting: components["schemas"]["WaitingEvent"][];
        };
        /** @description The result of the check of the receiver. */
        ReceiverCheck: {
            /**
             * Format: int64
             * @description MillisecondInstant for which messages have arrived and none could be stored. 0 if the latest ones were stored.
             */
            failing_for_ms: number;
            /** @description Whether the check passed. */
            healthy: boolean;
            /** @description `Healthy`, or the reason. */
            message: string;
            /**
             * Format: int64
             * @description Age in milliseconds of the oldest in-flight message. 0 if there is none.
             */
            oldest_message_age_ms: number;
        };
        /** @description A refund of a payment. */
        Refund: {
            amount?: components["schemas"]["Pence"];
            created_date: components["schemas"]["MillisecondInstant"];
            /** @description Gateway account. */
            gateway_account_id?: string;
            /** @description Payout that includes it. */
            gateway_payout_id?: string;
            /** @description The provider's id of the refund. */
            gateway_transaction_id?: string;
            /** @description Whether real money is involved. */
            live?: boolean;
            parent_transaction_id?: components["schemas"]["ExternalId"];
            payment_details: components["schemas"]["PaymentDetails"];
            /** @description User who made the refund. */
            refunded_by?: string;
            /** @description Email address of the user who made the refund. */
            refunded_by_user_email?: string;
            /** @description Service. */
            service_id?: string;
            settlement_summary: components["schemas"]["SettlementSummary"];
            state: components["schemas"]["TransactionState"];
            transaction_id: components["schemas"]["ExternalId"];
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            transaction_type: "REFUND";
        };
        /** @description Refunds of a payment. */
        RefundSummary: {
            /** @description Amount available for refund. */
            amount_available: components["schemas"]["OptionalPence"];
            /** @description Amount refunded so far. */
            amount_refunded: components["schemas"]["OptionalPence"];
            /** @description Equal to `amount_refunded`. */
            amount_submitted: components["schemas"]["OptionalPence"];
            /** @description Availability, for example `available`, `unavailable`, `pending` or `full`. */
            status: string | null;
            /** @description Always null. */
            user_external_id: string | null;
        };
        /**
         * @description Type of a refund.
         * @enum {string}
         */
        RefundType: "REFUND";
        /** @description What a replay would do. */
        ReplayPreview: {
            /**
             * @description The faults of its message, as in a problem document; without remedies that would show personal data. Their
             *     pointers lead to places in `message`: a remedy moves a misspelt member from `/(member 1)`.
             */
            errors?: components["schemas"]["Fault"][];
            /**
             * @description `stored`: its event would be stored. `rebuilt`: a projection would be rebuilt. `published`: its event would be
             *     sent to its target again. `dead_letter`: it would stay a dead letter, as one that was discarded does.
             * @enum {string}
             */
            outcome: "stored" | "rebuilt" | "published" | "dead_letter";
            /** @description Why it would stay a dead letter. */
            reason?: string;
        };
        /**
         * @description Type of the resource that an event belongs to. Events of payments, refunds and disputes change transactions, and
         *     events of payouts settle them. Events of agreements and payment instruments change agreements. Other events are
         *     stored only.
         * @enum {string}
         */
        ResourceType: "payment" | "refund" | "dispute" | "payout" | "agreement" | "payment_instrument" | "service" | "card_payment";
        /**
         * @description An account or a service, 1 to 255 characters without NUL. They are not only spaces, tabs, line ends and commas of
         *     ASCII.
         */
        ScopeId: string;
        /**
         * @description Links to pages of the same search, with every filter. Links to pages that do not exist are absent. `last_page` is
         *     also absent if counting was limited or the page was reached by a cursor, `next_cursor` unless `extended`.
         */
        SearchLinks: {
            first_page: components["schemas"]["Link"];
            last_page?: components["schemas"]["Link"];
            next_cursor?: components["schemas"]["Link"];
            next_page?: components["schemas"]["Link"];
            prev_page?: components["schemas"]["Link"];
            self: components["schemas"]["Link"];
        };
        /** @description A search text of 1 to 255 characters without NUL. */
        SearchText: string;
        /** @description The transactions of one type that a payout settles. */
        SettledTransactions: {
            /** @description Sum of `amount`. */
            amount: components["schemas"]["PenceSum"];
            count: components["schemas"]["TransactionCount"];
            /** @description Sum of `fee`. */
            fee: components["schemas"]["PenceSum"];
            /**
             * @description What they add to the payout, as the column `Net` of the CSV has it: of a payment its net amount, of a refund
             *     minus its amount, of a dispute its net amount, which is negative if the dispute is lost.
             */
            settled_amount: components["schemas"]["PenceSum"];
            transaction_type: components["schemas"]["TransactionType"];
        };
        /** @description Settlement of a refund or dispute. Empty if it is not settled. */
        SettlementSummary: {
            settled_date?: components["schemas"]["Day"];
        };
        /**
         * @description Source of a payment.
         * @enum {string}
         */
        Source: "CARD_API" | "CARD_PAYMENT_LINK" | "CARD_AGENT_INITIATED_MOTO" | "CARD_EXTERNAL_TELEPHONE";
        /**
         * @description Name of a state. `undefined` means that no event has set a state. `failed` exists only in `status_version` 1,
         *     `declined` and `timedout` only in version 2.
         * @enum {string}
         */
        Status: "undefined" | "created" | "started" | "submitted" | "capturable" | "success" | "failed" | "declined" | "timedout" | "cancelled" | "error" | "needs_response" | "under_review" | "lost" | "won";
        /** @description An event, and columns of its transaction. */
        TickerEvent: {
            /** @description Amount of the transaction; 0 if it has none. */
            amount: components["schemas"]["Pence"];
            /** @description Id of the card brand. */
            card_brand: string | null;
            /** @description When the event happened. */
            event_date: components["schemas"]["MicrosecondInstant"];
            /** @description Type of the event. */
            event_type: string;
            /** @description Gateway account of the transaction. */
            gateway_account_id: string | null;
            /** @description Whether the payment is an order by mail or telephone. */
            is_moto: boolean;
            /** @description Whether the payment is made by an agreement. */
            is_recurring: boolean;
            /** @description Payment provider. */
            payment_provider: string | null;
            /** @description Id of the transaction. */
            resource_external_id: components["schemas"]["ExternalId"];
            /**
             * @description Type of the transaction in lower case.
             * @enum {string}
             */
            resource_type: "payment" | "refund" | "dispute";
            /** @description Service of the transaction. */
            service_external_id: string | null;
            /** @description Source of the payment. */
            source: string | null;
            transaction_type: components["schemas"]["TransactionType"];
            /** @description Wallet of the card, such as `APPLE_PAY`. */
            wallet_type: string | null;
        };
        /** @description Events, newest first. */
        TickerEvents: components["schemas"]["TickerEvent"][];
        /** @description What an event has changed by a transaction. */
        TransactionChange: {
            /** @description The event, of the transaction or of its payment. Null for a rebuild. */
            event: components["schemas"]["ChangingEvent"] | null;
            /** @description What was added to groups and removed from them, in order. */
            groups: components["schemas"]["TransactionGroupChange"][];
            /** @description The transaction. */
            transaction_id: components["schemas"]["ExternalId"];
        };
        /**
         * Format: int64
         * @description Number of transactions.
         * @example 2
         */
        TransactionCount: number;
        /** @description An event of a transaction. */
        TransactionEvent: {
            /** @description Amount of the transaction, not of the event. */
            amount: components["schemas"]["OptionalPence"];
            /** @description Details of the event. */
            data: {
                [key: string]: unknown;
            };
            /** @description Number of the event. Absent unless `extended`. */
            event_id?: components["schemas"]["EventId"];
            /** @description Type of the event. */
            event_type: string;
            resource_type: components["schemas"]["TransactionType"];
            /** @description State that this event type sets, or null if it sets none. */
            state: components["schemas"]["TransactionState"] | null;
            timestamp: components["schemas"]["MillisecondInstant"];
        };
        /** @description The events of a transaction and of its children. */
        TransactionEventResponse: {
            /** @description Absent on the last page, and unless `extended`. */
            _links?: components["schemas"]["NextCursorLink"];
            /** @description The events, oldest first. */
            events: components["schemas"]["TransactionEvent"][];
            transaction_id: components["schemas"]["ExternalId"];
        };
        /**
         * @description The number and the sums of the transactions of a group. It has a member for each column in `group_by`. A
         *     transaction without an amount adds 0 to its sum.
         */
        TransactionGroup: {
            /** @description Gateway account; null for transactions without one. */
            account?: string | null;
            /** @description Sum of `amount`. */
            amount: components["schemas"]["PenceSum"];
            count: components["schemas"]["TransactionCount"];
            day?: components["schemas"]["Day"];
            /** @description Sum of `fee`. */
            fee: components["schemas"]["PenceSum"];
            /** @description Sum of `total_amount`, or of `amount` where there is no `total_amount`. */
            gross_amount: components["schemas"]["PenceSum"];
            /** @description Whether real money is involved; null if it is not known. */
            live?: boolean | null;
            /** @description First day of the month. */
            month?: components["schemas"]["Day"];
            /** @description Whether the transaction is an order by mail or telephone. */
            moto?: boolean;
            /** @description Sum of `net_amount`. */
            net_amount: components["schemas"]["PenceSum"];
            /** @description Sum of `refund_amount_refunded`. */
            refunded_amount: components["schemas"]["PenceSum"];
            /** @description State in the version of `status_version`. */
            state?: components["schemas"]["Status"];
            /** @description Sum of `total_amount`, which only transactions with one add to. */
            total_amount: components["schemas"]["PenceSum"];
            type?: components["schemas"]["TransactionType"];
            /** @description First day of the week. */
            week?: components["schemas"]["Day"];
        };
        /** @description What was added to a group; what was removed is negative. It has a member for each column in `group_by`. */
        TransactionGroupChange: {
            /** @description Gateway account; null for transactions without one. */
            account?: string | null;
            /** @description Sum of `amount`. */
            amount: components["schemas"]["PenceSum"];
            /**
             * Format: int64
             * @description Number of transactions that were added, less those that were removed.
             */
            count: number;
            day?: components["schemas"]["Day"];
            /** @description Sum of `fee`. */
            fee: components["schemas"]["PenceSum"];
            /** @description Sum of `total_amount`, or of `amount` where there is no `total_amount`. */
            gross_amount: components["schemas"]["PenceSum"];
            /** @description Whether real money is involved; null if it is not known. */
            live?: boolean | null;
            /** @description First day of the month. */
            month?: components["schemas"]["Day"];
            /** @description Whether the transaction is an order by mail or telephone. */
            moto?: boolean;
            /** @description Sum of `net_amount`. */
            net_amount: components["schemas"]["PenceSum"];
            /** @description Sum of `refund_amount_refunded`. */
            refunded_amount: components["schemas"]["PenceSum"];
            /** @description State in the version of `status_version`. */
            state?: components["schemas"]["Status"];
            /** @description Sum of `total_amount`, which only transactions with one add to. */
            total_amount: components["schemas"]["PenceSum"];
            type?: components["schemas"]["TransactionType"];
            /** @description First day of the week. */
            week?: components["schemas"]["Day"];
        };
        /** @description The live transactions of an hour. */
        TransactionHour: {
            /** @description Number of all transactions. */
            all_payments: components["schemas"]["TransactionCount"];
            /** @description Sum of `amount`. */
            amount: components["schemas"]["PenceSum"];
            /** @description Number in state `SUCCESS`. */
            completed_payments: components["schemas"]["TransactionCount"];
            /** @description Number in state `ERROR` or `ERROR_GATEWAY`. */
            errored_payments: components["schemas"]["TransactionCount"];
            /** @description Sum of `fee`. */
            fee: components["schemas"]["PenceSum"];
            /** @description Sum of `net_amount`. */
            net_amount: components["schemas"]["PenceSum"];
            /** @description Start of the hour. */
            timestamp: components["schemas"]["MicrosecondInstant"];
            /** @description Sum of `total_amount`. */
            total_amount: components["schemas"]["PenceSum"];
        };
        /** @description The groups of a report. */
        TransactionReport: {
            /** @description Absent on the last page. */
            _links?: components["schemas"]["NextCursorLink"];
            /** @description The currency of the sums (ISO 4217). */
            currency: string;
            /** @description The groups, in order. */
            groups: components["schemas"]["TransactionGroup"][];
            /** @description The same as the header `Ledger-Position`. The entity tag does not depend on it. */
            position?: components["schemas"]["Cursor"];
        };
        /** @description Why a report has changed. */
        TransactionReportChanges: {
            /** @description Absent on the last page. */
            _links?: components["schemas"]["NextCursorLink"];
            /** @description What makes the difference, in the order of the SQL transactions that stored it. */
            changes: components["schemas"]["TransactionChange"][];
            /** @description The currency of the sums (ISO 4217). */
            currency: string;
            /** @description The differences of the groups that are not the same, in order. Absent on later pages. */
            groups?: components["schemas"]["TransactionGroupChange"][];
            /** @description The older position. */
            since: components["schemas"]["Cursor"];
            /** @description The later position. */
            until: components["schemas"]["Cursor"];
        };
        /** @description Hours with transactions, oldest first. */
        TransactionsByHour: components["schemas"]["TransactionHour"][];
        /** @description One page of a search. */
        TransactionSearchResponse: {
            _links: components["schemas"]["SearchLinks"];
            /** @description Number of matches on this page. */
            count: number;
            /**
             * Format: int32
             * @description Number of this page.
             */
            page: number;
            /** @description The matches on this page. */
            results: components["schemas"]["TransactionView"][];
            total: components["schemas"]["MatchCount"];
        };
        /** @description The children of a transaction. */
        TransactionsForTransactionResponse: {
            /** @description Absent on the last page, and unless `extended`. */
            _links?: components["schemas"]["NextCursorLink"];
            parent_transaction_id: components["schemas"]["ExternalId"];
            /** @description The children, oldest first. */
            transactions: components["schemas"]["TransactionView"][];
        };
        /** @description Successful payments and refunds. */
        TransactionsSummary: {
            /** @description Those of the payments by mail or telephone. 0 without `include_moto_statistics`. */
            moto_payments: components["schemas"]["CountAndGrossAmount"];
            /** @description The gross amount of the payments minus that of the refunds. */
            net_income: components["schemas"]["PenceSum"];
            /** @description The payments. */
            payments: components["schemas"]["CountAndGrossAmount"];
            /** @description The refunds. */
            refunds: components["schemas"]["CountAndGrossAmount"];
        };
        /**
         * @description State of a transaction.
         * @example {
         *       "status": "declined",
         *       "finished": true,
         *       "code": "P0010",
         *       "message": "Payment method rejected"
         *     }
         */
        TransactionState: {
            /** @description Whether an agreement payment may be retried. Present if an event contains it. */
            can_retry?: boolean;
            /**
             * @description Code of the failure.
             * @enum {string}
             */
            code?: "P0010" | "P0020" | "P0030" | "P0040" | "P0050";
            /** @description Whether the state is final. */
            finished: boolean;
            /** @description Description of the failure. */
            message?: string;
            status: components["schemas"]["Status"];
        };
        /**
         * @description Type of a transaction.
         * @enum {string}
         */
        TransactionType: "PAYMENT" | "REFUND" | "DISPUTE";
        /** @description A payment, refund or dispute, as `transaction_type` states. Unknown members are absent. */
        TransactionView: {
            transaction_type: components["schemas"]["TransactionType"];
        } & (components["schemas"]["Refund"] | components["schemas"]["Dispute"] | components["schemas"]["Payment"]);
        /** @description The state of the transparency log, which `/log/checkpoint` and `/log/tile/` can serve (C2SP tlog-tiles). */
        TransparencyLogCheck: {
            /**
             * Format: int64
             * @description Milliseconds since the oldest event without an entry was accepted. 0 if there is none.
             */
            behind_ms: bigint;
            /**
             * Format: int64
             * @description Number of entries of the newest checkpoint. Null if there is none.
             */
            checkpoint_size: bigint | null;
            /** @description Whether the log has the entries of its newest checkpoint, and is less than a minute behind. */
            healthy: boolean;
            /** @description `Healthy`, or the reason. */
            message: string;
            /**
             * Format: int64
             * @description Number of entries in the log.
             */
            size: bigint;
        };
        /** @description An event that a target has rejected and that waits for another attempt. */
        WaitingEvent: {
            /** @description Number of attempts that have failed. */
            attempts: number;
            event_id: components["schemas"]["EventId"];
            /** @description When the next attempt is due. */
            next_attempt_date: components["schemas"]["MicrosecondInstant"];
            /** @description Why the last attempt has failed. Null if there was none since the event was released. */
            reason: string | null;
            resource_external_id: components["schemas"]["ExternalId"];
            resource_type: components["schemas"]["ResourceType"];
        };
    };
    responses: {
        /** @description No such agreement matches the request, or the search has no such page. */
        AgreementNotFound: {
            headers: {
                "Cache-Control": components["headers"]["CacheControl"];
                "X-Request-Id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description The request does not conform to the contract. The message names each error. */
        BadRequest: {
            headers: {
                "Cache-Control": components["headers"]["CacheControl"];
                "X-Request-Id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description The body is larger than 1 MiB. */
        BodyTooLarge: {
            headers: {
                "Cache-Control": components["headers"]["CacheControl"];
                "X-Request-Id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description There is no such dead letter. */
        DeadLetterNotFound: {
            headers: {
                "Cache-Control": components["headers"]["CacheControl"];
                "X-Request-Id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description The token lacks the required scope, or the account of the request is not among those of the token. */
        Forbidden: {
            headers: {
                "Cache-Control": components["headers"]["CacheControl"];
                "WWW-Authenticate": components["headers"]["WWWAuthenticate"];
                "X-Request-Id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /**
         * @description A page of another origin sent the request: its header `Origin` or `Sec-Fetch-Site` says so. Or the caller lacks the
         *     required scope.
         */
        ForbiddenChange: {
            headers: {
                "Cache-Control": components["headers"]["CacheControl"];
                /**
                 * @description The authentication scheme and the required scope (RFC 6750), if the caller lacks it.
                 * @example Bearer error="insufficient_scope", scope="ledger:write"
                 */
                "WWW-Authenticate"?: string;
                "X-Request-Id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description The cursor is that of an event that does not exist, or the ledger has no such position. */
        Gone: {
            headers: {
                "Cache-Control": components["headers"]["CacheControl"];
                "X-Request-Id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description An unexpected error, which is in the log. */
        InternalError: {
            headers: {
                "Cache-Control": components["headers"]["CacheControl"];
                "X-Request-Id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /**
         * @description The host of the request is none of the service. If anyone on its machine can call it, and nobody else, its hosts are
         *     `localhost`, the addresses of loopback and those in its settings.
         */
        Misdirected: {
            headers: {
                "Cache-Control": components["headers"]["CacheControl"];
                "X-Request-Id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description Nothing matches the request. */
        NotFound: {
            headers: {
                "Cache-Control": components["headers"]["CacheControl"];
                "X-Request-Id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description The response with the `ETag` of the request is still current. */
        NotModified: {
            headers: {
                "Cache-Control": components["headers"]["CacheControl"];
                ETag: components["headers"]["ETag"];
                "X-Request-Id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content?: never;
        };
        /** @description The account has no such payout, or the search no such page. */
        PayoutNotFound: {
            headers: {
                "Cache-Control": components["headers"]["CacheControl"];
                "X-Request-Id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description The database did not answer within the time limit. A narrower request may succeed. */
        TooSlow: {
            headers: {
                "Cache-Control": components["headers"]["CacheControl"];
                "X-Request-Id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description The request has no valid token. The message states the reason. */
        Unauthorized: {
            headers: {
                "Cache-Control": components["headers"]["CacheControl"];
                "WWW-Authenticate": components["headers"]["WWWAuthenticate"];
                "X-Request-Id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description The service is stopping or overloaded, or the database is unavailable. */
        Unavailable: {
            headers: {
                "Cache-Control": components["headers"]["CacheControl"];
                "Retry-After": components["headers"]["RetryAfter"];
                "X-Request-Id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description The ledger has no such position. */
        UnknownPosition: {
            headers: {
                "Cache-Control": components["headers"]["CacheControl"];
                "X-Request-Id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description The request has a body that is not JSON in UTF-8, or that has a content encoding. */
        UnsupportedMediaType: {
            headers: {
                "Accept-Encoding": components["headers"]["AcceptEncoding"];
                "Cache-Control": components["headers"]["CacheControl"];
                "X-Request-Id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
    };
    parameters: {
        /**
         * @description Why the caller needs the access, for its record. A setting of the service can require it. It must not have personal
         *     data. It has no effect where accesses are not recorded.
         * @example ticket 4711
         */
        AccessReason: string;
        /**
         * @description Gateway account of the transactions.
         * @example demo
         */
        AccountId: components["schemas"]["ScopeId"];
        /**
         * @description Gateway accounts, separated by commas, up to 1,000.
         * @example [
         *       "demo"
         *     ]
         */
        AccountIds: components["schemas"]["ListedScopeId"][];
        /**
         * @description Gateway account of the agreement.
         * @example demo
         */
        AgreementAccountId: components["schemas"]["ScopeId"];
        /**
         * @description External id of the agreement.
         * @example demo-agreement
         */
        AgreementExternalId: components["schemas"]["ExternalId"];
        /**
         * @description Service of the agreement.
         * @example demo-service
         */
        AgreementServiceId: components["schemas"]["ScopeId"];
        /**
         * @description Use only events dated up to and including this instant. An account or service in the request must be that of the
         *     transaction or agreement both then and now.
         * @example 2024-03-05T12:00:00Z
         */
        AsOf: string;
        /**
         * @description The response includes everything up to this position: the `Ledger-Position` of a response, or the cursor of an event in
         *     the feed. A replica that is behind is awaited for up to 2 seconds; then the status is 503.
         * @example KZy3XO-mPiR6g4i3Crp36tpKHe3JAu9b1p3zxQ4dW7hGm2sT8vLcYf0nB5aEoU1rjKtPZqDl6Mw
         */
        AtLeast: components["schemas"]["Cursor"];
        /**
         * @description Whether the CSV begins with a byte order mark, by which Microsoft Excel knows that it is UTF-8. Default false. Ignored for JSON.
         * @example true
         */
        ByteOrderMark: boolean;
        /**
         * @description Whether the CSV has a column with the currency of the amounts. Default false. Ignored for JSON.
         * @example true
         */
        CurrencyHeader: boolean;
        /**
         * @description The cursor in the header `Link` of the previous page. Default is the first page. Ignored for CSV.
         * @example KZy3XO-mPiR6g4i3Crp36tpKHe3JAu9b1p3zxQ4dW7hGm2sT8vLcYf0nB5aEoU1rjKtPZqDl6Mw
         */
        Cursor: components["schemas"]["Cursor"];
        /**
         * @description States of disputes, separated by commas. See `payment_states`.
         * @example [
         *       "needs_response"
         *     ]
         */
        DisputeStates: components["schemas"]["Status"][];
        /**
         * @description True adds the members that alphagov/pay-ledger does not have to the body. Default is true with a `cursor`, and
         *     false without one.
         * @example true
         */
        Extended: boolean;
        /**
         * @description First instant, inclusive.
         * @example 2024-03-05T00:00:00Z
         */
        FirstInstant: string;
        /**
         * @description Format of the response, for clients that cannot send `Accept`, which it takes precedence over.
         * @example json
         */
        Format: "json" | "csv";
        /**
         * @description Instant before `created_date`, exclusive.
         * @example 2024-03-01T00:00:00Z
         */
        FromDate: string;
        /**
         * @description Gateway account of the transaction.
         * @example demo
         */
        GatewayAccountId: components["schemas"]["ScopeId"];
        /**
         * @description Columns of the groups, separated by commas, in the order in which groups are sorted. `week` begins on Monday.
         * @example [
         *       "type",
         *       "state"
         *     ]
         */
        GroupBy: components["schemas"]["GroupColumn"][];
        /**
         * @description The `ETag` of a stored response. The response is 304 if it is still current.
         * @example "Qn3ZbUyQuuzpkzy9YBqOO6SzCqYaHxZ0sJgBTjQvXLY"
         */
        IfNoneMatch: string;
        /**
         * @description Respond with what the ledger knew at a position: the `Ledger-Position` of a response, or the cursor of an event in the
         *     feed, which is the position directly after the event. A day means its end (UTC, or in the `time_zone` of the request).
         *     Default: everything that is stored. An account in the request is the one that the transaction had then.
         * @example 2024-10-31
         */
        KnownAt: components["schemas"]["KnownAt"];
        /**
         * @description Last instant, inclusive.
         * @example 2024-03-06T00:00:00Z
         */
        LastInstant: string;
        /**
         * @description Whether real money is involved. Default both, and those of which it is not known.
         * @example true
         */
        LiveFilter: boolean;
        /**
         * @description Whether `account_id` is optional. Default false. An `account_id` that is present still applies.
         * @example true
         */
        OverrideAccountIdRestriction: boolean;
        /**
         * @description Whether both `service_id` and `account_id` are optional. Default false. Those that are present still apply.
         * @example true
         */
        OverrideAccountOrServiceIdRestriction: boolean;
        /**
         * @description Number of the page, from 1. Default 1. Ignored for CSV.
         * @example 1
         */
        Page: number;
        /**
         * @description States of payments, separated by commas. If any of `payment_states`, `refund_states` and `dispute_states` is
         *     present, only the types whose parameter is present are returned.
         * @example [
         *       "created",
         *       "success"
         *     ]
         */
        PaymentStates: components["schemas"]["Status"][];
        /**
         * @description CSV only. True reads the whole file at one position, and adds a last line: `Ledger-Position` and that position,
         *     separated as the columns are. Default false.
         * @example true
         */
        PositionLine: boolean;
        /**
         * @description States of refunds, separated by commas. See `payment_states`.
         * @example [
         *       "success"
         *     ]
         */
        RefundStates: components["schemas"]["Status"][];
        /**
         * @description The cursor in the header `Link` of the previous page. Pages by cursor cost the same at any depth. They exclude
         *     what arrived after the first page was read, and `total` keeps its value from then. Not allowed with a `page` other
         *     than 1. Ignored for CSV.
         * @example KZy3XO-mPiR6g4i3Crp36tpKHe3JAu9b1p3zxQ4dW7hGm2sT8vLcYf0nB5aEoU1rjKtPZqDl6Mw
         */
        SearchCursor: components["schemas"]["Cursor"];
        /**
         * @description What separates the cells of the CSV. Default comma. Ignored for JSON.
         * @example semicolon
         */
        Separator: "comma" | "semicolon" | "tab";
        /**
         * @description State of the transaction.
         * @example success
         */
        StateFilter: components["schemas"]["Status"];
        /**
         * @description Version of the status names in the request and the response. Default 2. Version 1 has `failed` for `declined`,
         *     `timedout` and `cancelled` (by the payer) of version 2.
         * @example 2
         */
        StatusVersion: 1 | 2;
        /**
         * @description Time zone in which days, weeks and months begin: `UTC`, or a name of the IANA time zone database with area and
         *     location, such as `Europe/London` or `Asia/Kolkata`, in any case. Offsets such as `+05:30` and abbreviations
         *     such as `CET` are no names. The rules are those that the database of the ledger knows.
         *
         *     Reports take about the same time in each time zone whose offset is a number of whole hours. In the others,
         *     transactions of up to an hour of each day are read one by one. If there are too many of them, the status is
         *     504; a shorter interval has fewer. Default UTC.
         * @example Europe/London
         */
        TimeZone: string;
        /**
         * @description Instant after `created_date`, exclusive.
         * @example 2024-04-01T00:00:00Z
         */
        ToDate: string;
        /**
         * @description External id of the transaction.
         * @example demo-refund
         */
        TransactionExternalId: components["schemas"]["ExternalId"];
        /**
         * @description State of the payments, as `x-state-machine` names it. Default is every state.
         * @example SUCCESS
         */
        TransactionStateFilter: "UNDEFINED" | "CREATED" | "STARTED" | "SUBMITTED" | "CAPTURABLE" | "SUCCESS" | "FAILED_REJECTED" | "FAILED_EXPIRED" | "FAILED_CANCELLED" | "CANCELLED" | "ERROR" | "ERROR_GATEWAY" | "NEEDS_RESPONSE" | "UNDER_REVIEW" | "LOST" | "WON";
        /**
         * @description Type of the transaction, case-insensitive.
         * @example REFUND
         */
        TransactionTypeFilter: components["schemas"]["TransactionType"];
    };
    requestBodies: never;
    headers: {
        /**
         * @description Only a stream has it. nginx then passes on each event immediately.
         * @example no
         */
        AccelBuffering: "no";
        /**
         * @description Content encodings that a body may have (RFC 9110). Present if the body has another.
         * @example identity
         */
        AcceptEncoding: "identity";
        /**
         * @description The path takes the method QUERY with a body of this media type (RFC 10008).
         * @example application/json
         */
        AcceptQuery: "application/json";
        /**
         * @description `private, no-cache`, so that a cache of one caller can keep the response, and uses it only if the service confirms it.
         *     `private, no-store` for streams and dead letters.
         * @example private, no-cache
         */
        CacheControl: "private, no-cache" | "private, no-store";
        /**
         * @description Identifies this version of the response (RFC 9110). `If-None-Match` gets 304 as long as it is current.
         * @example "Qn3ZbUyQuuzpkzy9YBqOO6SzCqYaHxZ0sJgBTjQvXLY"
         */
        ETag: string;
        /**
         * @description As `ETag`. A response in CSV has none, since it is sent while it is read.
         * @example "Qn3ZbUyQuuzpkzy9YBqOO6SzCqYaHxZ0sJgBTjQvXLY"
         */
        ETagOfJson: string;
        /**
         * @description The response includes everything up to this position. With it as `at_least`, later responses do, too.
         * @example KZy3XO-mPiR6g4i3Crp36tpKHe3JAu9b1p3zxQ4dW7hGm2sT8vLcYf0nB5aEoU1rjKtPZqDl6Mw
         */
        IncludedPosition: components["schemas"]["Cursor"];
        /**
         * @description The response has everything that the ledger knew at this position, and nothing else. With it as `known_at`, the same
         *     request gets the same response later. Absent while more than 100 SQL transactions with events wait for an older one,
         *     and for a CSV of several pages without `known_at` and `position_line`, which is read while it is sent.
         * @example KZy3XO-mPiR6g4i3Crp36tpKHe3JAu9b1p3zxQ4dW7hGm2sT8vLcYf0nB5aEoU1rjKtPZqDl6Mw
         */
        LedgerPosition: components["schemas"]["Cursor"];
        /**
         * @description The address of the next page, with `rel="next"` (RFC 8288). Absent on the last page.
         * @example <http://127.0.0.1:8081/v1/event/ticker?cursor=KZy3XO-mPiR6g4i3Crp36tpKHe3JAu9b1p3zxQ4dW7hGm2sT8vLcYf0nB5aEoU1rjKtPZqDl6Mw>; rel="next"
         */
        Link: string;
        /**
         * @description No cache keeps the response. It is a stream, or can contain credentials.
         * @example private, no-store
         */
        NoStore: "private, no-store";
        /**
         * @description The id of the request, which the log names: the header of the request if it has up to 128 visible ASCII
         *     characters, otherwise a new one.
         * @example 2f1d8a52-8e0b-4c52-9a36-5d0f7c1b9e44
         */
        RequestId: string;
        /**
         * @description Seconds to wait before the next attempt (RFC 9110).
         * @example 1
         */
        RetryAfter: number;
        /**
         * @description The authentication scheme and the required scope (RFC 6750).
         * @example Bearer scope="ledger:read"
         */
        WWWAuthenticate: string;
    };
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
                    "Cache-Control": components["headers"]["CacheControl"];
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HealthReport"];
                };
            };
            400: components["responses"]["BadRequest"];
            421: components["responses"]["Misdirected"];
            500: components["responses"]["InternalError"];
            /** @description A check is unhealthy, or the service is stopping. */
            503: {
                headers: {
                    "Cache-Control": components["headers"]["CacheControl"];
                    /**
                     * @description Seconds to wait before the next attempt (RFC 9110). Present if the service is stopping.
                     * @example 1
                     */
                    "Retry-After"?: number;
                    "X-Request-Id": components["headers"]["RequestId"];
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
            /** @description The current metrics. */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["CacheControl"];
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "text/plain": components["schemas"]["Metrics"];
                };
            };
            400: components["responses"]["BadRequest"];
            421: components["responses"]["Misdirected"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    searchAgreements: {
        parameters: {
            query: {
                /**
                 * @description Gateway accounts of the agreements, a parameter for each, up to 1,000.
                 * @example [
                 *       "demo"
                 *     ]
                 */
                account_id?: components["schemas"]["ScopeId"][];
                /**
                 * @description The response includes everything up to this position: the `Ledger-Position` of a response, or the cursor of an event in
                 *     the feed. A replica that is behind is awaited for up to 2 seconds; then the status is 503.
                 * @example KZy3XO-mPiR6g4i3Crp36tpKHe3JAu9b1p3zxQ4dW7hGm2sT8vLcYf0nB5aEoU1rjKtPZqDl6Mw
                 */
                at_least?: components["parameters"]["AtLeast"];
                /**
                 * @description The cursor in the header `Link` of the previous page. Pages by cursor cost the same at any depth. They exclude
                 *     what arrived after the first page was read, and `total` keeps its value from then. Not allowed with a `page` other
                 *     than 1. Ignored for CSV.
                 * @example KZy3XO-mPiR6g4i3Crp36tpKHe3JAu9b1p3zxQ4dW7hGm2sT8vLcYf0nB5aEoU1rjKtPZqDl6Mw
                 */
                cursor?: components["parameters"]["SearchCursor"];
                /**
                 * @description Number of agreements on a page. Default 20; a greater value counts as 20.
                 * @example 20
                 */
                display_size: number;
                /**
                 * @description Whether `reference` is the whole reference, case-insensitive. Default false.
                 * @example true
                 */
                exact_reference_match: boolean;
                /**
                 * @description True adds the members that alphagov/pay-ledger does not have to the body. Default is true with a `cursor`, and
                 *     false without one.
                 * @example true
                 */
                extended?: components["parameters"]["Extended"];
                /**
                 * @deprecated
                 * @description Leave it out. It has no effect. Consumers of alphagov/pay-ledger send it.
                 * @example true
                 */
                limit_total?: boolean;
                /**
                 * @deprecated
                 * @description Leave it out. It has no effect. Consumers of alphagov/pay-ledger send it.
                 * @example 5001
                 */
                limit_total_size?: number;
                /**
                 * @description Whether real money is involved. Default is both.
                 * @example true
                 */
                live?: boolean;
                /**
                 * @description Whether both `service_id` and `account_id` are optional. Default false. Those that are present still apply.
                 * @example true
                 */
                override_account_or_service_id_restriction: components["parameters"]["OverrideAccountOrServiceIdRestriction"];
                /**
                 * @description Number of the page, from 1. Default 1. Ignored for CSV.
                 * @example 1
                 */
                page: components["parameters"]["Page"];
                /**
                 * @description Part of the reference, case-insensitive. The text is literal.
                 * @example season
                 */
                reference?: components["schemas"]["SearchText"];
                /**
                 * @description Services of the agreements, a parameter for each, up to 1,000.
                 * @example [
                 *       "demo-service"
                 *     ]
                 */
                service_id?: components["schemas"]["ScopeId"][];
                /**
                 * @description Status of the agreement, case-insensitive.
                 * @example ACTIVE
                 */
                status?: components["schemas"]["AgreementStatus"];
            };
            header?: {
                /**
                 * @description Why the caller needs the access, for its record. A setting of the service can require it. It must not have personal
                 *     data. It has no effect where accesses are not recorded.
                 * @example ticket 4711
                 */
                "Access-Reason"?: components["parameters"]["AccessReason"];
                /**
                 * @description The `ETag` of a stored response. The response is 304 if it is still current.
                 * @example "Qn3ZbUyQuuzpkzy9YBqOO6SzCqYaHxZ0sJgBTjQvXLY"
                 */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description One page of agreements. */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["CacheControl"];
                    ETag: components["headers"]["ETag"];
                    "Ledger-Position": components["headers"]["IncludedPosition"];
                    Link: components["headers"]["Link"];
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AgreementSearchResponse"];
                };
            };
            304: components["responses"]["NotModified"];
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["AgreementNotFound"];
            410: components["responses"]["UnknownPosition"];
            421: components["responses"]["Misdirected"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["TooSlow"];
        };
    };
    getAgreement: {
        parameters: {
            query: {
                /**
                 * @description Gateway account of the agreement.
                 * @example demo
                 */
                account_id?: components["parameters"]["AgreementAccountId"];
                /**
                 * @description Use only events dated up to and including this instant. An account or service in the request must be that of the
                 *     transaction or agreement both then and now.
                 * @example 2024-03-05T12:00:00Z
                 */
                as_of?: components["parameters"]["AsOf"];
                /**
                 * @description The response includes everything up to this position: the `Ledger-Position` of a response, or the cursor of an event in
                 *     the feed. A replica that is behind is awaited for up to 2 seconds; then the status is 503.
                 * @example KZy3XO-mPiR6g4i3Crp36tpKHe3JAu9b1p3zxQ4dW7hGm2sT8vLcYf0nB5aEoU1rjKtPZqDl6Mw
                 */
                at_least?: components["parameters"]["AtLeast"];
                /**
                 * @description Whether both `service_id` and `account_id` are optional. Default false. Those that are present still apply.
                 * @example true
                 */
                override_account_or_service_id_restriction: components["parameters"]["OverrideAccountOrServiceIdRestriction"];
                /**
                 * @description Service of the agreement.
                 * @example demo-service
                 */
                service_id?: components["parameters"]["AgreementServiceId"];
            };
            header?: {
                /**
                 * @description Why the caller needs the access, for its record. A setting of the service can require it. It must not have personal
                 *     data. It has no effect where accesses are not recorded.
                 * @example ticket 4711
                 */
                "Access-Reason"?: components["parameters"]["AccessReason"];
                /**
                 * @description The `ETag` of a stored response. The response is 304 if it is still current.
                 * @example "Qn3ZbUyQuuzpkzy9YBqOO6SzCqYaHxZ0sJgBTjQvXLY"
                 */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
                /**
                 * @description Whether the response must include every event that was stored before the request. Default false. It always
                 *     does, unless the service reads from a replica of its database: then only with `true`.
                 * @example true
                 */
                "X-Consistent"?: boolean;
            };
            path: {
                /**
                 * @description External id of the agreement.
                 * @example demo-agreement
                 */
                agreementExternalId: components["parameters"]["AgreementExternalId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The agreement. */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["CacheControl"];
                    ETag: components["headers"]["ETag"];
                    "Ledger-Position": components["headers"]["IncludedPosition"];
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Agreement"];
                };
            };
            304: components["responses"]["NotModified"];
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["AgreementNotFound"];
            410: components["responses"]["UnknownPosition"];
            421: components["responses"]["Misdirected"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["TooSlow"];
        };
    };
    listAgreementEvents: {
        parameters: {
            query?: {
                /**
                 * @description Gateway account of the agreement.
                 * @example demo
                 */
                account_id?: components["parameters"]["AgreementAccountId"];
                /**
                 * @description Use only events dated up to and including this instant. An account or service in the request must be that of the
                 *     transaction or agreement both then and now.
                 * @example 2024-03-05T12:00:00Z
                 */
                as_of?: components["parameters"]["AsOf"];
                /**
                 * @description The response includes everything up to this position: the `Ledger-Position` of a response, or the cursor of an event in
                 *     the feed. A replica that is behind is awaited for up to 2 seconds; then the status is 503.
                 * @example KZy3XO-mPiR6g4i3Crp36tpKHe3JAu9b1p3zxQ4dW7hGm2sT8vLcYf0nB5aEoU1rjKtPZqDl6Mw
                 */
                at_least?: components["parameters"]["AtLeast"];
                /**
                 * @description The cursor in the header `Link` of the previous page. Default is the first page. Ignored for CSV.
                 * @example KZy3XO-mPiR6g4i3Crp36tpKHe3JAu9b1p3zxQ4dW7hGm2sT8vLcYf0nB5aEoU1rjKtPZqDl6Mw
                 */
                cursor?: components["parameters"]["Cursor"];
                /**
                 * @description True adds the members that alphagov/pay-ledger does not have to the body. Default is true with a `cursor`, and
                 *     false without one.
                 * @example true
                 */
                extended?: components["parameters"]["Extended"];
                /**
                 * @deprecated
                 * @description Leave it out. The list always has every event. Consumers of alphagov/pay-ledger send it.
                 * @example true
                 */
                include_all_events?: boolean;
                /**
                 * @description Service of the agreement.
                 * @example demo-service
                 */
                service_id?: components["parameters"]["AgreementServiceId"];
            };
            header?: {
                /**
                 * @description Why the caller needs the access, for its record. A setting of the service can require it. It must not have personal
                 *     data. It has no effect where accesses are not recorded.
                 * @example ticket 4711
                 */
                "Access-Reason"?: components["parameters"]["AccessReason"];
                /**
                 * @description The `ETag` of a stored response. The response is 304 if it is still current.
                 * @example "Qn3ZbUyQuuzpkzy9YBqOO6SzCqYaHxZ0sJgBTjQvXLY"
                 */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
            };
            path: {
                /**
                 * @description External id of the agreement.
                 * @example demo-agreement
                 */
                agreementExternalId: components["parameters"]["AgreementExternalId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The events. */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["CacheControl"];
                    ETag: components["headers"]["ETag"];
                    "Ledger-Position": components["headers"]["IncludedPosition"];
                    Link: components["headers"]["Link"];
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AgreementEventResponse"];
                };
            };
            304: components["responses"]["NotModified"];
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["AgreementNotFound"];
            410: components["responses"]["UnknownPosition"];
            421: components["responses"]["Misdirected"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["TooSlow"];
        };
    };
    listAccessRecords: {
        parameters: {
            query: {
                /**
                 * @description The cursor of the last record that the client has seen. Default is before the oldest record.
                 * @example KZy3XO-mPiR6g4i3Crp36tpKHe3JAu9b1p3zxQ4dW7hGm2sT8vLcYf0nB5aEoU1rjKtPZqDl6Mw
                 */
                cursor?: components["schemas"]["Cursor"];
                /**
                 * @description First instant of `recorded_date`, inclusive.
                 * @example 2024-03-01T00:00:00Z
                 */
                from_date?: string;
                /**
                 * @description Maximum number of records on a page, 1 to 1,000. Default 100.
                 * @example 20
                 */
                limit: number;
                /**
                 * @description Only accesses to the resource with this external id. A record has up to 20 ids.
                 * @example pay7f3k2m9q1x5c8v4b6n0t2w
                 */
                resource_id?: components["schemas"]["SearchText"];
                /**
                 * @description Only accesses of this subject, the claim `sub` of a caller.
                 * @example anna
                 */
                subject?: components["schemas"]["SearchText"];
                /**
                 * @description Instant after the last `recorded_date`, exclusive. A stream with it stays open.
                 * @example 2024-04-01T00:00:00Z
                 */
                to_date?: string;
            };
            header?: {
                /**
                 * @description Why the caller needs the access, for its record. A setting of the service can require it. It must not have personal
                 *     data. It has no effect where accesses are not recorded.
                 * @example ticket 4711
                 */
                "Access-Reason"?: components["parameters"]["AccessReason"];
                /**
                 * @description The same as `cursor`, for a stream. It takes precedence over `cursor`.
                 * @example KZy3XO-mPiR6g4i3Crp36tpKHe3JAu9b1p3zxQ4dW7hGm2sT8vLcYf0nB5aEoU1rjKtPZqDl6Mw
                 */
                "Last-Event-ID"?: components["schemas"]["Cursor"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The records after the cursor. */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["NoStore"];
                    Link: components["headers"]["Link"];
                    "X-Accel-Buffering": components["headers"]["AccelBuffering"];
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AccessRecordPage"];
                    "text/event-stream": string;
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            421: components["responses"]["Misdirected"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["TooSlow"];
        };
    };
    listDeadLetters: {
        parameters: {
            query: {
                /**
                 * @description The cursor in the header `Link` of the previous page. Default is the first page. Ignored for CSV.
                 * @example KZy3XO-mPiR6g4i3Crp36tpKHe3JAu9b1p3zxQ4dW7hGm2sT8vLcYf0nB5aEoU1rjKtPZqDl6Mw
                 */
                cursor?: components["parameters"]["Cursor"];
                /**
                 * @description Number of dead letters on a page. Default 100; a greater value counts as 100.
                 * @example 20
                 */
                display_size: number;
                /**
                 * @description Whether the dead letters are open or discarded. Default open.
                 * @example open
                 */
                state: components["schemas"]["DeadLetterState"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description One page of dead letters. */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["NoStore"];
                    Link: components["headers"]["Link"];
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DeadLetterPage"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            421: components["responses"]["Misdirected"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["TooSlow"];
        };
    };
    getDeadLetter: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Number of the dead letter.
                 * @example 17
                 */
                deadLetterId: components["schemas"]["DeadLetterId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The dead letter. */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["NoStore"];
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DeadLetterDetail"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["DeadLetterNotFound"];
            421: components["responses"]["Misdirected"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["TooSlow"];
        };
    };
    listEvents: {
        parameters: {
            query: {
                /**
                 * @description Gateway accounts, separated by commas, up to 100.
                 * @example [
                 *       "demo"
                 *     ]
                 */
                account_id?: components["schemas"]["ListedScopeId"][];
                /**
                 * @description The response includes everything up to this position: the `Ledger-Position` of a response, or the cursor of an event in
                 *     the feed. A replica that is behind is awaited for up to 2 seconds; then the status is 503.
                 * @example KZy3XO-mPiR6g4i3Crp36tpKHe3JAu9b1p3zxQ4dW7hGm2sT8vLcYf0nB5aEoU1rjKtPZqDl6Mw
                 */
                at_least?: components["parameters"]["AtLeast"];
                /**
                 * @description The cursor of the last event that the client has seen, or `newest`. Default is before the oldest event.
                 * @example KZy3XO-mPiR6g4i3Crp36tpKHe3JAu9b1p3zxQ4dW7hGm2sT8vLcYf0nB5aEoU1rjKtPZqDl6Mw
                 */
                cursor?: components["schemas"]["Cursor"];
                /**
                 * @description Types of the events, a parameter for each. Default is every type.
                 * @example [
                 *       "PAYMENT_CREATED"
                 *     ]
                 */
                event_types?: components["schemas"]["SearchText"][];
                /**
                 * @description Maximum number of events on a page, 1 to 1,000. Default 100.
                 * @example 20
                 */
                limit: number;
                /**
                 * @description Types of the resources, a parameter for each. Default is every type.
                 * @example [
                 *       "payment"
                 *     ]
                 */
                resource_types?: components["schemas"]["ResourceType"][];
            };
            header?: {
                /**
                 * @description Why the caller needs the access, for its record. A setting of the service can require it. It must not have personal
                 *     data. It has no effect where accesses are not recorded.
                 * @example ticket 4711
                 */
                "Access-Reason"?: components["parameters"]["AccessReason"];
                /**
                 * @description The same as `cursor`, for a stream. It takes precedence over `cursor`.
                 * @example KZy3XO-mPiR6g4i3Crp36tpKHe3JAu9b1p3zxQ4dW7hGm2sT8vLcYf0nB5aEoU1rjKtPZqDl6Mw
                 */
                "Last-Event-ID"?: components["schemas"]["Cursor"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The events after the cursor. */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["NoStore"];
                    "Ledger-Position": components["headers"]["IncludedPosition"];
                    Link: components["headers"]["Link"];
                    "X-Accel-Buffering": components["headers"]["AccelBuffering"];
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EventFeedPage"];
                    "application/x-ndjson": string;
                    "text/event-stream": string;
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            410: components["responses"]["Gone"];
            421: components["responses"]["Misdirected"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["TooSlow"];
        };
    };
    addEvents: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Why the caller needs the access, for its record. A setting of the service can require it. It must not have personal
                 *     data. It has no effect where accesses are not recorded.
                 * @example ticket 4711
                 */
                "Access-Reason"?: components["parameters"]["AccessReason"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["EventMessages"];
            };
        };
        responses: {
            /** @description All events are stored. */
            202: {
                headers: {
                    "Cache-Control": components["headers"]["CacheControl"];
                    "Ledger-Position": components["headers"]["IncludedPosition"];
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AddedEvents"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["ForbiddenChange"];
            413: components["responses"]["BodyTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            421: components["responses"]["Misdirected"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["TooSlow"];
        };
    };
    getEvent: {
        parameters: {
            query?: {
                /**
                 * @description The response includes everything up to this position: the `Ledger-Position` of a response, or the cursor of an event in
                 *     the feed. A replica that is behind is awaited for up to 2 seconds; then the status is 503.
                 * @example KZy3XO-mPiR6g4i3Crp36tpKHe3JAu9b1p3zxQ4dW7hGm2sT8vLcYf0nB5aEoU1rjKtPZqDl6Mw
                 */
                at_least?: components["parameters"]["AtLeast"];
            };
            header?: {
                /**
                 * @description Why the caller needs the access, for its record. A setting of the service can require it. It must not have personal
                 *     data. It has no effect where accesses are not recorded.
                 * @example ticket 4711
                 */
                "Access-Reason"?: components["parameters"]["AccessReason"];
                /**
                 * @description The `ETag` of a stored response. The response is 304 if it is still current.
                 * @example "Qn3ZbUyQuuzpkzy9YBqOO6SzCqYaHxZ0sJgBTjQvXLY"
                 */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
            };
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
            /** @description The event. */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["CacheControl"];
                    ETag: components["headers"]["ETag"];
                    "Ledger-Position": components["headers"]["IncludedPosition"];
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Event"];
                };
            };
            304: components["responses"]["NotModified"];
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            410: components["responses"]["UnknownPosition"];
            421: components["responses"]["Misdirected"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["TooSlow"];
        };
    };
    listTickerEvents: {
        parameters: {
            query: {
                /**
                 * @description The response includes everything up to this position: the `Ledger-Position` of a response, or the cursor of an event in
                 *     the feed. A replica that is behind is awaited for up to 2 seconds; then the status is 503.
                 * @example KZy3XO-mPiR6g4i3Crp36tpKHe3JAu9b1p3zxQ4dW7hGm2sT8vLcYf0nB5aEoU1rjKtPZqDl6Mw
                 */
                at_least?: components["parameters"]["AtLeast"];
                /**
                 * @description The cursor in the header `Link` of the previous page. Default is the first page. Ignored for CSV.
                 * @example KZy3XO-mPiR6g4i3Crp36tpKHe3JAu9b1p3zxQ4dW7hGm2sT8vLcYf0nB5aEoU1rjKtPZqDl6Mw
                 */
                cursor?: components["parameters"]["Cursor"];
                /**
                 * @description Types of the events, a parameter for each. Default is every type.
                 * @example [
                 *       "PAYMENT_CREATED"
                 *     ]
                 */
                event_types?: components["schemas"]["SearchText"][];
                /**
                 * @description First instant, inclusive.
                 * @example 2024-03-05T00:00:00Z
                 */
                from_date: components["parameters"]["FirstInstant"];
                /**
                 * @description Last instant, inclusive.
                 * @example 2024-03-06T00:00:00Z
                 */
                to_date: components["parameters"]["LastInstant"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The events. */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["CacheControl"];
                    "Ledger-Position": components["headers"]["IncludedPosition"];
                    Link: components["headers"]["Link"];
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TickerEvents"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            410: components["responses"]["UnknownPosition"];
            421: components["responses"]["Misdirected"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["TooSlow"];
        };
    };
    getIntake: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The state. */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["CacheControl"];
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["IntakeReport"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            421: components["responses"]["Misdirected"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["TooSlow"];
        };
    };
    searchPayouts: {
        parameters: {
            query: {
                /**
                 * @description The response includes everything up to this position: the `Ledger-Position` of a response, or the cursor of an event in
                 *     the feed. A replica that is behind is awaited for up to 2 seconds; then the status is 503.
                 * @example KZy3XO-mPiR6g4i3Crp36tpKHe3JAu9b1p3zxQ4dW7hGm2sT8vLcYf0nB5aEoU1rjKtPZqDl6Mw
                 */
                at_least?: components["parameters"]["AtLeast"];
                /**
                 * @description Number of payouts on a page. Default 20; a value above 500 counts as 500, and one above 100 as 100 with `extended=true`.
                 * @example 20
                 */
                display_size: number;
                /**
                 * @description Whether each payout has `settled`, `settled_amount` and `difference`. Default false.
                 * @example true
                 */
                extended: boolean;
                /**
                 * @description Instant before `created_date`, exclusive.
                 * @example 2024-03-01T00:00:00Z
                 */
                from_date?: components["parameters"]["FromDate"];
                /**
                 * @description Gateway accounts, separated by commas, up to 1,000.
                 * @example [
                 *       "demo"
                 *     ]
                 */
                gateway_account_id?: components["schemas"]["ListedScopeId"][];
                /**
                 * @description Respond with what the ledger knew at a position: the `Ledger-Position` of a response, or the cursor of an event in the
                 *     feed, which is the position directly after the event. A day means its end (UTC, or in the `time_zone` of the request).
                 *     Default: everything that is stored. An account in the request is the one that the transaction had then.
                 * @example 2024-10-31
                 */
                known_at?: components["parameters"]["KnownAt"];
                /**
                 * @description Whether real money is involved. Default both.
                 * @example true
                 */
                live?: boolean;
                /**
                 * @description Whether `gateway_account_id` is optional. Default false. A `gateway_account_id` that is present still applies.
                 * @example true
                 */
                override_account_id_restriction: boolean;
                /**
                 * @description Number of the page, from 1. Default 1. Ignored for CSV.
                 * @example 1
                 */
                page: components["parameters"]["Page"];
                /**
                 * @description State of the payout.
                 * @example paidout
                 */
                state?: components["schemas"]["PayoutStatus"];
                /**
                 * @description Instant after `created_date`, exclusive.
                 * @example 2024-04-01T00:00:00Z
                 */
                to_date?: components["parameters"]["ToDate"];
            };
            header?: {
                /**
                 * @description The `ETag` of a stored response. The response is 304 if it is still current.
                 * @example "Qn3ZbUyQuuzpkzy9YBqOO6SzCqYaHxZ0sJgBTjQvXLY"
                 */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description One page of payouts. */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["CacheControl"];
                    ETag: components["headers"]["ETag"];
                    "Ledger-Position": components["headers"]["LedgerPosition"];
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PayoutSearchResponse"];
                };
            };
            304: components["responses"]["NotModified"];
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["PayoutNotFound"];
            410: components["responses"]["UnknownPosition"];
            421: components["responses"]["Misdirected"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["TooSlow"];
        };
    };
    getPayout: {
        parameters: {
            query: {
                /**
                 * @description The response includes everything up to this position: the `Ledger-Position` of a response, or the cursor of an event in
                 *     the feed. A replica that is behind is awaited for up to 2 seconds; then the status is 503.
                 * @example KZy3XO-mPiR6g4i3Crp36tpKHe3JAu9b1p3zxQ4dW7hGm2sT8vLcYf0nB5aEoU1rjKtPZqDl6Mw
                 */
                at_least?: components["parameters"]["AtLeast"];
                /**
                 * @description Gateway account of the payout.
                 * @example demo
                 */
                gateway_account_id?: components["schemas"]["ScopeId"];
                /**
                 * @description Respond with what the ledger knew at a position: the `Ledger-Position` of a response, or the cursor of an event in the
                 *     feed, which is the position directly after the event. A day means its end (UTC, or in the `time_zone` of the request).
                 *     Default: everything that is stored. An account in the request is the one that the transaction had then.
                 * @example 2024-10-31
                 */
                known_at?: components["parameters"]["KnownAt"];
                /**
                 * @description Whether `gateway_account_id` is optional. Default false. A `gateway_account_id` that is present still applies.
                 * @example true
                 */
                override_account_id_restriction: boolean;
            };
            header?: {
                /**
                 * @description The `ETag` of a stored response. The response is 304 if it is still current.
                 * @example "Qn3ZbUyQuuzpkzy9YBqOO6SzCqYaHxZ0sJgBTjQvXLY"
                 */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
            };
            path: {
                /**
                 * @description The provider's id of the payout.
                 * @example demo-payout
                 */
                gatewayPayoutId: components["schemas"]["ExternalId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The payout. */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["CacheControl"];
                    ETag: components["headers"]["ETag"];
                    "Ledger-Position": components["headers"]["LedgerPosition"];
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PayoutDetail"];
                };
            };
            304: components["responses"]["NotModified"];
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["PayoutNotFound"];
            410: components["responses"]["UnknownPosition"];
            421: components["responses"]["Misdirected"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["TooSlow"];
        };
    };
    listGatewayPerformance: {
        parameters: {
            query: {
                /**
                 * @description The response includes everything up to this position: the `Ledger-Position` of a response, or the cursor of an event in
                 *     the feed. A replica that is behind is awaited for up to 2 seconds; then the status is 503.
                 * @example KZy3XO-mPiR6g4i3Crp36tpKHe3JAu9b1p3zxQ4dW7hGm2sT8vLcYf0nB5aEoU1rjKtPZqDl6Mw
                 */
                at_least?: components["parameters"]["AtLeast"];
                /**
                 * @description The cursor in the header `Link` of the previous page. Default is the first page. Ignored for CSV.
                 * @example KZy3XO-mPiR6g4i3Crp36tpKHe3JAu9b1p3zxQ4dW7hGm2sT8vLcYf0nB5aEoU1rjKtPZqDl6Mw
                 */
                cursor?: components["parameters"]["Cursor"];
                /**
                 * @description First day (UTC) of `created_date`, inclusive.
                 * @example 2024-03-01
                 */
                from_date: string;
                /**
                 * @description Respond with what the ledger knew at a position: the `Ledger-Position` of a response, or the cursor of an event in the
                 *     feed, which is the position directly after the event. A day means its end (UTC, or in the `time_zone` of the request).
                 *     Default: everything that is stored. An account in the request is the one that the transaction had then.
                 * @example 2024-10-31
                 */
                known_at?: components["parameters"]["KnownAt"];
                /**
                 * @description Last day (UTC) of `created_date`, inclusive.
                 * @example 2024-03-31
                 */
                to_date: string;
            };
            header?: {
                /**
                 * @description The `ETag` of a stored response. The response is 304 if it is still current.
                 * @example "Qn3ZbUyQuuzpkzy9YBqOO6SzCqYaHxZ0sJgBTjQvXLY"
                 */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The accounts and months. */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["CacheControl"];
                    ETag: components["headers"]["ETag"];
                    "Ledger-Position": components["headers"]["LedgerPosition"];
                    Link: components["headers"]["Link"];
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GatewayPerformanceReport"];
                };
            };
            304: components["responses"]["NotModified"];
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            410: components["responses"]["UnknownPosition"];
            421: components["responses"]["Misdirected"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["TooSlow"];
        };
    };
    getPaymentsByState: {
        parameters: {
            query: {
                /**
                 * @description Gateway account of the transactions.
                 * @example demo
                 */
                account_id?: components["parameters"]["AccountId"];
                /**
                 * @description The response includes everything up to this position: the `Ledger-Position` of a response, or the cursor of an event in
                 *     the feed. A replica that is behind is awaited for up to 2 seconds; then the status is 503.
                 * @example KZy3XO-mPiR6g4i3Crp36tpKHe3JAu9b1p3zxQ4dW7hGm2sT8vLcYf0nB5aEoU1rjKtPZqDl6Mw
                 */
                at_least?: components["parameters"]["AtLeast"];
                /**
                 * @description Instant before `created_date`, exclusive.
                 * @example 2024-03-01T00:00:00Z
                 */
                from_date?: components["parameters"]["FromDate"];
                /**
                 * @deprecated
                 * @description Leave it out. It has no effect and is accepted for clients of alphagov/pay-ledger.
                 * @example false
                 */
                include_moto_statistics: boolean;
                /**
                 * @description Respond with what the ledger knew at a position: the `Ledger-Position` of a response, or the cursor of an event in the
                 *     feed, which is the position directly after the event. A day means its end (UTC, or in the `time_zone` of the request).
                 *     Default: everything that is stored. An account in the request is the one that the transaction had then.
                 * @example 2024-10-31
                 */
                known_at?: components["parameters"]["KnownAt"];
                /**
                 * @description Whether `account_id` is optional. Default false. An `account_id` that is present still applies.
                 * @example true
                 */
                override_account_id_restriction: components["parameters"]["OverrideAccountIdRestriction"];
                /**
                 * @description Instant after `created_date`, exclusive.
                 * @example 2024-04-01T00:00:00Z
                 */
                to_date?: components["parameters"]["ToDate"];
            };
            header?: {
                /**
                 * @description The `ETag` of a stored response. The response is 304 if it is still current.
                 * @example "Qn3ZbUyQuuzpkzy9YBqOO6SzCqYaHxZ0sJgBTjQvXLY"
                 */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The numbers. */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["CacheControl"];
                    ETag: components["headers"]["ETag"];
                    "Ledger-Position": components["headers"]["LedgerPosition"];
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PaymentsByState"];
                };
            };
            304: components["responses"]["NotModified"];
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            410: components["responses"]["UnknownPosition"];
            421: components["responses"]["Misdirected"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["TooSlow"];
        };
    };
    getPerformanceReport: {
        parameters: {
            query?: {
                /**
                 * @description The response includes everything up to this position: the `Ledger-Position` of a response, or the cursor of an event in
                 *     the feed. A replica that is behind is awaited for up to 2 seconds; then the status is 503.
                 * @example KZy3XO-mPiR6g4i3Crp36tpKHe3JAu9b1p3zxQ4dW7hGm2sT8vLcYf0nB5aEoU1rjKtPZqDl6Mw
                 */
                at_least?: components["parameters"]["AtLeast"];
                /**
                 * @description First day (UTC) of `created_date`, inclusive.
                 * @example 2024-03-01
                 */
                from_date?: string;
                /**
                 * @description Respond with what the ledger knew at a position: the `Ledger-Position` of a response, or the cursor of an event in the
                 *     feed, which is the position directly after the event. A day means its end (UTC, or in the `time_zone` of the request).
                 *     Default: everything that is stored. An account in the request is the one that the transaction had then.
                 * @example 2024-10-31
                 */
                known_at?: components["parameters"]["KnownAt"];
                /**
                 * @description State of the payments, as `x-state-machine` names it. Default is every state.
                 * @example SUCCESS
                 */
                state?: components["parameters"]["TransactionStateFilter"];
                /**
                 * @description Last day (UTC) of `created_date`, inclusive.
                 * @example 2024-03-31
                 */
                to_date?: string;
            };
            header?: {
                /**
                 * @description The `ETag` of a stored response. The response is 304 if it is still current.
                 * @example "Qn3ZbUyQuuzpkzy9YBqOO6SzCqYaHxZ0sJgBTjQvXLY"
                 */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The report. */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["CacheControl"];
                    ETag: components["headers"]["ETag"];
                    "Ledger-Position": components["headers"]["LedgerPosition"];
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PerformanceReport"];
                };
            };
            304: components["responses"]["NotModified"];
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            410: components["responses"]["UnknownPosition"];
            421: components["responses"]["Misdirected"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["TooSlow"];
        };
    };
    getLegacyPerformanceReport: {
        parameters: {
            query?: {
                /**
                 * @description The response includes everything up to this position: the `Ledger-Position` of a response, or the cursor of an event in
                 *     the feed. A replica that is behind is awaited for up to 2 seconds; then the status is 503.
                 * @example KZy3XO-mPiR6g4i3Crp36tpKHe3JAu9b1p3zxQ4dW7hGm2sT8vLcYf0nB5aEoU1rjKtPZqDl6Mw
                 */
                at_least?: components["parameters"]["AtLeast"];
                /**
                 * @description First instant of `created_date`, inclusive.
                 * @example 2024-03-01T00:00:00Z
                 */
                from_date?: string;
                /**
                 * @description Respond with what the ledger knew at a position: the `Ledger-Position` of a response, or the cursor of an event in the
                 *     feed, which is the position directly after the event. A day means its end (UTC, or in the `time_zone` of the request).
                 *     Default: everything that is stored. An account in the request is the one that the transaction had then.
                 * @example 2024-10-31
                 */
                known_at?: components["parameters"]["KnownAt"];
                /**
                 * @description State of the payments, as `x-state-machine` names it. Default is every state.
                 * @example SUCCESS
                 */
                state?: components["parameters"]["TransactionStateFilter"];
                /**
                 * @description Last instant of `created_date`, inclusive.
                 * @example 2024-04-01T00:00:00Z
                 */
                to_date?: string;
            };
            header?: {
                /**
                 * @description The `ETag` of a stored response. The response is 304 if it is still current.
                 * @example "Qn3ZbUyQuuzpkzy9YBqOO6SzCqYaHxZ0sJgBTjQvXLY"
                 */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The report. */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["CacheControl"];
                    /**
                     * @description When the operation became deprecated, as seconds since 1970 after an `@` (RFC 9745).
                     * @example @1796083200
                     */
                    Deprecation: "@1796083200";
                    ETag: components["headers"]["ETag"];
                    "Ledger-Position": components["headers"]["LedgerPosition"];
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PerformanceReport"];
                };
            };
            304: components["responses"]["NotModified"];
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            410: components["responses"]["UnknownPosition"];
            421: components["responses"]["Misdirected"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["TooSlow"];
        };
    };
    getTransactionReport: {
        parameters: {
            query: {
                /**
                 * @description Gateway accounts, separated by commas, up to 1,000.
                 * @example [
                 *       "demo"
                 *     ]
                 */
                account_id?: components["parameters"]["AccountIds"];
                /**
                 * @description The response includes everything up to this position: the `Ledger-Position` of a response, or the cursor of an event in
                 *     the feed. A replica that is behind is awaited for up to 2 seconds; then the status is 503.
                 * @example KZy3XO-mPiR6g4i3Crp36tpKHe3JAu9b1p3zxQ4dW7hGm2sT8vLcYf0nB5aEoU1rjKtPZqDl6Mw
                 */
                at_least?: components["parameters"]["AtLeast"];
                /**
                 * @description Whether the CSV begins with a byte order mark, by which Microsoft Excel knows that it is UTF-8. Default false. Ignored for JSON.
                 * @example true
                 */
                byte_order_mark: components["parameters"]["ByteOrderMark"];
                /**
                 * @description Whether the CSV has a column with the currency of the amounts. Default false. Ignored for JSON.
                 * @example true
                 */
                currency_header: components["parameters"]["CurrencyHeader"];
                /**
                 * @description The cursor in the header `Link` of the previous page. Default is the first page. Ignored for CSV.
                 * @example KZy3XO-mPiR6g4i3Crp36tpKHe3JAu9b1p3zxQ4dW7hGm2sT8vLcYf0nB5aEoU1rjKtPZqDl6Mw
                 */
                cursor?: components["parameters"]["Cursor"];
                /**
                 * @description Number of groups in a response. Default 500; a greater value counts as 500. Ignored for CSV.
                 * @example 20
                 */
                display_size: number;
                /**
                 * @description States of disputes, separated by commas. See `payment_states`.
                 * @example [
                 *       "needs_response"
                 *     ]
                 */
                dispute_states?: components["parameters"]["DisputeStates"];
                /**
                 * @description Format of the response, for clients that cannot send `Accept`, which it takes precedence over.
                 * @example json
                 */
                format?: components["parameters"]["Format"];
                /**
                 * @description Instant before `created_date`, exclusive.
                 * @example 2024-03-01T00:00:00Z
                 */
                from_date?: components["parameters"]["FromDate"];
                /**
                 * @description Columns of the groups, separated by commas, in the order in which groups are sorted. `week` begins on Monday.
                 * @example [
                 *       "type",
                 *       "state"
                 *     ]
                 */
                group_by?: components["parameters"]["GroupBy"];
                /**
                 * @description Respond with what the ledger knew at a position: the `Ledger-Position` of a response, or the cursor of an event in the
                 *     feed, which is the position directly after the event. A day means its end (UTC, or in the `time_zone` of the request).
                 *     Default: everything that is stored. An account in the request is the one that the transaction had then.
                 * @example 2024-10-31
                 */
                known_at?: components["parameters"]["KnownAt"];
                /**
                 * @description Whether real money is involved. Default both, and those of which it is not known.
                 * @example true
                 */
                live?: components["parameters"]["LiveFilter"];
                /**
                 * @description Whether `account_id` is optional. Default false. An `account_id` that is present still applies.
                 * @example true
                 */
                override_account_id_restriction: components["parameters"]["OverrideAccountIdRestriction"];
                /**
                 * @description States of payments, separated by commas. If any of `payment_states`, `refund_states` and `dispute_states` is
                 *     present, only the types whose parameter is present are returned.
                 * @example [
                 *       "created",
                 *       "success"
                 *     ]
                 */
                payment_states?: components["parameters"]["PaymentStates"];
                /**
                 * @description CSV only. True reads the whole file at one position, and adds a last line: `Ledger-Position` and that position,
                 *     separated as the columns are. Default false.
                 * @example true
                 */
                position_line: components["parameters"]["PositionLine"];
                /**
                 * @description States of refunds, separated by commas. See `payment_states`.
                 * @example [
                 *       "success"
                 *     ]
                 */
                refund_states?: components["parameters"]["RefundStates"];
                /**
                 * @description What separates the cells of the CSV. Default comma. Ignored for JSON.
                 * @example semicolon
                 */
                separator: components["parameters"]["Separator"];
                /**
                 * @description State of the transaction.
                 * @example success
                 */
                state?: components["parameters"]["StateFilter"];
                /**
                 * @description Version of the status names in the request and the response. Default 2. Version 1 has `failed` for `declined`,
                 *     `timedout` and `cancelled` (by the payer) of version 2.
                 * @example 2
                 */
                status_version: components["parameters"]["StatusVersion"];
                /**
                 * @description Time zone in which days, weeks and months begin: `UTC`, or a name of the IANA time zone database with area and
                 *     location, such as `Europe/London` or `Asia/Kolkata`, in any case. Offsets such as `+05:30` and abbreviations
                 *     such as `CET` are no names. The rules are those that the database of the ledger knows.
                 *
                 *     Reports take about the same time in each time zone whose offset is a number of whole hours. In the others,
                 *     transactions of up to an hour of each day are read one by one. If there are too many of them, the status is
                 *     504; a shorter interval has fewer. Default UTC.
                 * @example Europe/London
                 */
                time_zone: components["parameters"]["TimeZone"];
                /**
                 * @description Instant after `created_date`, exclusive.
                 * @example 2024-04-01T00:00:00Z
                 */
                to_date?: components["parameters"]["ToDate"];
                /**
                 * @description Type of the transaction, case-insensitive.
                 * @example REFUND
                 */
                transaction_type?: components["parameters"]["TransactionTypeFilter"];
            };
            header?: {
                /**
                 * @description The `ETag` of a stored response. The response is 304 if it is still current.
                 * @example "Qn3ZbUyQuuzpkzy9YBqOO6SzCqYaHxZ0sJgBTjQvXLY"
                 */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The groups. */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["CacheControl"];
                    /**
                     * @description The file name of the CSV. Absent for JSON.
                     * @example attachment; filename="transaction-report.csv"
                     */
                    "Content-Disposition"?: "attachment; filename=\"transaction-report.csv\"";
                    ETag: components["headers"]["ETagOfJson"];
                    "Ledger-Position": components["headers"]["LedgerPosition"];
                    Link: components["headers"]["Link"];
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TransactionReport"];
                    "text/csv": string;
                };
            };
            304: components["responses"]["NotModified"];
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            410: components["responses"]["UnknownPosition"];
            421: components["responses"]["Misdirected"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["TooSlow"];
        };
    };
    listTransactionsByHour: {
        parameters: {
            query: {
                /**
                 * @description The response includes everything up to this position: the `Ledger-Position` of a response, or the cursor of an event in
                 *     the feed. A replica that is behind is awaited for up to 2 seconds; then the status is 503.
                 * @example KZy3XO-mPiR6g4i3Crp36tpKHe3JAu9b1p3zxQ4dW7hGm2sT8vLcYf0nB5aEoU1rjKtPZqDl6Mw
                 */
                at_least?: components["parameters"]["AtLeast"];
                /**
                 * @description The cursor in the header `Link` of the previous page. Default is the first page. Ignored for CSV.
                 * @example KZy3XO-mPiR6g4i3Crp36tpKHe3JAu9b1p3zxQ4dW7hGm2sT8vLcYf0nB5aEoU1rjKtPZqDl6Mw
                 */
                cursor?: components["parameters"]["Cursor"];
                /**
                 * @description First instant, inclusive.
                 * @example 2024-03-05T00:00:00Z
                 */
                from_date: components["parameters"]["FirstInstant"];
                /**
                 * @description Respond with what the ledger knew at a position: the `Ledger-Position` of a response, or the cursor of an event in the
                 *     feed, which is the position directly after the event. A day means its end (UTC, or in the `time_zone` of the request).
                 *     Default: everything that is stored. An account in the request is the one that the transaction had then.
                 * @example 2024-10-31
                 */
                known_at?: components["parameters"]["KnownAt"];
                /**
                 * @description Last instant, inclusive.
                 * @example 2024-03-06T00:00:00Z
                 */
                to_date: components["parameters"]["LastInstant"];
            };
            header?: {
                /**
                 * @description The `ETag` of a stored response. The response is 304 if it is still current.
                 * @example "Qn3ZbUyQuuzpkzy9YBqOO6SzCqYaHxZ0sJgBTjQvXLY"
                 */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The hours. */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["CacheControl"];
                    ETag: components["headers"]["ETag"];
                    "Ledger-Position": components["headers"]["LedgerPosition"];
                    Link: components["headers"]["Link"];
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TransactionsByHour"];
                };
            };
            304: components["responses"]["NotModified"];
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            410: components["responses"]["UnknownPosition"];
            421: components["responses"]["Misdirected"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["TooSlow"];
        };
    };
    getTransactionsSummary: {
        parameters: {
            query: {
                /**
                 * @description Gateway account of the transactions.
                 * @example demo
                 */
                account_id?: components["parameters"]["AccountId"];
                /**
                 * @description The response includes everything up to this position: the `Ledger-Position` of a response, or the cursor of an event in
                 *     the feed. A replica that is behind is awaited for up to 2 seconds; then the status is 503.
                 * @example KZy3XO-mPiR6g4i3Crp36tpKHe3JAu9b1p3zxQ4dW7hGm2sT8vLcYf0nB5aEoU1rjKtPZqDl6Mw
                 */
                at_least?: components["parameters"]["AtLeast"];
                /**
                 * @description Instant before `created_date`, exclusive.
                 * @example 2024-03-01T00:00:00Z
                 */
                from_date?: components["parameters"]["FromDate"];
                /**
                 * @description Whether `moto_payments` is computed. Default false.
                 * @example true
                 */
                include_moto_statistics: boolean;
                /**
                 * @description Respond with what the ledger knew at a position: the `Ledger-Position` of a response, or the cursor of an event in the
                 *     feed, which is the position directly after the event. A day means its end (UTC, or in the `time_zone` of the request).
                 *     Default: everything that is stored. An account in the request is the one that the transaction had then.
                 * @example 2024-10-31
                 */
                known_at?: components["parameters"]["KnownAt"];
                /**
                 * @description Whether `account_id` is optional. Default false. An `account_id` that is present still applies.
                 * @example true
                 */
                override_account_id_restriction: components["parameters"]["OverrideAccountIdRestriction"];
                /**
                 * @description Whether `from_date` is optional. Default false.
                 * @example true
                 */
                override_from_date_validation: boolean;
                /**
                 * @description Instant after `created_date`, exclusive.
                 * @example 2024-04-01T00:00:00Z
                 */
                to_date?: components["parameters"]["ToDate"];
            };
            header?: {
                /**
                 * @description The `ETag` of a stored response. The response is 304 if it is still current.
                 * @example "Qn3ZbUyQuuzpkzy9YBqOO6SzCqYaHxZ0sJgBTjQvXLY"
                 */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The summary. */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["CacheControl"];
                    ETag: components["headers"]["ETag"];
                    "Ledger-Position": components["headers"]["LedgerPosition"];
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TransactionsSummary"];
                };
            };
            304: components["responses"]["NotModified"];
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            410: components["responses"]["UnknownPosition"];
            421: components["responses"]["Misdirected"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["TooSlow"];
        };
    };
    listTransactionReportChanges: {
        parameters: {
            query: {
                /**
                 * @description Gateway accounts, separated by commas, up to 1,000.
                 * @example [
                 *       "demo"
                 *     ]
                 */
                account_id?: components["parameters"]["AccountIds"];
                /**
                 * @description The response includes everything up to this position: the `Ledger-Position` of a response, or the cursor of an event in
                 *     the feed. A replica that is behind is awaited for up to 2 seconds; then the status is 503.
                 * @example KZy3XO-mPiR6g4i3Crp36tpKHe3JAu9b1p3zxQ4dW7hGm2sT8vLcYf0nB5aEoU1rjKtPZqDl6Mw
                 */
                at_least?: components["parameters"]["AtLeast"];
                /**
                 * @description The cursor in the header `Link` of the previous page. Default is the first page. Ignored for CSV.
                 * @example KZy3XO-mPiR6g4i3Crp36tpKHe3JAu9b1p3zxQ4dW7hGm2sT8vLcYf0nB5aEoU1rjKtPZqDl6Mw
                 */
                cursor?: components["parameters"]["Cursor"];
                /**
                 * @description Number of changes in a response. Default 100; a greater value counts as 100.
                 * @example 20
                 */
                display_size: number;
                /**
                 * @description States of disputes, separated by commas. See `payment_states`.
                 * @example [
                 *       "needs_response"
                 *     ]
                 */
                dispute_states?: components["parameters"]["DisputeStates"];
                /**
                 * @description Instant before `created_date`, exclusive.
                 * @example 2024-03-01T00:00:00Z
                 */
                from_date?: components["parameters"]["FromDate"];
                /**
                 * @description Columns of the groups, separated by commas, in the order in which groups are sorted. `week` begins on Monday.
                 * @example [
                 *       "type",
                 *       "state"
                 *     ]
                 */
                group_by?: components["parameters"]["GroupBy"];
                /**
                 * @description Whether real money is involved. Default both, and those of which it is not known.
                 * @example true
                 */
                live?: components["parameters"]["LiveFilter"];
                /**
                 * @description Whether `account_id` is optional. Default false. An `account_id` that is present still applies.
                 * @example true
                 */
                override_account_id_restriction: components["parameters"]["OverrideAccountIdRestriction"];
                /**
                 * @description States of payments, separated by commas. If any of `payment_states`, `refund_states` and `dispute_states` is
                 *     present, only the types whose parameter is present are returned.
                 * @example [
                 *       "created",
                 *       "success"
                 *     ]
                 */
                payment_states?: components["parameters"]["PaymentStates"];
                /**
                 * @description States of refunds, separated by commas. See `payment_states`.
                 * @example [
                 *       "success"
                 *     ]
                 */
                refund_states?: components["parameters"]["RefundStates"];
                /**
                 * @description The position of the older report, as in `known_at`. Default is the first position of the ledger.
                 * @example 2024-10-31
                 */
                since?: components["schemas"]["KnownAt"];
                /**
                 * @description State of the transaction.
                 * @example success
                 */
                state?: components["parameters"]["StateFilter"];
                /**
                 * @description Version of the status names in the request and the response. Default 2. Version 1 has `failed` for `declined`,
                 *     `timedout` and `cancelled` (by the payer) of version 2.
                 * @example 2
                 */
                status_version: components["parameters"]["StatusVersion"];
                /**
                 * @description Time zone in which days, weeks and months begin: `UTC`, or a name of the IANA time zone database with area and
                 *     location, such as `Europe/London` or `Asia/Kolkata`, in any case. Offsets such as `+05:30` and abbreviations
                 *     such as `CET` are no names. The rules are those that the database of the ledger knows.
                 *
                 *     Reports take about the same time in each time zone whose offset is a number of whole hours. In the others,
                 *     transactions of up to an hour of each day are read one by one. If there are too many of them, the status is
                 *     504; a shorter interval has fewer. Default UTC.
                 * @example Europe/London
                 */
                time_zone: components["parameters"]["TimeZone"];
                /**
                 * @description Instant after `created_date`, exclusive.
                 * @example 2024-04-01T00:00:00Z
                 */
                to_date?: components["parameters"]["ToDate"];
                /**
                 * @description Type of the transaction, case-insensitive.
                 * @example REFUND
                 */
                transaction_type?: components["parameters"]["TransactionTypeFilter"];
                /**
                 * @description The position of the later report, as in `known_at`. Default is the present one.
                 * @example 2024-11-30
                 */
                until?: components["schemas"]["KnownAt"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The difference and its changes. */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["CacheControl"];
                    "Ledger-Position": components["headers"]["IncludedPosition"];
                    Link: components["headers"]["Link"];
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TransactionReportChanges"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            410: components["responses"]["UnknownPosition"];
            421: components["responses"]["Misdirected"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["TooSlow"];
        };
    };
    searchTransactions: {
        parameters: {
            query: {
                /**
                 * @description Gateway accounts, separated by commas, up to 1,000.
                 * @example [
                 *       "demo"
                 *     ]
                 */
                account_id?: components["parameters"]["AccountIds"];
                /**
                 * @description Agreement of the payment.
                 * @example demo-agreement
                 */
                agreement_id?: components["schemas"]["SearchText"];
                /**
                 * @description The response includes everything up to this position: the `Ledger-Position` of a response, or the cursor of an event in
                 *     the feed. A replica that is behind is awaited for up to 2 seconds; then the status is 503.
                 * @example KZy3XO-mPiR6g4i3Crp36tpKHe3JAu9b1p3zxQ4dW7hGm2sT8vLcYf0nB5aEoU1rjKtPZqDl6Mw
                 */
                at_least?: components["parameters"]["AtLeast"];
                /**
                 * @description Whether the CSV begins with a byte order mark, by which Microsoft Excel knows that it is UTF-8. Default false. Ignored for JSON.
                 * @example true
                 */
                byte_order_mark: components["parameters"]["ByteOrderMark"];
                /**
                 * @deprecated
                 * @description Use `card_brands`, which means the same. Both together add up. alphagov/pay-publicapi sends this name.
                 * @example [
                 *       "visa"
                 *     ]
                 */
                card_brand?: components["schemas"]["ListedText"][];
                /**
                 * @description Ids of card brands such as `visa`, separated by commas. Display names do not match.
                 * @example [
                 *       "visa",
                 *       "master-card"
                 *     ]
                 */
                card_brands?: components["schemas"]["ListedText"][];
                /**
                 * @description Part of the name on the card, case-insensitive.
                 * @example angler
                 */
                cardholder_name?: components["schemas"]["SearchText"];
                /**
                 * @description Names of the columns of the CSV in their order, separated by commas, as `x-csv` and the header row have them;
                 *     `KEY (metadata)` is the column of a metadata key, whether or not a payment has it. A key with a comma has no such
                 *     name; it is in Other metadata. Default: the columns of `x-csv`. With it `fee_headers`, `moto_header` and
                 *     `currency_header` have no effect. Ignored for JSON.
                 * @example [
                 *       "Date Created",
                 *       "Type",
                 *       "Reference",
                 *       "Net",
                 *       "Payout",
                 *       "Settled Date",
                 *       "branch (metadata)"
                 *     ]
                 */
                columns?: components["schemas"]["CsvColumn"][];
                /**
                 * @description Whether the CSV has a column with the currency of the amounts. Default false. Ignored for JSON.
                 * @example true
                 */
                currency_header: components["parameters"]["CurrencyHeader"];
                /**
                 * @description The cursor in the header `Link` of the previous page. Pages by cursor cost the same at any depth. They exclude
                 *     what arrived after the first page was read, and `total` keeps its value from then. Not allowed with a `page` other
                 *     than 1. Ignored for CSV.
                 * @example KZy3XO-mPiR6g4i3Crp36tpKHe3JAu9b1p3zxQ4dW7hGm2sT8vLcYf0nB5aEoU1rjKtPZqDl6Mw
                 */
                cursor?: components["parameters"]["SearchCursor"];
                /**
                 * @description Number of transactions on a page. Default 500; a greater value counts as 500. Ignored for CSV.
                 * @example 20
                 */
                display_size: number;
                /**
                 * @description States of disputes, separated by commas. See `payment_states`.
                 * @example [
                 *       "needs_response"
                 *     ]
                 */
                dispute_states?: components["parameters"]["DisputeStates"];
                /**
                 * @description Part of the payer's email address, case-insensitive.
                 * @example angler@
                 */
                email?: components["schemas"]["SearchText"];
                /**
                 * @description Whether `reference` is the whole reference, case-insensitive. Default false.
                 * @example true
                 */
                exact_reference_match: boolean;
                /**
                 * @description True adds the members that alphagov/pay-ledger does not have to the body. Default is true with a `cursor`, and
                 *     false without one.
                 * @example true
                 */
                extended?: components["parameters"]["Extended"];
                /**
                 * @description Whether the CSV has the fee columns. Default false. Ignored for JSON.
                 * @example true
                 */
                fee_headers: boolean;
                /**
                 * @description First digits of the card number.
                 * @example 424242
                 */
                first_digits_card_number?: components["schemas"]["SearchText"];
                /**
                 * @description Format of the response, for clients that cannot send `Accept`, which it takes precedence over.
                 * @example json
                 */
                format?: components["parameters"]["Format"];
                /**
                 * @description Instant before `created_date`, exclusive.
                 * @example 2024-03-01T00:00:00Z
                 */
                from_date?: components["parameters"]["FromDate"];
                /**
                 * @description First day (UTC) of the payout, inclusive. Only settled transactions match.
                 * @example 2024-03-01
                 */
                from_settled_date?: string;
                /**
                 * @description Payout that includes the transaction.
                 * @example demo-payout
                 */
                gateway_payout_id?: components["schemas"]["SearchText"];
                /**
                 * @description The provider's id of the transaction.
                 * @example gtx-1
                 */
                gateway_transaction_id?: components["schemas"]["SearchText"];
                /**
                 * @description Respond with what the ledger knew at a position: the `Ledger-Position` of a response, or the cursor of an event in the
                 *     feed, which is the position directly after the event. A day means its end (UTC, or in the `time_zone` of the request).
                 *     Default: everything that is stored. An account in the request is the one that the transaction had then.
                 * @example 2024-10-31
                 */
                known_at?: components["parameters"]["KnownAt"];
                /**
                 * @description Last digits of the card number.
                 * @example 4242
                 */
                last_digits_card_number?: components["schemas"]["SearchText"];
                /**
                 * @description Whether counting stops at `limit_total_size`, which is faster. Default false. If true, there is no link to the
                 *     last page, the page after a full page may be empty, and a page after the last one is empty.
                 * @example true
                 */
                limit_total: boolean;
                /**
                 * @description Count at which counting stops. Default 10,000, which also replaces a value below `display_size`.
                 * @example 5001
                 */
                limit_total_size: number;
                /**
                 * @description Whether real money is involved. Default both, and those of which it is not known.
                 * @example true
                 */
                live?: components["parameters"]["LiveFilter"];
                /**
                 * @description Value of any metadata key, case-insensitive. A number or a boolean matches as text.
                 * @example North
                 */
                metadata_value?: components["schemas"]["SearchText"];
                /**
                 * @description Whether the CSV has the column MOTO (mail order, telephone order). Default false. Ignored for JSON.
                 * @example true
                 */
                moto_header: boolean;
                /**
                 * @description Whether `account_id` is optional. Default false. An `account_id` that is present still applies.
                 * @example true
                 */
                override_account_id_restriction: components["parameters"]["OverrideAccountIdRestriction"];
                /**
                 * @description Number of the page, from 1. Default 1. Ignored for CSV.
                 * @example 1
                 */
                page: components["parameters"]["Page"];
                /**
                 * @description States of payments, separated by commas. If any of `payment_states`, `refund_states` and `dispute_states` is
                 *     present, only the types whose parameter is present are returned.
                 * @example [
                 *       "created",
                 *       "success"
                 *     ]
                 */
                payment_states?: components["parameters"]["PaymentStates"];
                /**
                 * @description CSV only. True reads the whole file at one position, and adds a last line: `Ledger-Position` and that position,
                 *     separated as the columns are. Default false.
                 * @example true
                 */
                position_line: components["parameters"]["PositionLine"];
                /**
                 * @description Part of the reference, case-insensitive. Like every search text it is literal: `%`, `_` and `\` have no special
                 *     meaning. A refund or dispute has the reference of its payment.
                 * @example fishing-88
                 */
                reference?: components["schemas"]["SearchText"];
                /**
                 * @description States of refunds, separated by commas. See `payment_states`.
                 * @example [
                 *       "success"
                 *     ]
                 */
                refund_states?: components["parameters"]["RefundStates"];
                /**
                 * @description What separates the cells of the CSV. Default comma. Ignored for JSON.
                 * @example semicolon
                 */
                separator: components["parameters"]["Separator"];
                /**
                 * @description State of the transaction.
                 * @example success
                 */
                state?: components["parameters"]["StateFilter"];
                /**
                 * @description Version of the status names in the request and the response. Default 2. Version 1 has `failed` for `declined`,
                 *     `timedout` and `cancelled` (by the payer) of version 2.
                 * @example 2
                 */
                status_version: components["parameters"]["StatusVersion"];
                /**
                 * @description Instant after `created_date`, exclusive.
                 * @example 2024-04-01T00:00:00Z
                 */
                to_date?: components["parameters"]["ToDate"];
                /**
                 * @description Last day (UTC) of the payout, inclusive. Only settled transactions match.
                 * @example 2024-03-31
                 */
                to_settled_date?: string;
                /**
                 * @description Type of the transaction, case-insensitive.
                 * @example REFUND
                 */
                transaction_type?: components["parameters"]["TransactionTypeFilter"];
            };
            header?: {
                /**
                 * @description Why the caller needs the access, for its record. A setting of the service can require it. It must not have personal
                 *     data. It has no effect where accesses are not recorded.
                 * @example ticket 4711
                 */
                "Access-Reason"?: components["parameters"]["AccessReason"];
                /**
                 * @description The `ETag` of a stored response. The response is 304 if it is still current.
                 * @example "Qn3ZbUyQuuzpkzy9YBqOO6SzCqYaHxZ0sJgBTjQvXLY"
                 */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description One page of transactions, or all matches as CSV. */
            200: {
                headers: {
                    "Accept-Query": components["headers"]["AcceptQuery"];
                    "Cache-Control": components["headers"]["CacheControl"];
                    /**
                     * @description The file name of the CSV. Absent for JSON.
                     * @example attachment; filename="transactions.csv"
                     */
                    "Content-Disposition"?: "attachment; filename=\"transactions.csv\"";
                    ETag: components["headers"]["ETagOfJson"];
                    "Ledger-Position": components["headers"]["LedgerPosition"];
                    Link: components["headers"]["Link"];
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TransactionSearchResponse"];
                    "text/csv": string;
                };
            };
            304: components["responses"]["NotModified"];
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            410: components["responses"]["UnknownPosition"];
            421: components["responses"]["Misdirected"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["TooSlow"];
        };
    };
    listChildTransactions: {
        parameters: {
            query: {
                /**
                 * @description The response includes everything up to this position: the `Ledger-Position` of a response, or the cursor of an event in
                 *     the feed. A replica that is behind is awaited for up to 2 seconds; then the status is 503.
                 * @example KZy3XO-mPiR6g4i3Crp36tpKHe3JAu9b1p3zxQ4dW7hGm2sT8vLcYf0nB5aEoU1rjKtPZqDl6Mw
                 */
                at_least?: components["parameters"]["AtLeast"];
                /**
                 * @description The cursor in the header `Link` of the previous page. Default is the first page. Ignored for CSV.
                 * @example KZy3XO-mPiR6g4i3Crp36tpKHe3JAu9b1p3zxQ4dW7hGm2sT8vLcYf0nB5aEoU1rjKtPZqDl6Mw
                 */
                cursor?: components["parameters"]["Cursor"];
                /**
                 * @description True adds the members that alphagov/pay-ledger does not have to the body. Default is true with a `cursor`, and
                 *     false without one.
                 * @example true
                 */
                extended?: components["parameters"]["Extended"];
                /**
                 * @description Gateway account of the transaction.
                 * @example demo
                 */
                gateway_account_id: components["parameters"]["GatewayAccountId"];
                /**
                 * @description Respond with what the ledger knew at a position: the `Ledger-Position` of a response, or the cursor of an event in the
                 *     feed, which is the position directly after the event. A day means its end (UTC, or in the `time_zone` of the request).
                 *     Default: everything that is stored. An account in the request is the one that the transaction had then.
                 * @example 2024-10-31
                 */
                known_at?: components["parameters"]["KnownAt"];
                /**
                 * @description Type of the transaction, case-insensitive.
                 * @example REFUND
                 */
                transaction_type?: components["parameters"]["TransactionTypeFilter"];
            };
            header?: {
                /**
                 * @description Why the caller needs the access, for its record. A setting of the service can require it. It must not have personal
                 *     data. It has no effect where accesses are not recorded.
                 * @example ticket 4711
                 */
                "Access-Reason"?: components["parameters"]["AccessReason"];
                /**
                 * @description The `ETag` of a stored response. The response is 304 if it is still current.
                 * @example "Qn3ZbUyQuuzpkzy9YBqOO6SzCqYaHxZ0sJgBTjQvXLY"
                 */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
            };
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
            /** @description The children. The list is empty if there are none. */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["CacheControl"];
                    ETag: components["headers"]["ETag"];
                    "Ledger-Position": components["headers"]["LedgerPosition"];
                    Link: components["headers"]["Link"];
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TransactionsForTransactionResponse"];
                };
            };
            304: components["responses"]["NotModified"];
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            410: components["responses"]["UnknownPosition"];
            421: components["responses"]["Misdirected"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["TooSlow"];
        };
    };
    getTransaction: {
        parameters: {
            query: {
                /**
                 * @description Gateway account of the transaction.
                 * @example demo
                 */
                account_id?: components["schemas"]["ScopeId"];
                /**
                 * @description Use only events dated up to and including this instant. An account or service in the request must be that of the
                 *     transaction or agreement both then and now.
                 * @example 2024-03-05T12:00:00Z
                 */
                as_of?: components["parameters"]["AsOf"];
                /**
                 * @description The response includes everything up to this position: the `Ledger-Position` of a response, or the cursor of an event in
                 *     the feed. A replica that is behind is awaited for up to 2 seconds; then the status is 503.
                 * @example KZy3XO-mPiR6g4i3Crp36tpKHe3JAu9b1p3zxQ4dW7hGm2sT8vLcYf0nB5aEoU1rjKtPZqDl6Mw
                 */
                at_least?: components["parameters"]["AtLeast"];
                /**
                 * @description Respond with what the ledger knew at a position: the `Ledger-Position` of a response, or the cursor of an event in the
                 *     feed, which is the position directly after the event. A day means its end (UTC, or in the `time_zone` of the request).
                 *     Default: everything that is stored. An account in the request is the one that the transaction had then.
                 * @example 2024-10-31
                 */
                known_at?: components["parameters"]["KnownAt"];
                /**
                 * @description Whether `account_id` is optional. Default false. An `account_id` that is present still applies.
                 * @example true
                 */
                override_account_id_restriction: components["parameters"]["OverrideAccountIdRestriction"];
                /**
                 * @description External id of the parent transaction.
                 * @example demo-success
                 */
                parent_external_id?: components["schemas"]["ExternalId"];
                /**
                 * @description Version of the status names in the request and the response. Default 2. Version 1 has `failed` for `declined`,
                 *     `timedout` and `cancelled` (by the payer) of version 2.
                 * @example 2
                 */
                status_version: components["parameters"]["StatusVersion"];
                /**
                 * @description Type of the transaction, case-insensitive.
                 * @example REFUND
                 */
                transaction_type?: components["parameters"]["TransactionTypeFilter"];
            };
            header?: {
                /**
                 * @description Why the caller needs the access, for its record. A setting of the service can require it. It must not have personal
                 *     data. It has no effect where accesses are not recorded.
                 * @example ticket 4711
                 */
                "Access-Reason"?: components["parameters"]["AccessReason"];
                /**
                 * @description The `ETag` of a stored response. The response is 304 if it is still current.
                 * @example "Qn3ZbUyQuuzpkzy9YBqOO6SzCqYaHxZ0sJgBTjQvXLY"
                 */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
            };
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
                    "Cache-Control": components["headers"]["CacheControl"];
                    ETag: components["headers"]["ETag"];
                    "Ledger-Position": components["headers"]["LedgerPosition"];
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TransactionView"];
                };
            };
            304: components["responses"]["NotModified"];
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            410: components["responses"]["UnknownPosition"];
            421: components["responses"]["Misdirected"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["TooSlow"];
        };
    };
    listTransactionEvents: {
        parameters: {
            query: {
                /**
                 * @description Use only events dated up to and including this instant. An account or service in the request must be that of the
                 *     transaction or agreement both then and now.
                 * @example 2024-03-05T12:00:00Z
                 */
                as_of?: components["parameters"]["AsOf"];
                /**
                 * @description The response includes everything up to this position: the `Ledger-Position` of a response, or the cursor of an event in
                 *     the feed. A replica that is behind is awaited for up to 2 seconds; then the status is 503.
                 * @example KZy3XO-mPiR6g4i3Crp36tpKHe3JAu9b1p3zxQ4dW7hGm2sT8vLcYf0nB5aEoU1rjKtPZqDl6Mw
                 */
                at_least?: components["parameters"]["AtLeast"];
                /**
                 * @description The cursor in the header `Link` of the previous page. Default is the first page. Ignored for CSV.
                 * @example KZy3XO-mPiR6g4i3Crp36tpKHe3JAu9b1p3zxQ4dW7hGm2sT8vLcYf0nB5aEoU1rjKtPZqDl6Mw
                 */
                cursor?: components["parameters"]["Cursor"];
                /**
                 * @description True adds the members that alphagov/pay-ledger does not have to the body. Default is true with a `cursor`, and
                 *     false without one.
                 * @example true
                 */
                extended?: components["parameters"]["Extended"];
                /**
                 * @description Gateway account of the transaction.
                 * @example demo
                 */
                gateway_account_id: components["parameters"]["GatewayAccountId"];
                /**
                 * @description Whether to include events that set no state or repeat one. Default false.
                 * @example true
                 */
                include_all_events: boolean;
                /**
                 * @description Respond with what the ledger knew at a position: the `Ledger-Position` of a response, or the cursor of an event in the
                 *     feed, which is the position directly after the event. A day means its end (UTC, or in the `time_zone` of the request).
                 *     Default: everything that is stored. An account in the request is the one that the transaction had then.
                 * @example 2024-10-31
                 */
                known_at?: components["parameters"]["KnownAt"];
                /**
                 * @description Version of the status names in the request and the response. Default 2. Version 1 has `failed` for `declined`,
                 *     `timedout` and `cancelled` (by the payer) of version 2.
                 * @example 2
                 */
                status_version: components["parameters"]["StatusVersion"];
            };
            header?: {
                /**
                 * @description Why the caller needs the access, for its record. A setting of the service can require it. It must not have personal
                 *     data. It has no effect where accesses are not recorded.
                 * @example ticket 4711
                 */
                "Access-Reason"?: components["parameters"]["AccessReason"];
                /**
                 * @description The `ETag` of a stored response. The response is 304 if it is still current.
                 * @example "Qn3ZbUyQuuzpkzy9YBqOO6SzCqYaHxZ0sJgBTjQvXLY"
                 */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
            };
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
                    "Cache-Control": components["headers"]["CacheControl"];
                    ETag: components["headers"]["ETag"];
                    "Ledger-Position": components["headers"]["LedgerPosition"];
                    Link: components["headers"]["Link"];
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TransactionEventResponse"];
                };
            };
            304: components["responses"]["NotModified"];
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            410: components["responses"]["UnknownPosition"];
            421: components["responses"]["Misdirected"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["TooSlow"];
        };
    };
    queryTransactions: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Why the caller needs the access, for its record. A setting of the service can require it. It must not have personal
                 *     data. It has no effect where accesses are not recorded.
                 * @example ticket 4711
                 */
                "Access-Reason"?: components["parameters"]["AccessReason"];
                /**
                 * @description The `ETag` of a stored response. The response is 304 if it is still current.
                 * @example "Qn3ZbUyQuuzpkzy9YBqOO6SzCqYaHxZ0sJgBTjQvXLY"
                 */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description Gateway accounts, separated by commas, up to 1,000. */
                    account_id?: components["schemas"]["ListedScopeId"][];
                    /** @description Agreement of the payment. */
                    agreement_id?: components["schemas"]["SearchText"];
                    /**
                     * @description The response includes everything up to this position: the `Ledger-Position` of a response, or the cursor of an event in
                     *     the feed. A replica that is behind is awaited for up to 2 seconds; then the status is 503.
                     */
                    at_least?: components["schemas"]["Cursor"];
                    /** @description Whether the CSV begins with a byte order mark, by which Microsoft Excel knows that it is UTF-8. Default false. Ignored for JSON. */
                    byte_order_mark?: boolean;
                    /** @description Ids of card brands such as `visa`, separated by commas. Display names do not match. */
                    card_brands?: components["schemas"]["ListedText"][];
                    /** @description Part of the name on the card, case-insensitive. */
                    cardholder_name?: components["schemas"]["SearchText"];
                    /**
                     * @description Names of the columns of the CSV in their order, separated by commas, as `x-csv` and the header row have them;
                     *     `KEY (metadata)` is the column of a metadata key, whether or not a payment has it. A key with a comma has no such
                     *     name; it is in Other metadata. Default: the columns of `x-csv`. With it `fee_headers`, `moto_header` and
                     *     `currency_header` have no effect. Ignored for JSON.
                     */
                    columns?: components["schemas"]["CsvColumn"][];
                    /** @description Whether the CSV has a column with the currency of the amounts. Default false. Ignored for JSON. */
                    currency_header?: boolean;
                    /**
                     * @description The cursor in the header `Link` of the previous page. Pages by cursor cost the same at any depth. They exclude
                     *     what arrived after the first page was read, and `total` keeps its value from then. Not allowed with a `page` other
                     *     than 1. Ignored for CSV.
                     */
                    cursor?: components["schemas"]["Cursor"];
                    /**
                     * Format: int32
                     * @description Number of transactions on a page. Default 500; a greater value counts as 500. Ignored for CSV.
                     */
                    display_size?: number;
                    /** @description States of disputes, separated by commas. See `payment_states`. */
                    dispute_states?: components["schemas"]["Status"][];
                    /** @description Part of the payer's email address, case-insensitive. */
                    email?: components["schemas"]["SearchText"];
                    /** @description Whether `reference` is the whole reference, case-insensitive. Default false. */
                    exact_reference_match?: boolean;
                    /**
                     * @description True adds the members that alphagov/pay-ledger does not have to the body. Default is true with a `cursor`, and
                     *     false without one.
                     */
                    extended?: boolean;
                    /** @description Whether the CSV has the fee columns. Default false. Ignored for JSON. */
                    fee_headers?: boolean;
                    /** @description First digits of the card number. */
                    first_digits_card_number?: components["schemas"]["SearchText"];
                    /**
                     * @description Format of the response, for clients that cannot send `Accept`, which it takes precedence over.
                     * @enum {string}
                     */
                    format?: "json" | "csv";
                    /**
                     * Format: date-time
                     * @description Instant before `created_date`, exclusive.
                     */
                    from_date?: string;
                    /**
                     * Format: date
                     * @description First day (UTC) of the payout, inclusive. Only settled transactions match.
                     */
                    from_settled_date?: string;
                    /** @description Payout that includes the transaction. */
                    gateway_payout_id?: components["schemas"]["SearchText"];
                    /** @description The provider's id of the transaction. */
                    gateway_transaction_id?: components["schemas"]["SearchText"];
                    /**
                     * @description Respond with what the ledger knew at a position: the `Ledger-Position` of a response, or the cursor of an event in the
                     *     feed, which is the position directly after the event. A day means its end (UTC, or in the `time_zone` of the request).
                     *     Default: everything that is stored. An account in the request is the one that the transaction had then.
                     */
                    known_at?: components["schemas"]["KnownAt"];
                    /** @description Last digits of the card number. */
                    last_digits_card_number?: components["schemas"]["SearchText"];
                    /**
                     * @description Whether counting stops at `limit_total_size`, which is faster. Default false. If true, there is no link to the
                     *     last page, the page after a full page may be empty, and a page after the last one is empty.
                     */
                    limit_total?: boolean;
                    /**
                     * Format: int32
                     * @description Count at which counting stops. Default 10,000, which also replaces a value below `display_size`.
                     */
                    limit_total_size?: number;
                    /** @description Whether real money is involved. Default both, and those of which it is not known. */
                    live?: boolean;
                    /** @description Value of any metadata key, case-insensitive. A number or a boolean matches as text. */
                    metadata_value?: components["schemas"]["SearchText"];
                    /** @description Whether the CSV has the column MOTO (mail order, telephone order). Default false. Ignored for JSON. */
                    moto_header?: boolean;
                    /** @description Whether `account_id` is optional. Default false. An `account_id` that is present still applies. */
                    override_account_id_restriction?: boolean;
                    /**
                     * Format: int32
                     * @description Number of the page, from 1. Default 1. Ignored for CSV.
                     */
                    page?: number;
                    /**
                     * @description States of payments, separated by commas. If any of `payment_states`, `refund_states` and `dispute_states` is
                     *     present, only the types whose parameter is present are returned.
                     */
                    payment_states?: components["schemas"]["Status"][];
                    /**
                     * @description CSV only. True reads the whole file at one position, and adds a last line: `Ledger-Position` and that position,
                     *     separated as the columns are. Default false.
                     */
                    position_line?: boolean;
                    /**
                     * @description Part of the reference, case-insensitive. Like every search text it is literal: `%`, `_` and `\` have no special
                     *     meaning. A refund or dispute has the reference of its payment.
                     */
                    reference?: components["schemas"]["SearchText"];
                    /** @description States of refunds, separated by commas. See `payment_states`. */
                    refund_states?: components["schemas"]["Status"][];
                    /**
                     * @description What separates the cells of the CSV. Default comma. Ignored for JSON.
                     * @enum {string}
                     */
                    separator?: "comma" | "semicolon" | "tab";
                    /** @description State of the transaction. */
                    state?: components["schemas"]["Status"];
                    /**
                     * Format: int32
                     * @description Version of the status names in the request and the response. Default 2. Version 1 has `failed` for `declined`,
                     *     `timedout` and `cancelled` (by the payer) of version 2.
                     * @enum {integer}
                     */
                    status_version?: 1 | 2;
                    /**
                     * Format: date-time
                     * @description Instant after `created_date`, exclusive.
                     */
                    to_date?: string;
                    /**
                     * Format: date
                     * @description Last day (UTC) of the payout, inclusive. Only settled transactions match.
                     */
                    to_settled_date?: string;
                    /** @description Type of the transaction, case-insensitive. */
                    transaction_type?: components["schemas"]["TransactionType"];
                };
            };
        };
        responses: {
            /** @description One page of transactions, or all matches as CSV. */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["CacheControl"];
                    /**
                     * @description The file name of the CSV. Absent for JSON.
                     * @example attachment; filename="transactions.csv"
                     */
                    "Content-Disposition"?: "attachment; filename=\"transactions.csv\"";
                    ETag: components["headers"]["ETagOfJson"];
                    "Ledger-Position": components["headers"]["LedgerPosition"];
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TransactionSearchResponse"];
                    "text/csv": string;
                };
            };
            304: components["responses"]["NotModified"];
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["ForbiddenChange"];
            404: components["responses"]["NotFound"];
            410: components["responses"]["UnknownPosition"];
            413: components["responses"]["BodyTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            421: components["responses"]["Misdirected"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["TooSlow"];
        };
    };
    getTransactionByGatewayTransactionId: {
        parameters: {
            query: {
                /**
                 * @description The response includes everything up to this position: the `Ledger-Position` of a response, or the cursor of an event in
                 *     the feed. A replica that is behind is awaited for up to 2 seconds; then the status is 503.
                 * @example KZy3XO-mPiR6g4i3Crp36tpKHe3JAu9b1p3zxQ4dW7hGm2sT8vLcYf0nB5aEoU1rjKtPZqDl6Mw
                 */
                at_least?: components["parameters"]["AtLeast"];
                /**
                 * @description The provider's id of the payment.
                 * @example gtx-1
                 */
                gateway_transaction_id: components["schemas"]["SearchText"];
                /**
                 * @description The payment provider, case-insensitive.
                 * @example sandbox
                 */
                payment_provider: components["schemas"]["SearchText"];
            };
            header?: {
                /**
                 * @description Why the caller needs the access, for its record. A setting of the service can require it. It must not have personal
                 *     data. It has no effect where accesses are not recorded.
                 * @example ticket 4711
                 */
                "Access-Reason"?: components["parameters"]["AccessReason"];
                /**
                 * @description The `ETag` of a stored response. The response is 304 if it is still current.
                 * @example "Qn3ZbUyQuuzpkzy9YBqOO6SzCqYaHxZ0sJgBTjQvXLY"
                 */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The payment. */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["CacheControl"];
                    ETag: components["headers"]["ETag"];
                    "Ledger-Position": components["headers"]["IncludedPosition"];
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Payment"];
                };
            };
            304: components["responses"]["NotModified"];
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            410: components["responses"]["UnknownPosition"];
            421: components["responses"]["Misdirected"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["TooSlow"];
        };
    };
}
