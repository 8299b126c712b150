// Generated from openapi/features.yaml by npm run codegen. Do not edit.

export interface paths {
    "/changes": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read the change feed
         * @description Returns change records: additions, removals and expiries. Records of one resource are in order; records of
         *     different resources are in order approximately. An addition that only changes an expiry time has a record too.
         *
         *     `Accept` selects the format. JSON and NDJSON return one page, which ends at the limit or at the newest record.
         *     Server-sent events (`text/event-stream`) continue: each event has its cursor as `id`, and a client that reconnects
         *     with `Last-Event-ID`, as browsers do, misses nothing. A comment is sent every 15 seconds to keep the connection
         *     alive. `limit` does not apply to it.
         *
         *     The service keeps at least the newest 100,000 records; an operator can set another number, or keep all records,
         *     from the first change of the store on. A cursor older than the oldest record gets 410, and so does one whose change
         *     is not in a copy of the store that was restored, or that a failover of PostgreSQL has lost. A stream with such a
         *     cursor is closed and gets 410 when it reconnects.
         *
         *     To keep a copy of the data: get a cursor with `cursor=newest`, read the data, then read the feed from that cursor.
         */
        get: operations["listChanges"];
        put?: never;
        /**
         * Make many changes
         * @description Makes up to 1,000 additions and removals. The changes to one resource are made in order and atomically. If they
         *     would leave it with more than 1,000 features, none of them is made and the response is 400. In this case, and if
         *     the store fails, the changes to other resources may have been made; repeating the request is safe.
         */
        post: operations["changeFeatures"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/features": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List every feature of every resource of a kind
         * @description Returns entries in pages, each entry once, in a stable order. Follow `next_cursor` until it is absent: the pages
         *     together contain every entry that existed throughout. One that was added or removed in the meantime may be missing
         *     or present.
         *
         *     To keep a copy of a kind: get a cursor with `GET /changes?cursor=newest`, read all pages, then read the change feed
         *     from that cursor.
         */
        get: operations["listEntries"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/features/{resource}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the resources of a kind that have a feature
         * @description Returns identifiers in pages, each identifier once, in a stable order. Follow `next_cursor` until it is absent:
         *     the pages together contain every resource that had the feature throughout. A resource that gained or lost it in
         *     the meantime may be missing or present.
         *
         *     With `count=true` each page also has the exact number of resources that have the feature. With `as_of` the pages
         *     contain the resources that had the feature at that instant; any of them may have fewer identifiers than the limit,
         *     or none.
         */
        get: operations["listResources"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/features/{resource}/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the features of a resource
         * @description Returns each feature once, in the order in which the features were first added. A resource without features has
         *     an empty list, whether it is known or not.
         */
        get: operations["listFeatures"];
        /**
         * Replace the features of a resource
         * @description Replaces the list atomically if its `ETag` still equals `If-Match`. Features that the resource already has keep
         *     their position; new features follow in the order of the body. Expiry times are removed. A list of more than
         *     1,000 features is shortened in several steps first, which others can see.
         */
        put: operations["replaceFeatures"];
        post?: never;
        /**
         * Remove all features of a resource
         * @description Removes them atomically; more than 1,000 in several steps, which others can see. A request body is ignored.
         */
        delete: operations["removeFeatures"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/features/{resource}/{id}/{feature}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Check whether a resource has a feature
         * @description Returns true for every request after the response to the addition.
         */
        get: operations["hasFeature"];
        put?: never;
        /**
         * Add a feature to a resource
         * @description Adding a feature again changes only its expiry time: the feature keeps its position, and the latest request
         *     decides when it expires. A new feature of a resource that has 1,000 gets 400. A request body of any content type
         *     is ignored.
         */
        post: operations["addFeature"];
        /**
         * Remove a feature from a resource
         * @description Succeeds whether or not the resource has the feature. If the feature is added again later, it goes to the end of
         *     the list. A request body is ignored.
         */
        delete: operations["removeFeature"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/healthcheck": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Check the health of the service
         * @description Reads from the store. The status is 200 if the store responds within 2 seconds and 503 otherwise.
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
         * @description Returns request counts and durations by operation and status, in the text format of Prometheus (version 0.0.4).
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
    "/ofrep/v1/evaluate/flags": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Evaluate all features of a resource as flags
         * @description Returns a flag for each feature of the resource, which is true, and for each other feature in use, which is false.
         *     A feature is in use if a resource of the same kind has it. Of these at most 1,000 are named, in an order that is
         *     stable; a flag that is not named is false.
         *
         *     `eventStreams` has the address of a stream that sends an event when a flag of this resource may have changed.
         *     Evaluate again after each event. A flag that comes into use with another resource sends no event.
         */
        post: operations["evaluateFlags"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/ofrep/v1/evaluate/flags/{key}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Evaluate one feature as a flag
         * @description The flag is true if the resource has the feature (reason `TARGETING_MATCH`) and false otherwise (reason
         *     `STATIC`). Every name is a flag.
         */
        post: operations["evaluateFlag"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/ofrep/v1/evaluate/flags/{key}#query": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Evaluate one feature as a flag
         * @description The same as `evaluateFlag`, as a request that is safe to repeat and has a body.
         */
        post: operations["queryFlag"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/ofrep/v1/evaluate/flags#query": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Evaluate all features of a resource as flags
         * @description The same as `evaluateFlags`, as a request that is safe to repeat and has a body.
         */
        post: operations["queryFlags"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/ofrep/v1/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Follow the flags of a resource
         * @description A stream of server-sent events. Each has a `FlagEvent` as its data and means that flags of the resource may have
         *     changed. The first is sent immediately, since flags may have changed after the evaluation; so a client that
         *     reconnects misses nothing. Events that a client has not read yet are combined into one. A comment is sent every
         *     15 seconds to keep the connection alive.
         */
        get: operations["followFlags"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/query": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Check many features of many resources
         * @description Checks up to 100 features of each of up to 100 resources.
         */
        post: operations["hasFeatures"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/query#query": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Check many features of many resources
         * @description The same as `hasFeatures`, as a request that is safe to repeat and has a body.
         */
        post: operations["queryFeatures"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/resources": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the kinds of resources
         * @description Returns the kinds of which a resource has a feature, in pages, each kind once, in a stable order. Follow
         *     `next_cursor` until it is absent: the pages together contain every kind that was in use throughout. One that came
         *     into use or left it in the meantime, or whose last feature has just expired, may be missing or present.
         */
        get: operations["listKinds"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/resources/{resource}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the features in use for a kind, each with its number of resources
         * @description Returns the features that resources of the kind have, in pages, each feature once, in a stable order, with the exact
         *     number of resources that have it. The cost does not depend on these numbers. Follow `next_cursor` until it is
         *     absent: the pages together contain every feature that was in use throughout. One that came into use or left it in
         *     the meantime may be missing or present. A kind that is not in use has an empty list.
         */
        get: operations["listFeaturesInUse"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/resources/{resource}/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get a resource with its features and their expiry times
         * @description Returns the features that `listFeatures` returns, in the same order, each with the instant at which it expires. A
         *     resource without features has an empty list, whether it is known or not.
         */
        get: operations["getResource"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/resources/{resource}/{id}/changes": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the changes of a resource
         * @description Returns the change records of one resource, oldest first: all of them if the store of the service keeps its
         *     history, otherwise those that the change feed still has. Follow `next_cursor` until it is absent; any page may be
         *     empty.
         *
         *     Without a history, a response covers up to 10,000 records of the feed, and a cursor older than the oldest record
         *     gets 410. Two of these requests are in progress at a time and up to 100 wait for up to 10 seconds; others get 503.
         */
        get: operations["listResourceChanges"];
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
        /**
         * @description The resource has the feature.
         * @example {
         *       "result": true
         *     }
         */
        Added: {
            /** @description Always true. */
            result: boolean;
        };
        /**
         * @description The reason why flags were not evaluated.
         * @example {
         *       "errorCode": "PARSE_ERROR",
         *       "errorDetails": "the body is not valid JSON"
         *     }
         */
        BulkEvaluationFailure: {
            errorCode: components["schemas"]["EvaluationErrorCode"];
            /** @description The reason, for people. */
            errorDetails: string;
        };
        /**
         * @description The flags of a resource.
         * @example {
         *       "flags": [],
         *       "eventStreams": [
         *         {
         *           "type": "sse",
         *           "url": "http://127.0.0.1:8080/ofrep/v1/events?resource=customer&id=42"
         *         }
         *       ]
         *     }
         */
        BulkEvaluationSuccess: {
            /** @description The stream that tells when these flags may have changed. */
            eventStreams: components["schemas"]["EventStream"][];
            /** @description The flags. At most 2,000, unless an earlier release stored more than 1,000 features of the resource. */
            flags: components["schemas"]["EvaluationSuccess"][];
        };
        /**
         * @description One page of the change feed.
         * @example {
         *       "changes": [],
         *       "next_cursor": "1f0c9a2b-18"
         *     }
         */
        ChangePage: {
            /** @description The records. Fewer than the limit at the end of the feed. */
            changes: components["schemas"]["ChangeRecord"][];
            /** @description The cursor after these records. It is present even if there are none. */
            next_cursor: string;
        };
        /**
         * @description One change that was made.
         * @example {
         *       "cursor": "1f0c9a2b-18",
         *       "type": "removed",
         *       "at": "2026-03-05T09:14:22.018Z",
         *       "resource": "customer",
         *       "id": "42",
         *       "feature": "dark-mode"
         *     }
         */
        ChangeRecord: {
            /**
             * Format: date-time
             * @description When it happened (UTC).
             */
            at: string;
            /** @description The cursor after this record. */
            cursor: string;
            /**
             * Format: date-time
             * @description When the added feature expires. Absent if it does not.
             */
            expires_at?: string;
            /** @description Name of the feature. */
            feature: components["schemas"]["Name"];
            /** @description Identifier of the resource. */
            id: components["schemas"]["Name"];
            /** @description Kind of the resource. */
            resource: components["schemas"]["Name"];
            /**
             * @description Whether the feature was added, was removed or has expired.
             * @enum {string}
             */
            type: "added" | "removed" | "expired";
        };
        /**
         * @description An opaque position in a list. Send it back unchanged.
         * @example 1f0c9a2b-18
         */
        Cursor: string;
        /**
         * @description One feature of one resource. Also a line of an exported store.
         * @example {
         *       "resource": "customer",
         *       "id": "42",
         *       "feature": "dark-mode"
         *     }
         */
        Entry: {
            /**
             * Format: date-time
             * @description When the feature expires. Absent if it does not.
             */
            expires_at?: string;
            /** @description Name of the feature. */
            feature: components["schemas"]["Name"];
            /** @description Identifier of the resource. */
            id: components["schemas"]["Name"];
            /** @description Kind of the resource. */
            resource: components["schemas"]["Name"];
        };
        /**
         * @description One page of entries.
         * @example {
         *       "entries": [
         *         {
         *           "resource": "customer",
         *           "id": "42",
         *           "feature": "dark-mode"
         *         }
         *       ],
         *       "next_cursor": "WyJkYXJrLW1vZGUiLCI0MiJd"
         *     }
         */
        EntryPage: {
            /** @description The entries. Fewer than the limit on the last page. */
            entries: components["schemas"]["Entry"][];
            /** @description The cursor of the next page, which may be empty. Absent on the last page. */
            next_cursor?: string;
        };
        /**
         * @description One line of text that states the error, with a line feed at its end.
         * @example the store is full
         */
        ErrorLine: string;
        /**
         * @description Names the resource: by the members `resource` and `id`, each a `Name`, if both are present, otherwise by
         *     `targetingKey`. Other members are ignored.
         * @example {
         *       "targetingKey": "customer/42"
         *     }
         */
        EvaluationContext: {
            /** @description `resource/id`, each part percent-encoded: a slash in a name is `%2F`. */
            targetingKey?: string;
        } & {
            [key: string]: unknown;
        };
        /**
         * @description `TARGETING_KEY_MISSING`: the context names no resource. `INVALID_CONTEXT`: the name in the context is invalid.
         *     `PARSE_ERROR`: the request does not follow the protocol.
         * @example INVALID_CONTEXT
         * @enum {string}
         */
        EvaluationErrorCode: "TARGETING_KEY_MISSING" | "INVALID_CONTEXT" | "PARSE_ERROR";
        /**
         * @description The reason why a flag was not evaluated.
         * @example {
         *       "key": "dark-mode",
         *       "errorCode": "PARSE_ERROR",
         *       "errorDetails": "the body is not valid JSON"
         *     }
         */
        EvaluationFailure: {
            errorCode: components["schemas"]["EvaluationErrorCode"];
            /** @description The reason, for people. */
            errorDetails: string;
            /** @description The key of the request. */
            key: string;
        };
        /**
         * @description An evaluation request.
         * @example {
         *       "context": {
         *         "targetingKey": "customer/42"
         *       }
         *     }
         */
        EvaluationRequest: {
            /** @description The evaluation context. */
            context?: components["schemas"]["EvaluationContext"];
        };
        /**
         * @description A flag with its boolean value. It is narrower than the schema of OFREP, whose `oneOf` of value types matches twice
         *     for every value and so rejects all of them.
         * @example {
         *       "key": "dark-mode",
         *       "value": true,
         *       "reason": "TARGETING_MATCH",
         *       "variant": "on"
         *     }
         */
        EvaluationSuccess: {
            /** @description The key of the flag, which is the name of the feature. */
            key: components["schemas"]["Name"];
            /**
             * @description `TARGETING_MATCH` if the resource has the feature, `STATIC` otherwise.
             * @enum {string}
             */
            reason: "TARGETING_MATCH" | "STATIC";
            /** @description Whether the resource has the feature. */
            value: boolean;
            /**
             * @description The value as a name. OpenFeature's provider for Python requires one.
             * @enum {string}
             */
            variant: "on" | "off";
        };
        /**
         * @description The address of a stream of server-sent events.
         * @example {
         *       "type": "sse",
         *       "url": "http://127.0.0.1:8080/ofrep/v1/events?resource=customer&id=42"
         *     }
         */
        EventStream: {
            /**
             * @description Always `sse`.
             * @enum {string}
             */
            type: "sse";
            /**
             * Format: uri
             * @description The complete address, to which a client adds nothing.
             */
            url: string;
        };
        /**
         * Format: date-time
         * @description A future instant with a UTC offset (RFC 3339).
         * @example 2037-03-05T09:14:22.018Z
         */
        Expiry: string;
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
        /**
         * @description One change to make.
         * @example {
         *       "type": "add",
         *       "resource": "customer",
         *       "id": "42",
         *       "feature": "dark-mode",
         *       "expires_at": "2037-03-05T09:14:22.018Z"
         *     }
         */
        FeatureChange: {
            /** @description When the added feature expires, to the millisecond. Default is never. Not allowed with `remove`. */
            expires_at?: components["schemas"]["Expiry"];
            /** @description Name of the feature. */
            feature: components["schemas"]["Name"];
            /** @description Identifier of the resource. */
            id: components["schemas"]["Name"];
            /** @description Kind of the resource. */
            resource: components["schemas"]["Name"];
            /**
             * @description Whether to add or to remove the feature.
             * @enum {string}
             */
            type: "add" | "remove";
        };
        /**
         * @description The result of one change.
         * @example {
         *       "changed": true
         *     }
         */
        FeatureChangeResult: {
            /** @description Whether the change added a feature that was absent or removed one that was present. */
            changed: boolean;
        };
        /**
         * @description The results of the changes.
         * @example {
         *       "results": [
         *         {
         *           "changed": true
         *         }
         *       ]
         *     }
         */
        FeatureChangeResults: {
            /** @description One result for each change, in the order of the request. */
            results: components["schemas"]["FeatureChangeResult"][];
        };
        /**
         * @description Changes to make.
         * @example {
         *       "changes": [
         *         {
         *           "type": "add",
         *           "resource": "customer",
         *           "id": "42",
         *           "feature": "dark-mode"
         *         }
         *       ]
         *     }
         */
        FeatureChanges: {
            /** @description The changes, in order. */
            changes: components["schemas"]["FeatureChange"][];
        };
        /**
         * @description Feature names without duplicates, oldest first. At most 1,000, unless an earlier release stored more.
         * @example [
         *       "dark-mode",
         *       "beta search"
         *     ]
         */
        FeatureList: components["schemas"]["Name"][];
        /**
         * @description A feature in use.
         * @example {
         *       "feature": "dark-mode",
         *       "count": 24
         *     }
         */
        FeatureUse: {
            /**
             * Format: int64
             * @description The number of resources of the kind that have the feature.
             */
            count: number;
            /** @description Name of the feature. */
            feature: components["schemas"]["Name"];
        };
        /**
         * @description One page of the features in use for a kind.
         * @example {
         *       "features": [
         *         {
         *           "feature": "beta search",
         *           "count": 8
         *         }
         *       ],
         *       "next_cursor": "YmV0YSBzZWFyY2g"
         *     }
         */
        FeatureUsePage: {
            /** @description The features. Any page may have fewer than the limit. */
            features: components["schemas"]["FeatureUse"][];
            /** @description The cursor of the next page, which may be empty. Absent on the last page. */
            next_cursor?: string;
        };
        /**
         * @description A feature of a resource.
         * @example {
         *       "feature": "dark-mode",
         *       "expires_at": "2037-03-05T09:14:22.018Z"
         *     }
         */
        FeatureWithExpiry: {
            /**
             * Format: date-time
             * @description When the feature expires (UTC). Absent if it does not.
             */
            expires_at?: string;
            /** @description Name of the feature. */
            feature: components["schemas"]["Name"];
        };
        /**
         * @description An event of the stream of flags.
         * @example {
         *       "type": "refetchEvaluation"
         *     }
         */
        FlagEvent: {
            /**
             * @description Always `refetchEvaluation`.
             * @enum {string}
             */
            type: "refetchEvaluation";
        };
        /**
         * @description The reason why a request failed.
         * @example {
         *       "errorDetails": "connection to the store was lost"
         *     }
         */
        GeneralFailure: {
            /** @description The reason, for people. */
            errorDetails: string;
        };
        /** @description The result of one check. */
        HealthCheck: {
            /** @description Whether the check passed. */
            healthy: boolean;
            /** @description `Healthy`, or the reason. */
            message: string;
        };
        /** @description The result of each check. */
        HealthReport: {
            store: components["schemas"]["HealthCheck"];
        };
        /**
         * @description One page of kinds of resources.
         * @example {
         *       "kinds": [
         *         "customer"
         *       ],
         *       "next_cursor": "Y3VzdG9tZXI"
         *     }
         */
        KindPage: {
            /** @description The kinds. */
            kinds: components["schemas"]["Name"][];
            /** @description The cursor of the next page, which may be empty. Absent on the last page. */
            next_cursor?: string;
        };
        /**
         * @description Metrics in the text format of Prometheus.
         * @example # HELP http_request_duration_seconds Duration of HTTP requests.
         */
        Metrics: string;
        /**
         * @description Unicode text of 1 to 256 characters without control characters.
         * @example dark-mode
         */
        Name: string;
        /**
         * @description An opaque position in a list. Send it back unchanged.
         * @example WyJkYXJrLW1vZGUiLCI0MiJd
         */
        PageCursor: string;
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
             * @description `replace` sets the value at `path`, `remove` deletes it, `move` moves the value at `from` to `path`.
             * @enum {string}
             */
            op: "replace" | "remove" | "move";
            /** @description A JSON pointer (RFC 6901). */
            path: string;
            /** @description The value of `replace`: any JSON. */
            value?: unknown;
        };
        /**
         * @description An error, as a problem document (RFC 9457).
         * @example {
         *       "type": "/problems/not-found",
         *       "title": "Nothing matches the request",
         *       "status": 404,
         *       "detail": "nothing is served at this path",
         *       "request_id": "2f1d8a52-8e0b-4c52-9a36-5d0f7c1b9e44"
         *     }
         */
        Problem: {
            /** @description What happened, with every fault of the request. */
            detail: string;
            /** @description The faults of the request. Absent if the problem is not in a place of the request. */
            errors?: components["schemas"]["Fault"][];
            /** @description The id of the request, as in the header `X-Request-Id`. */
            request_id: string;
            /** @description The HTTP status. */
            status: number;
            /** @description The kind of the problem in words. */
            title: string;
            /** @description The kind of the problem, as the address of a page about it. It is absolute if the service knows its own address. */
            type: string;
        };
        /**
         * @description The resources and the features to check.
         * @example {
         *       "resources": [
         *         {
         *           "resource": "customer",
         *           "id": "42"
         *         }
         *       ],
         *       "features": [
         *         "dark-mode",
         *         "beta search"
         *       ]
         *     }
         */
        Query: {
            /** @description The features to check for each resource. */
            features: components["schemas"]["Name"][];
            /** @description The resources to check. */
            resources: components["schemas"]["ResourceName"][];
        };
        /**
         * @description The result for one resource.
         * @example {
         *       "resource": "customer",
         *       "id": "42",
         *       "has": [
         *         true,
         *         false
         *       ]
         *     }
         */
        QueryResult: {
            /** @description Whether the resource has each feature, in the order of the query. */
            has: boolean[];
            /** @description Identifier of the resource. */
            id: components["schemas"]["Name"];
            /** @description Kind of the resource. */
            resource: components["schemas"]["Name"];
        };
        /**
         * @description The results of a query.
         * @example {
         *       "results": [
         *         {
         *           "resource": "customer",
         *           "id": "42",
         *           "has": [
         *             true,
         *             false
         *           ]
         *         }
         *       ]
         *     }
         */
        QueryResults: {
            /** @description One result for each resource, in the order of the query. */
            results: components["schemas"]["QueryResult"][];
        };
        /**
         * @description Change records of one resource.
         * @example {
         *       "changes": [],
         *       "next_cursor": "1f0c9a2b-18"
         *     }
         */
        ResourceChangePage: {
            /** @description The records, oldest first. The list may be empty on any page. */
            changes: components["schemas"]["ChangeRecord"][];
            /** @description The cursor of the next page. Absent at the end of the feed. */
            next_cursor?: string;
        };
        /**
         * @description A resource with its features.
         * @example {
         *       "resource": "customer",
         *       "id": "42",
         *       "features": [
         *         {
         *           "feature": "dark-mode"
         *         }
         *       ]
         *     }
         */
        ResourceFeatures: {
            /** @description The features, oldest first. At most 1,000, unless an earlier release stored more. */
            features: components["schemas"]["FeatureWithExpiry"][];
            /** @description Identifier of the resource. */
            id: components["schemas"]["Name"];
            /** @description Kind of the resource. */
            resource: components["schemas"]["Name"];
        };
        /**
         * @description One resource.
         * @example {
         *       "resource": "customer",
         *       "id": "42"
         *     }
         */
        ResourceName: {
            /** @description Identifier of the resource. */
            id: components["schemas"]["Name"];
            /** @description Kind of the resource. */
            resource: components["schemas"]["Name"];
        };
        /**
         * @description One page of resource identifiers.
         * @example {
         *       "ids": [
         *         "41",
         *         "42"
         *       ],
         *       "next_cursor": "NDI"
         *     }
         */
        ResourcePage: {
            /**
             * Format: int64
             * @description The number of resources that have the feature. Present if the request has `count=true`.
             */
            count?: number;
            /** @description The identifiers. Fewer than the limit on the last page, and with `as_of` on any page. */
            ids: components["schemas"]["Name"][];
            /** @description The cursor of the next page, which may be empty. Absent on the last page. */
            next_cursor?: string;
        };
        /**
         * @description The result of a check.
         * @example {
         *       "result": true
         *     }
         */
        Result: {
            /** @description Whether the resource has the feature. */
            result: boolean;
        };
    };
    responses: {
        /** @description The request does not conform to the contract. The message names each error. */
        BadRequest: {
            headers: {
                "Cache-Control": components["headers"]["CacheControl"];
                "X-Request-Id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
                "text/plain": components["schemas"]["ErrorLine"];
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
                "text/plain": components["schemas"]["ErrorLine"];
            };
        };
        /** @description The request does not conform to the contract. The message names each error. */
        FlagsBadRequest: {
            headers: {
                "Cache-Control": components["headers"]["CacheControl"];
                "X-Request-Id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["GeneralFailure"];
            };
        };
        /** @description The body is larger than 1 MiB. */
        FlagsBodyTooLarge: {
            headers: {
                "Cache-Control": components["headers"]["CacheControl"];
                "X-Request-Id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["GeneralFailure"];
            };
        };
        /** @description The token lacks the required scope. */
        FlagsForbidden: {
            headers: {
                "Cache-Control": components["headers"]["CacheControl"];
                "WWW-Authenticate": components["headers"]["WWWAuthenticate"];
                "X-Request-Id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["GeneralFailure"];
            };
        };
        /**
         * @description A page of another origin sent the request: its header `Origin` or `Sec-Fetch-Site` says so. Or the caller lacks the
         *     required scope.
         */
        FlagsForbiddenChange: {
            headers: {
                "Cache-Control": components["headers"]["CacheControl"];
                /**
                 * @description The authentication scheme and the required scope (RFC 6750), if the caller lacks it.
                 * @example Bearer error="insufficient_scope", scope="features:write"
                 */
                "WWW-Authenticate"?: string;
                "X-Request-Id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["GeneralFailure"];
            };
        };
        /**
         * @description The host of the request is none of the service. If anyone on its machine can call it, and nobody else, its hosts are
         *     `localhost`, the addresses of loopback and those in its settings.
         */
        FlagsMisdirected: {
            headers: {
                "Cache-Control": components["headers"]["CacheControl"];
                "X-Request-Id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["GeneralFailure"];
            };
        };
        /** @description The store failed. The message is that of the store. */
        FlagsStoreFailure: {
            headers: {
                "Cache-Control": components["headers"]["CacheControl"];
                "X-Request-Id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["GeneralFailure"];
            };
        };
        /** @description The request has no valid token. The message states the reason. */
        FlagsUnauthorized: {
            headers: {
                "Cache-Control": components["headers"]["CacheControl"];
                "WWW-Authenticate": components["headers"]["WWWAuthenticate"];
                "X-Request-Id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["GeneralFailure"];
            };
        };
        /** @description The service is stopping or overloaded. */
        FlagsUnavailable: {
            headers: {
                "Cache-Control": components["headers"]["CacheControl"];
                "Retry-After": components["headers"]["RetryAfter"];
                "X-Request-Id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["GeneralFailure"];
            };
        };
        /** @description The request has a body that is not JSON in UTF-8, or that has a content encoding. */
        FlagsUnsupportedMediaType: {
            headers: {
                "Accept-Encoding": components["headers"]["AcceptEncoding"];
                "Cache-Control": components["headers"]["CacheControl"];
                "X-Request-Id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["GeneralFailure"];
            };
        };
        /** @description The token lacks the required scope. */
        Forbidden: {
            headers: {
                "Cache-Control": components["headers"]["CacheControl"];
                "WWW-Authenticate": components["headers"]["WWWAuthenticate"];
                "X-Request-Id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
                "text/plain": components["schemas"]["ErrorLine"];
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
                 * @example Bearer error="insufficient_scope", scope="features:write"
                 */
                "WWW-Authenticate"?: string;
                "X-Request-Id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
                "text/plain": components["schemas"]["ErrorLine"];
            };
        };
        /** @description The cursor is not from this service, or records after it have been deleted. */
        Gone: {
            headers: {
                "Cache-Control": components["headers"]["CacheControl"];
                "X-Request-Id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
                "text/plain": components["schemas"]["ErrorLine"];
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
                "text/plain": components["schemas"]["ErrorLine"];
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
        /**
         * @description The `ETag` of the list is not the one in `If-Match`, or `If-Match` has its weak form `W/…`, which a proxy makes
         *     that compresses responses.
         */
        PreconditionFailed: {
            headers: {
                "Cache-Control": components["headers"]["CacheControl"];
                "X-Request-Id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
                "text/plain": components["schemas"]["ErrorLine"];
            };
        };
        /** @description The header `If-Match` is missing. */
        PreconditionRequired: {
            headers: {
                "Cache-Control": components["headers"]["CacheControl"];
                "X-Request-Id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
                "text/plain": components["schemas"]["ErrorLine"];
            };
        };
        /** @description The store failed. The message is that of the store. */
        StoreFailure: {
            headers: {
                "Cache-Control": components["headers"]["CacheControl"];
                "X-Request-Id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
                "text/plain": components["schemas"]["ErrorLine"];
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
                "text/plain": components["schemas"]["ErrorLine"];
            };
        };
        /** @description The service is stopping or overloaded. */
        Unavailable: {
            headers: {
                "Cache-Control": components["headers"]["CacheControl"];
                "Retry-After": components["headers"]["RetryAfter"];
                "X-Request-Id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
                "text/plain": components["schemas"]["ErrorLine"];
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
                "text/plain": components["schemas"]["ErrorLine"];
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
         * @description Use the state at this instant, up to and including its millisecond, instead of the present one. What is shown for an
         *     instant stays: the request waits for changes that can still get it. If that takes too long, it gets 503 with an
         *     instant for which it need not wait. An instant in the future gets 400, as does every instant if the store of the
         *     service does not keep its history.
         * @example 2026-03-05T09:14:22.018Z
         */
        AsOf: string;
        /**
         * @description Name of the feature.
         * @example dark-mode
         */
        Feature: components["schemas"]["Name"];
        /**
         * @description Identifier of the resource among those of its kind.
         * @example 42
         */
        Id: components["schemas"]["Name"];
        /**
         * @description The `ETag` of a stored response. The response is 304 if it is still current.
         * @example "Qn3ZbUyQuuzpkzy9YBqOO6SzCqYaHxZ0sJgBTjQvXLY"
         */
        IfNoneMatch: string;
        /**
         * @description Maximum number of items on a page, 1 to 1,000. Default 100.
         * @example 20
         */
        Limit: number;
        /**
         * @description Kind of the resource.
         * @example customer
         */
        Resource: components["schemas"]["Name"];
    };
    requestBodies: {
        Evaluation: {
            content: {
                "application/json": components["schemas"]["EvaluationRequest"];
            };
        };
    };
    headers: {
        /**
         * @description Only a stream has it. nginx then passes on each event immediately.
         * @example no
         */
        AccelBuffering: "no";
        /**
         * @description The content encoding that a request body may have.
         * @example identity
         */
        AcceptEncoding: "identity";
        /**
         * @description `private, no-cache`, so that a cache of one caller can keep the response, and uses it only if the service confirms it.
         *     `private, no-store` for streams, and if the request or the response can contain credentials.
         * @example private, no-cache
         */
        CacheControl: "private, no-cache" | "private, no-store";
        /**
         * @description Identifies this version of the response (RFC 9110).
         * @example "Qn3ZbUyQuuzpkzy9YBqOO6SzCqYaHxZ0sJgBTjQvXLY"
         */
        ETag: string;
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
         * @example Bearer scope="features:read"
         */
        WWWAuthenticate: string;
    };
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    listChanges: {
        parameters: {
            query: {
                /**
                 * @description The cursor of the last record that the client has seen, or `newest`. Default is before the oldest record.
                 * @example 1f0c9a2b-17
                 */
                cursor?: components["schemas"]["Cursor"];
                /**
                 * @description Begin so many records before the end of the feed, or at the oldest record if there are fewer. Not allowed with
                 *     `cursor`.
                 * @example 50
                 */
                last?: number;
                /**
                 * @description Maximum number of items on a page, 1 to 1,000. Default 100.
                 * @example 20
                 */
                limit: components["parameters"]["Limit"];
            };
            header?: {
                /**
                 * @description The same as `cursor`, for a stream. It takes precedence over `cursor` and `last`.
                 * @example 1f0c9a2b-17
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
                    "X-Accel-Buffering": components["headers"]["AccelBuffering"];
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ChangePage"];
                    "application/x-ndjson": string;
                    "text/event-stream": string;
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            410: components["responses"]["Gone"];
            421: components["responses"]["Misdirected"];
            500: components["responses"]["StoreFailure"];
            503: components["responses"]["Unavailable"];
        };
    };
    changeFeatures: {
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
                "application/json": components["schemas"]["FeatureChanges"];
            };
        };
        responses: {
            /** @description One result for each change, in the order of the request. */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["CacheControl"];
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FeatureChangeResults"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["ForbiddenChange"];
            413: components["responses"]["BodyTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            421: components["responses"]["Misdirected"];
            500: components["responses"]["StoreFailure"];
            503: components["responses"]["Unavailable"];
        };
    };
    listEntries: {
        parameters: {
            query: {
                /**
                 * @description The `next_cursor` of the previous page. Default is the first page.
                 * @example WyJkYXJrLW1vZGUiLCI0MiJd
                 */
                cursor?: components["schemas"]["PageCursor"];
                /**
                 * @description Maximum number of items on a page, 1 to 1,000. Default 100.
                 * @example 20
                 */
                limit: components["parameters"]["Limit"];
                /**
                 * @description Kind of the resources.
                 * @example customer
                 */
                resource: components["schemas"]["Name"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description One page of entries. */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["CacheControl"];
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EntryPage"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            421: components["responses"]["Misdirected"];
            500: components["responses"]["StoreFailure"];
            503: components["responses"]["Unavailable"];
        };
    };
    listResources: {
        parameters: {
            query: {
                /**
                 * @description Use the state at this instant, up to and including its millisecond, instead of the present one. What is shown for an
                 *     instant stays: the request waits for changes that can still get it. If that takes too long, it gets 503 with an
                 *     instant for which it need not wait. An instant in the future gets 400, as does every instant if the store of the
                 *     service does not keep its history.
                 * @example 2026-03-05T09:14:22.018Z
                 */
                as_of?: components["parameters"]["AsOf"];
                /**
                 * @description `true` adds the number of resources that have the feature. Its cost does not depend on that number. Not allowed
                 *     with `as_of`. Default is `false`.
                 * @example true
                 */
                count: boolean;
                /**
                 * @description The `next_cursor` of the previous page. Default is the first page.
                 * @example NDI
                 */
                cursor?: components["schemas"]["Cursor"];
                /**
                 * @description Name of the feature.
                 * @example dark-mode
                 */
                feature: components["schemas"]["Name"];
                /**
                 * @description Maximum number of items on a page, 1 to 1,000. Default 100.
                 * @example 20
                 */
                limit: components["parameters"]["Limit"];
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
                 * @description Kind of the resource.
                 * @example customer
                 */
                resource: components["parameters"]["Resource"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description One page of identifiers. */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["CacheControl"];
                    ETag: components["headers"]["ETag"];
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ResourcePage"];
                };
            };
            304: components["responses"]["NotModified"];
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            421: components["responses"]["Misdirected"];
            500: components["responses"]["StoreFailure"];
            503: components["responses"]["Unavailable"];
        };
    };
    listFeatures: {
        parameters: {
            query?: {
                /**
                 * @description Use the state at this instant, up to and including its millisecond, instead of the present one. What is shown for an
                 *     instant stays: the request waits for changes that can still get it. If that takes too long, it gets 503 with an
                 *     instant for which it need not wait. An instant in the future gets 400, as does every instant if the store of the
                 *     service does not keep its history.
                 * @example 2026-03-05T09:14:22.018Z
                 */
                as_of?: components["parameters"]["AsOf"];
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
                 * @description Identifier of the resource among those of its kind.
                 * @example 42
                 */
                id: components["parameters"]["Id"];
                /**
                 * @description Kind of the resource.
                 * @example customer
                 */
                resource: components["parameters"]["Resource"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The features, oldest first. */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["CacheControl"];
                    ETag: components["headers"]["ETag"];
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FeatureList"];
                };
            };
            304: components["responses"]["NotModified"];
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            421: components["responses"]["Misdirected"];
            500: components["responses"]["StoreFailure"];
            503: components["responses"]["Unavailable"];
        };
    };
    replaceFeatures: {
        parameters: {
            query?: never;
            header: {
                /**
                 * @description Why the caller needs the access, for its record. A setting of the service can require it. It must not have personal
                 *     data. It has no effect where accesses are not recorded.
                 * @example ticket 4711
                 */
                "Access-Reason"?: components["parameters"]["AccessReason"];
                /**
                 * @description The `ETag` of the list to replace, or `*` for any list. A request without it gets 428. The marks of proxies
                 *     that compress responses, such as `-gzip` in `"TAG-gzip"`, have no effect; the weak form `W/"TAG"` gets 412.
                 * @example "Qn3ZbUyQuuzpkzy9YBqOO6SzCqYaHxZ0sJgBTjQvXLY"
                 */
                "If-Match": string;
            };
            path: {
                /**
                 * @description Identifier of the resource among those of its kind.
                 * @example 42
                 */
                id: components["parameters"]["Id"];
                /**
                 * @description Kind of the resource.
                 * @example customer
                 */
                resource: components["parameters"]["Resource"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Name"][];
            };
        };
        responses: {
            /** @description The new list. */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["CacheControl"];
                    ETag: components["headers"]["ETag"];
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FeatureList"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["ForbiddenChange"];
            412: components["responses"]["PreconditionFailed"];
            413: components["responses"]["BodyTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            421: components["responses"]["Misdirected"];
            428: components["responses"]["PreconditionRequired"];
            500: components["responses"]["StoreFailure"];
            503: components["responses"]["Unavailable"];
        };
    };
    removeFeatures: {
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
            path: {
                /**
                 * @description Identifier of the resource among those of its kind.
                 * @example 42
                 */
                id: components["parameters"]["Id"];
                /**
                 * @description Kind of the resource.
                 * @example customer
                 */
                resource: components["parameters"]["Resource"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The resource has no features. */
            204: {
                headers: {
                    "Cache-Control": components["headers"]["CacheControl"];
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["ForbiddenChange"];
            415: components["responses"]["UnsupportedMediaType"];
            421: components["responses"]["Misdirected"];
            500: components["responses"]["StoreFailure"];
            503: components["responses"]["Unavailable"];
        };
    };
    hasFeature: {
        parameters: {
            query?: {
                /**
                 * @description Use the state at this instant, up to and including its millisecond, instead of the present one. What is shown for an
                 *     instant stays: the request waits for changes that can still get it. If that takes too long, it gets 503 with an
                 *     instant for which it need not wait. An instant in the future gets 400, as does every instant if the store of the
                 *     service does not keep its history.
                 * @example 2026-03-05T09:14:22.018Z
                 */
                as_of?: components["parameters"]["AsOf"];
            };
            header?: never;
            path: {
                /**
                 * @description Name of the feature.
                 * @example dark-mode
                 */
                feature: components["parameters"]["Feature"];
                /**
                 * @description Identifier of the resource among those of its kind.
                 * @example 42
                 */
                id: components["parameters"]["Id"];
                /**
                 * @description Kind of the resource.
                 * @example customer
                 */
                resource: components["parameters"]["Resource"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Whether the resource has the feature. */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["CacheControl"];
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Result"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            421: components["responses"]["Misdirected"];
            500: components["responses"]["StoreFailure"];
            503: components["responses"]["Unavailable"];
        };
    };
    addFeature: {
        parameters: {
            query?: {
                /**
                 * @description When the feature expires, to the millisecond. The colon of its offset is optional, and spaces may be around the
                 *     time. Default is never.
                 * @example 2037-03-05T09:14:22.018Z
                 */
                expires_at?: components["schemas"]["Expiry"];
            };
            header?: {
                /**
                 * @description Why the caller needs the access, for its record. A setting of the service can require it. It must not have personal
                 *     data. It has no effect where accesses are not recorded.
                 * @example ticket 4711
                 */
                "Access-Reason"?: components["parameters"]["AccessReason"];
            };
            path: {
                /**
                 * @description Name of the feature.
                 * @example dark-mode
                 */
                feature: components["parameters"]["Feature"];
                /**
                 * @description Identifier of the resource among those of its kind.
                 * @example 42
                 */
                id: components["parameters"]["Id"];
                /**
                 * @description Kind of the resource.
                 * @example customer
                 */
                resource: components["parameters"]["Resource"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The resource already had the feature. */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["CacheControl"];
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Added"];
                };
            };
            /** @description The feature was added. */
            201: {
                headers: {
                    "Cache-Control": components["headers"]["CacheControl"];
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Added"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["ForbiddenChange"];
            415: components["responses"]["UnsupportedMediaType"];
            421: components["responses"]["Misdirected"];
            500: components["responses"]["StoreFailure"];
            503: components["responses"]["Unavailable"];
        };
    };
    removeFeature: {
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
            path: {
                /**
                 * @description Name of the feature.
                 * @example dark-mode
                 */
                feature: components["parameters"]["Feature"];
                /**
                 * @description Identifier of the resource among those of its kind.
                 * @example 42
                 */
                id: components["parameters"]["Id"];
                /**
                 * @description Kind of the resource.
                 * @example customer
                 */
                resource: components["parameters"]["Resource"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The resource does not have the feature. */
            204: {
                headers: {
                    "Cache-Control": components["headers"]["CacheControl"];
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["ForbiddenChange"];
            415: components["responses"]["UnsupportedMediaType"];
            421: components["responses"]["Misdirected"];
            500: components["responses"]["StoreFailure"];
            503: components["responses"]["Unavailable"];
        };
    };
    checkHealth: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The store responds. */
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
            500: components["responses"]["StoreFailure"];
            /** @description The store does not respond, or the service is stopping. */
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
                    "text/plain": components["schemas"]["ErrorLine"];
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
            500: components["responses"]["StoreFailure"];
            503: components["responses"]["Unavailable"];
        };
    };
    evaluateFlags: {
        parameters: {
            query?: {
                /**
                 * @description The `etag` of the event that caused the request. It has no effect: every response is up to date.
                 * @example "550e8400"
                 */
                flagConfigEtag?: string;
                /**
                 * @description The `lastModified` of the event that caused the request: Unix seconds or a date. It has no effect: every
                 *     response is up to date.
                 * @example 1771622898
                 */
                flagConfigLastModified?: string;
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
        requestBody: components["requestBodies"]["Evaluation"];
        responses: {
            /** @description The flags that are true, oldest first, then those that are false. */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["NoStore"];
                    ETag: components["headers"]["ETag"];
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BulkEvaluationSuccess"];
                };
            };
            304: components["responses"]["NotModified"];
            /** @description The request or its context is invalid. */
            400: {
                headers: {
                    "Cache-Control": components["headers"]["CacheControl"];
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BulkEvaluationFailure"];
                };
            };
            401: components["responses"]["FlagsUnauthorized"];
            403: components["responses"]["FlagsForbiddenChange"];
            413: components["responses"]["FlagsBodyTooLarge"];
            415: components["responses"]["FlagsUnsupportedMediaType"];
            421: components["responses"]["FlagsMisdirected"];
            500: components["responses"]["FlagsStoreFailure"];
            503: components["responses"]["FlagsUnavailable"];
        };
    };
    evaluateFlag: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Name of the feature.
                 * @example dark-mode
                 */
                key: components["schemas"]["Name"];
            };
            cookie?: never;
        };
        requestBody: components["requestBodies"]["Evaluation"];
        responses: {
            /** @description The value of the flag. */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["CacheControl"];
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EvaluationSuccess"];
                };
            };
            /** @description The request or its context is invalid. */
            400: {
                headers: {
                    "Cache-Control": components["headers"]["CacheControl"];
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EvaluationFailure"];
                };
            };
            401: components["responses"]["FlagsUnauthorized"];
            403: components["responses"]["FlagsForbiddenChange"];
            413: components["responses"]["FlagsBodyTooLarge"];
            415: components["responses"]["FlagsUnsupportedMediaType"];
            421: components["responses"]["FlagsMisdirected"];
            500: components["responses"]["FlagsStoreFailure"];
            503: components["responses"]["FlagsUnavailable"];
        };
    };
    queryFlag: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Name of the feature.
                 * @example dark-mode
                 */
                key: components["schemas"]["Name"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["EvaluationRequest"];
            };
        };
        responses: {
            /** @description The value of the flag. */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["CacheControl"];
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EvaluationSuccess"];
                };
            };
            /** @description The request or its context is invalid. */
            400: {
                headers: {
                    "Cache-Control": components["headers"]["CacheControl"];
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EvaluationFailure"];
                };
            };
            401: components["responses"]["FlagsUnauthorized"];
            403: components["responses"]["FlagsForbiddenChange"];
            413: components["responses"]["FlagsBodyTooLarge"];
            415: components["responses"]["FlagsUnsupportedMediaType"];
            421: components["responses"]["FlagsMisdirected"];
            500: components["responses"]["FlagsStoreFailure"];
            503: components["responses"]["FlagsUnavailable"];
        };
    };
    queryFlags: {
        parameters: {
            query?: never;
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
        requestBody: {
            content: {
                "application/json": components["schemas"]["EvaluationRequest"];
            };
        };
        responses: {
            /** @description The flags that are true, oldest first, then those that are false. */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["NoStore"];
                    ETag: components["headers"]["ETag"];
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BulkEvaluationSuccess"];
                };
            };
            304: components["responses"]["NotModified"];
            /** @description The request or its context is invalid. */
            400: {
                headers: {
                    "Cache-Control": components["headers"]["CacheControl"];
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BulkEvaluationFailure"];
                };
            };
            401: components["responses"]["FlagsUnauthorized"];
            403: components["responses"]["FlagsForbiddenChange"];
            413: components["responses"]["FlagsBodyTooLarge"];
            415: components["responses"]["FlagsUnsupportedMediaType"];
            421: components["responses"]["FlagsMisdirected"];
            500: components["responses"]["FlagsStoreFailure"];
            503: components["responses"]["FlagsUnavailable"];
        };
    };
    followFlags: {
        parameters: {
            query: {
                /**
                 * @description Identifier of the resource among those of its kind.
                 * @example 42
                 */
                id: components["schemas"]["Name"];
                /**
                 * @description Kind of the resource.
                 * @example customer
                 */
                resource: components["schemas"]["Name"];
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
                    "Cache-Control": components["headers"]["NoStore"];
                    /**
                     * @description nginx passes on each event immediately.
                     * @example no
                     */
                    "X-Accel-Buffering": "no";
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "text/event-stream": string;
                };
            };
            400: components["responses"]["FlagsBadRequest"];
            401: components["responses"]["FlagsUnauthorized"];
            403: components["responses"]["FlagsForbidden"];
            421: components["responses"]["FlagsMisdirected"];
            500: components["responses"]["FlagsStoreFailure"];
            503: components["responses"]["FlagsUnavailable"];
        };
    };
    hasFeatures: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Query"];
            };
        };
        responses: {
            /** @description One result for each resource, in the order of the request. */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["CacheControl"];
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["QueryResults"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["ForbiddenChange"];
            413: components["responses"]["BodyTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            421: components["responses"]["Misdirected"];
            500: components["responses"]["StoreFailure"];
            503: components["responses"]["Unavailable"];
        };
    };
    queryFeatures: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Query"];
            };
        };
        responses: {
            /** @description One result for each resource, in the order of the request. */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["CacheControl"];
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["QueryResults"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["ForbiddenChange"];
            413: components["responses"]["BodyTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            421: components["responses"]["Misdirected"];
            500: components["responses"]["StoreFailure"];
            503: components["responses"]["Unavailable"];
        };
    };
    listKinds: {
        parameters: {
            query: {
                /**
                 * @description The `next_cursor` of the previous page. Default is the first page.
                 * @example Y3VzdG9tZXI
                 */
                cursor?: components["schemas"]["Cursor"];
                /**
                 * @description Maximum number of items on a page, 1 to 1,000. Default 100.
                 * @example 20
                 */
                limit: components["parameters"]["Limit"];
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
            /** @description One page of kinds. */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["CacheControl"];
                    ETag: components["headers"]["ETag"];
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["KindPage"];
                };
            };
            304: components["responses"]["NotModified"];
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            421: components["responses"]["Misdirected"];
            500: components["responses"]["StoreFailure"];
            503: components["responses"]["Unavailable"];
        };
    };
    listFeaturesInUse: {
        parameters: {
            query: {
                /**
                 * @description The `next_cursor` of the previous page. Default is the first page.
                 * @example YmV0YSBzZWFyY2g
                 */
                cursor?: components["schemas"]["Cursor"];
                /**
                 * @description Maximum number of items on a page, 1 to 1,000. Default 100.
                 * @example 20
                 */
                limit: components["parameters"]["Limit"];
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
                 * @description Kind of the resource.
                 * @example customer
                 */
                resource: components["parameters"]["Resource"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description One page of features. */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["CacheControl"];
                    ETag: components["headers"]["ETag"];
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FeatureUsePage"];
                };
            };
            304: components["responses"]["NotModified"];
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            421: components["responses"]["Misdirected"];
            500: components["responses"]["StoreFailure"];
            503: components["responses"]["Unavailable"];
        };
    };
    getResource: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Identifier of the resource among those of its kind.
                 * @example 42
                 */
                id: components["parameters"]["Id"];
                /**
                 * @description Kind of the resource.
                 * @example customer
                 */
                resource: components["parameters"]["Resource"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The resource. */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["CacheControl"];
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ResourceFeatures"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            421: components["responses"]["Misdirected"];
            500: components["responses"]["StoreFailure"];
            503: components["responses"]["Unavailable"];
        };
    };
    listResourceChanges: {
        parameters: {
            query: {
                /**
                 * @description The `next_cursor` of the previous page, or the cursor of any record of the feed. Default is before the oldest
                 *     record. `newest` is unknown here and gets 410.
                 * @example 1f0c9a2b-17
                 */
                cursor?: components["schemas"]["Cursor"];
                /**
                 * @description Maximum number of items on a page, 1 to 1,000. Default 100.
                 * @example 20
                 */
                limit: components["parameters"]["Limit"];
            };
            header?: never;
            path: {
                /**
                 * @description Identifier of the resource among those of its kind.
                 * @example 42
                 */
                id: components["parameters"]["Id"];
                /**
                 * @description Kind of the resource.
                 * @example customer
                 */
                resource: components["parameters"]["Resource"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The records of the resource after the cursor. */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["CacheControl"];
                    "X-Request-Id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ResourceChangePage"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            410: components["responses"]["Gone"];
            421: components["responses"]["Misdirected"];
            500: components["responses"]["StoreFailure"];
            503: components["responses"]["Unavailable"];
        };
    };
}
