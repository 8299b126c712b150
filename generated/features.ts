// Made from openapi/features.yaml by npm run codegen. Do not edit.

export interface paths {
    "/changes": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List what has changed
         * @description Additions, removals and expiries, those of a resource in the order in which they happened, those of different
         *     resources nearly so. An addition that only gives a feature another expiry is told, too.
         *
         *     `Accept` chooses the form. A page of JSON, or of NDJSON, ends with the newest change there is now, or at the
         *     limit. A stream of server-sent events (`text/event-stream`) goes on: each change is an event with its cursor as
         *     `id`, and whoever comes back with it in `Last-Event-ID`, as browsers do, has missed nothing. A comment is sent
         *     every 15 seconds, so that a connection that is dead is noticed.
         *
         *     The service keeps the newest changes, 100,000 of them at the least unless it is set otherwise. A cursor from
         *     before the oldest one that is kept is answered with 410; a stream that falls so far behind is ended, and so
         *     answered when it comes back.
         *
         *     To keep a copy: ask with `cursor=newest` for a cursor, then read what is to be copied, then follow the changes
         *     behind that cursor.
         */
        get: operations["listChanges"];
        put?: never;
        /**
         * Make many changes
         * @description Up to 1,000 additions and removals, those of a resource in their order and in one step. When the store fails on
         *     the way, those of some resources may have been made; to ask the same again does no harm.
         */
        post: operations["changeFeatures"];
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
         * @description Their identifiers, each once, page by page, in an order that does not change. Following `next_cursor` to the end
         *     tells every resource that has the feature from the first page to the last; one that gets or loses it meanwhile
         *     may be told or not.
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
         * @description Every feature that was added to the resource, each once, in the order in which they were first added.
         *     A resource without features, known or not, has an empty list.
         */
        get: operations["listFeatures"];
        /**
         * Replace the features of a resource
         * @description The resource has the features of the body then and no others, in one step, provided that its list is still the
         *     one whose `ETag` is in `If-Match`; `*` stands for any. Those it had keep their place, the others come behind
         *     them in the order of the body. None of them expires any more.
         */
        put: operations["replaceFeatures"];
        post?: never;
        /**
         * Remove all features of a resource
         * @description In one step. A body that is sent along is ignored.
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
         * Tell whether a resource has a feature
         * @description True from the moment an add was answered.
         */
        get: operations["hasFeature"];
        put?: never;
        /**
         * Add a feature to a resource
         * @description Adding again changes nothing but the expiry: the feature keeps its place in the list, and lasts as the last
         *     adding says. The request has no body; one that is sent along is ignored, whatever its content type.
         */
        post: operations["addFeature"];
        /**
         * Remove a feature from a resource
         * @description It does not matter whether the resource had it. Added again it comes to the end of the list. A body that is sent
         *     along is ignored.
         */
        delete: operations["removeFeature"];
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
         * @description Requests by operation and status, with how long they took.
         *     One family of numbers after another, in the text format of Prometheus (version 0.0.4).
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
         * @description Those the resource has, which are true. One that is not among them is false.
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
         * @description The flag is true for a resource that has the feature, with the reason `TARGETING_MATCH`, and false for any
         *     other, with the reason `STATIC`. A feature nobody has is a flag that is false everywhere.
         */
        post: operations["evaluateFlag"];
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
         * Tell which of some resources have which of some features
         * @description Up to 100 resources by 100 features.
         */
        post: operations["hasFeatures"];
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
         * @description The feature is attached to the resource now.
         * @example {
         *       "result": true
         *     }
         */
        Added: {
            /**
             * @description Always true.
             * @constant
             */
            result: true;
        };
        /**
         * @description Why flags could not be evaluated.
         * @example {
         *       "errorCode": "PARSE_ERROR",
         *       "errorDetails": "the body is not valid JSON"
         *     }
         */
        BulkEvaluationFailure: {
            errorCode: components["schemas"]["EvaluationErrorCode"];
            /** @description What was wrong, for people. */
            errorDetails: string;
        };
        /**
         * @description Flags with their values.
         * @example {
         *       "flags": []
         *     }
         */
        BulkEvaluationSuccess: {
            /** @description Those that are true. */
            flags: components["schemas"]["EvaluationSuccess"][];
        };
        /**
         * @description Something that has changed.
         * @example {
         *       "cursor": "1f0c9a2b-18",
         *       "type": "removed",
         *       "at": "2026-03-05T09:14:22.018Z",
         *       "resource": "customer",
         *       "id": "42",
         *       "feature": "dark-mode"
         *     }
         */
        Change: {
            /**
             * Format: date-time
             * @description When it happened, in UTC.
             */
            at: string;
            /** @description The cursor behind this change. */
            cursor: string;
            /**
             * Format: date-time
             * @description When a feature that was added is gone by itself, if it is.
             */
            expires_at?: string;
            /** @description Name of the feature. */
            feature: components["schemas"]["Name"];
            /** @description Identifier of the resource. */
            id: components["schemas"]["Name"];
            /** @description Kind of the resource. */
            resource: components["schemas"]["Name"];
            /**
             * @description Whether the feature was added, was removed, or is gone since its time had come.
             * @enum {string}
             */
            type: "added" | "removed" | "expired";
        };
        /**
         * @description What has changed.
         * @example {
         *       "changes": [],
         *       "next_cursor": "1f0c9a2b-18"
         *     }
         */
        ChangePage: {
            /** @description As many as the limit, or fewer when there are no more now. */
            changes: components["schemas"]["Change"][];
            /** @description The cursor behind these; also when there are none. */
            next_cursor: string;
        };
        /**
         * @description A text to hand back as it is.
         * @example 1f0c9a2b-18
         */
        Cursor: string;
        /**
         * @description A feature of a resource, as a store is exported and imported, one of these a line.
         * @example {
         *       "resource": "customer",
         *       "id": "42",
         *       "feature": "dark-mode"
         *     }
         */
        Entry: {
            /**
             * Format: date-time
             * @description When the feature is gone by itself, if it is.
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
         * @description One line of text that says what was wrong, ended by a line feed.
         * @example the store is full
         */
        ErrorLine: string;
        /**
         * @description The resource, by its own members `resource` and `id` when both are there, otherwise by `targetingKey`. All else
         *     that is in it is passed over.
         * @example {
         *       "targetingKey": "customer/42"
         *     }
         */
        EvaluationContext: {
            /** @description Identifier of the resource, a name. */
            id?: unknown;
            /** @description Kind of the resource, a name. */
            resource?: unknown;
            /** @description `resource/id`, each percent-encoded, so that a slash in a name is `%2F`. */
            targetingKey?: unknown;
        } & {
            [key: string]: unknown;
        };
        /**
         * @description `TARGETING_KEY_MISSING` when the context names no resource, `INVALID_CONTEXT` when what it names is none,
         *     `PARSE_ERROR` when the request is not one of this protocol.
         * @example INVALID_CONTEXT
         * @enum {string}
         */
        EvaluationErrorCode: "TARGETING_KEY_MISSING" | "INVALID_CONTEXT" | "PARSE_ERROR";
        /**
         * @description Why a flag could not be evaluated.
         * @example {
         *       "key": "dark-mode",
         *       "errorCode": "PARSE_ERROR",
         *       "errorDetails": "the body is not valid JSON"
         *     }
         */
        EvaluationFailure: {
            errorCode: components["schemas"]["EvaluationErrorCode"];
            /** @description What was wrong, for people. */
            errorDetails: string;
            /** @description The flag's key, as it was asked for. */
            key: string;
        };
        /**
         * @description What is to be evaluated.
         * @example {
         *       "context": {
         *         "targetingKey": "customer/42"
         *       }
         *     }
         */
        EvaluationRequest: {
            /** @description For whom. */
            context?: components["schemas"]["EvaluationContext"];
        };
        /**
         * @description A flag with its value. The protocol's own schema for it takes exactly one of several kinds of value, of which
         *     each value fits two, so that it refuses every answer; this one says what is meant, for the kind there is here.
         * @example {
         *       "key": "dark-mode",
         *       "value": true,
         *       "reason": "TARGETING_MATCH"
         *     }
         */
        EvaluationSuccess: {
            /** @description The flag's key, which is the feature. */
            key: components["schemas"]["Name"];
            /**
             * @description `TARGETING_MATCH` when the resource has it, `STATIC` when it has not.
             * @enum {string}
             */
            reason: "TARGETING_MATCH" | "STATIC";
            /** @description Whether the resource has the feature. */
            value: boolean;
        };
        /**
         * Format: date-time
         * @description An instant with a zone (RFC 3339), which is not past.
         * @example 2037-03-05T09:14:22.018Z
         */
        Expiry: string;
        /**
         * @description Names of features, each once, in the order of adding.
         * @example [
         *       "dark-mode",
         *       "beta search"
         *     ]
         */
        FeatureList: components["schemas"]["Name"][];
        /**
         * @description Why a request was not answered.
         * @example {
         *       "errorDetails": "connection to the store was lost"
         *     }
         */
        GeneralFailure: {
            /** @description What was wrong, for people. */
            errorDetails: string;
        };
        /**
         * @description Numbers in the text format of Prometheus.
         * @example # HELP http_request_duration_seconds How long requests took.
         */
        Metrics: string;
        /**
         * @description Unicode text of 1 to 256 characters, none of them a control character.
         * @example dark-mode
         */
        Name: string;
        /**
         * @description Which resources, and which features.
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
            /** @description The features that are asked for. */
            features: components["schemas"]["Name"][];
            /** @description The resources that are asked for. */
            resources: components["schemas"]["ResourceName"][];
        };
        /**
         * @description What a query says of one resource.
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
            /** @description For each feature of the query whether the resource has it. */
            has: boolean[];
            /** @description Identifier of the resource. */
            id: components["schemas"]["Name"];
            /** @description Kind of the resource. */
            resource: components["schemas"]["Name"];
        };
        /**
         * @description The answers to a query.
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
            /** @description One for each resource. */
            results: components["schemas"]["QueryResult"][];
        };
        /**
         * @description A resource by its kind and its identifier.
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
         * @description Identifiers of resources.
         * @example {
         *       "ids": [
         *         "41",
         *         "42"
         *       ],
         *       "next_cursor": "NDI"
         *     }
         */
        ResourcePage: {
            /** @description As many as the limit, or fewer when these are the last. */
            ids: components["schemas"]["Name"][];
            /** @description Where the next page begins, when there may be one. */
            next_cursor?: string;
        };
        /**
         * @description The answer to a yes-or-no question.
         * @example {
         *       "result": true
         *     }
         */
        Result: {
            /** @description Whether the resource has the feature. */
            result: boolean;
        };
        /**
         * @description A change to make.
         * @example {
         *       "type": "add",
         *       "resource": "customer",
         *       "id": "42",
         *       "feature": "dark-mode",
         *       "expires_at": "2037-03-05T09:14:22.018Z"
         *     }
         */
        Wish: {
            /** @description When the feature is gone again by itself, to the millisecond; only of one that is added. */
            expires_at?: components["schemas"]["Expiry"];
            /** @description Name of the feature. */
            feature: components["schemas"]["Name"];
            /** @description Identifier of the resource. */
            id: components["schemas"]["Name"];
            /** @description Kind of the resource. */
            resource: components["schemas"]["Name"];
            /**
             * @description Whether the feature is added or removed.
             * @enum {string}
             */
            type: "add" | "remove";
        };
        /**
         * @description What is to be changed.
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
        Wishes: {
            /** @description The changes, in their order. */
            changes: components["schemas"]["Wish"][];
        };
        /**
         * @description What became of a change.
         * @example {
         *       "changed": true
         *     }
         */
        WishResult: {
            /** @description Whether it made a difference: a feature was added that was not there, or one was removed that was. */
            changed: boolean;
        };
        /**
         * @description What became of the changes.
         * @example {
         *       "results": [
         *         {
         *           "changed": true
         *         }
         *       ]
         *     }
         */
        WishResults: {
            /** @description One for each change. */
            results: components["schemas"]["WishResult"][];
        };
    };
    responses: {
        /** @description A name is empty, too long or malformed, or there is a query parameter that is not declared. */
        BadRequest: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "text/plain": components["schemas"]["ErrorLine"];
            };
        };
        /** @description The body is larger than 1 MiB. */
        BodyTooLarge: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "text/plain": components["schemas"]["ErrorLine"];
            };
        };
        /** @description The body is larger than 1 MiB. */
        FlagsBodyTooLarge: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["GeneralFailure"];
            };
        };
        /** @description The token's scope is not enough. */
        FlagsForbidden: {
            headers: {
                /**
                 * @description What is asked for (RFC 6750).
                 * @example Bearer error="insufficient_scope", scope="features:read"
                 */
                "WWW-Authenticate": string;
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["GeneralFailure"];
            };
        };
        /** @description The path is known, but not with this method. */
        FlagsMethodNotAllowed: {
            headers: {
                /**
                 * @description The methods this path has.
                 * @example POST
                 */
                Allow: string;
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["GeneralFailure"];
            };
        };
        /** @description The underlying store failed. */
        FlagsStoreFailure: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["GeneralFailure"];
            };
        };
        /** @description There is no token, or it is not one that this service takes. */
        FlagsUnauthorized: {
            headers: {
                /**
                 * @description What is asked for (RFC 6750).
                 * @example Bearer scope="features:read"
                 */
                "WWW-Authenticate": string;
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["GeneralFailure"];
            };
        };
        /** @description The service is stopping, has too much to do, or something it depends on is away. */
        FlagsUnavailable: {
            headers: {
                "Retry-After": components["headers"]["RetryAfter"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["GeneralFailure"];
            };
        };
        /** @description The body is not JSON in UTF-8, or has a content encoding. */
        FlagsUnsupportedMediaType: {
            headers: {
                "Accept-Encoding": components["headers"]["AcceptEncoding"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["GeneralFailure"];
            };
        };
        /** @description The token's scope is not enough. */
        Forbidden: {
            headers: {
                /**
                 * @description What is asked for (RFC 6750).
                 * @example Bearer error="insufficient_scope", scope="features:write"
                 */
                "WWW-Authenticate": string;
                [name: string]: unknown;
            };
            content: {
                "text/plain": components["schemas"]["ErrorLine"];
            };
        };
        /** @description The cursor is none of this service, or changes behind it are not kept any more. */
        Gone: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "text/plain": components["schemas"]["ErrorLine"];
            };
        };
        /** @description The request line and the headers are larger than 16 KiB together. */
        HeadersTooLarge: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "text/plain": components["schemas"]["ErrorLine"];
            };
        };
        /** @description The path is known, but not with this method. */
        MethodNotAllowed: {
            headers: {
                /**
                 * @description The methods this path has.
                 * @example GET, HEAD, POST
                 */
                Allow: string;
                [name: string]: unknown;
            };
            content: {
                "text/plain": components["schemas"]["ErrorLine"];
            };
        };
        /** @description The answer is the one whose `ETag` was sent. */
        NotModified: {
            headers: {
                ETag: components["headers"]["ETag"];
                [name: string]: unknown;
            };
            content?: never;
        };
        /** @description The list is another than the one named in `If-Match`. */
        PreconditionFailed: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "text/plain": components["schemas"]["ErrorLine"];
            };
        };
        /** @description The header `If-Match` is missing. */
        PreconditionRequired: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "text/plain": components["schemas"]["ErrorLine"];
            };
        };
        /** @description The underlying store failed. The body is the store's message. */
        StoreFailure: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "text/plain": components["schemas"]["ErrorLine"];
            };
        };
        /** @description There is no token, or it is not one that this service takes; the message says why. */
        Unauthorized: {
            headers: {
                /**
                 * @description What is asked for (RFC 6750).
                 * @example Bearer scope="features:read"
                 */
                "WWW-Authenticate": string;
                [name: string]: unknown;
            };
            content: {
                "text/plain": components["schemas"]["ErrorLine"];
            };
        };
        /** @description The service is stopping, has too much to do, or something it depends on is away. */
        Unavailable: {
            headers: {
                "Retry-After": components["headers"]["RetryAfter"];
                [name: string]: unknown;
            };
            content: {
                "text/plain": components["schemas"]["ErrorLine"];
            };
        };
        /** @description The body is not JSON in UTF-8, or has a content encoding. */
        UnsupportedMediaType: {
            headers: {
                "Accept-Encoding": components["headers"]["AcceptEncoding"];
                [name: string]: unknown;
            };
            content: {
                "text/plain": components["schemas"]["ErrorLine"];
            };
        };
    };
    parameters: {
        /**
         * @description Name of a feature.
         * @example dark-mode
         */
        Feature: components["schemas"]["Name"];
        /**
         * @description Identifier of one resource of that kind.
         * @example 42
         */
        Id: components["schemas"]["Name"];
        /**
         * @description The `ETag` of an answer that is at hand; when it would be the same again, the answer is 304.
         * @example "Qn3ZbUyQuuzpkzy9YBqOO6SzCqYaHxZ0sJgBTjQvXLY"
         */
        IfNoneMatch: string;
        /**
         * @description How many a page holds at the most.
         * @example 20
         */
        Limit: number;
        /**
         * @description Kind of the resource, for example a class of objects.
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
         * @description The content encoding a body may have, when it had another.
         * @example identity
         */
        AcceptEncoding: string;
        /**
         * @description Tells this answer from any other of the same request (RFC 9110).
         * @example "Qn3ZbUyQuuzpkzy9YBqOO6SzCqYaHxZ0sJgBTjQvXLY"
         */
        ETag: string;
        /**
         * @description Seconds after which trying again may help (RFC 9110).
         * @example 1
         */
        RetryAfter: number;
    };
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    listChanges: {
        parameters: {
            query: {
                /**
                 * @description Behind which change to begin: the cursor of the last one that was seen, or `newest`. Not given, with the
                 *     oldest that is kept.
                 * @example 1f0c9a2b-17
                 */
                cursor?: components["schemas"]["Cursor"];
                /**
                 * @description How many a page holds at the most.
                 * @example 20
                 */
                limit: components["parameters"]["Limit"];
            };
            header?: {
                /**
                 * @description The same as `cursor`, and stronger, for a stream.
                 * @example 1f0c9a2b-17
                 */
                "Last-Event-ID"?: components["schemas"]["Cursor"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description What changed behind the cursor. */
            200: {
                headers: {
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
            405: components["responses"]["MethodNotAllowed"];
            410: components["responses"]["Gone"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["StoreFailure"];
            503: components["responses"]["Unavailable"];
        };
    };
    changeFeatures: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Wishes"];
            };
        };
        responses: {
            /** @description What each did, in their order. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WishResults"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            405: components["responses"]["MethodNotAllowed"];
            413: components["responses"]["BodyTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["StoreFailure"];
            503: components["responses"]["Unavailable"];
        };
    };
    listResources: {
        parameters: {
            query: {
                /**
                 * @description Where the page begins, `next_cursor` of the page before it. Not given, with the first resource.
                 * @example NDI
                 */
                cursor?: components["schemas"]["Cursor"];
                /**
                 * @description The feature they have.
                 * @example dark-mode
                 */
                feature: components["schemas"]["Name"];
                /**
                 * @description How many a page holds at the most.
                 * @example 20
                 */
                limit: components["parameters"]["Limit"];
            };
            header?: {
                /**
                 * @description The `ETag` of an answer that is at hand; when it would be the same again, the answer is 304.
                 * @example "Qn3ZbUyQuuzpkzy9YBqOO6SzCqYaHxZ0sJgBTjQvXLY"
                 */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
            };
            path: {
                /**
                 * @description Kind of the resource, for example a class of objects.
                 * @example customer
                 */
                resource: components["parameters"]["Resource"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of them. */
            200: {
                headers: {
                    ETag: components["headers"]["ETag"];
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
            405: components["responses"]["MethodNotAllowed"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["StoreFailure"];
            503: components["responses"]["Unavailable"];
        };
    };
    listFeatures: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description The `ETag` of an answer that is at hand; when it would be the same again, the answer is 304.
                 * @example "Qn3ZbUyQuuzpkzy9YBqOO6SzCqYaHxZ0sJgBTjQvXLY"
                 */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
            };
            path: {
                /**
                 * @description Identifier of one resource of that kind.
                 * @example 42
                 */
                id: components["parameters"]["Id"];
                /**
                 * @description Kind of the resource, for example a class of objects.
                 * @example customer
                 */
                resource: components["parameters"]["Resource"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The names of the resource's features, oldest first. */
            200: {
                headers: {
                    ETag: components["headers"]["ETag"];
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
            405: components["responses"]["MethodNotAllowed"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["StoreFailure"];
            503: components["responses"]["Unavailable"];
        };
    };
    replaceFeatures: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description The `ETag` of the list that is to be replaced, or `*`. Without it the answer is 428.
                 * @example "Qn3ZbUyQuuzpkzy9YBqOO6SzCqYaHxZ0sJgBTjQvXLY"
                 */
                "If-Match"?: string;
            };
            path: {
                /**
                 * @description Identifier of one resource of that kind.
                 * @example 42
                 */
                id: components["parameters"]["Id"];
                /**
                 * @description Kind of the resource, for example a class of objects.
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
            /** @description The list as it is now. */
            200: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FeatureList"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            405: components["responses"]["MethodNotAllowed"];
            412: components["responses"]["PreconditionFailed"];
            413: components["responses"]["BodyTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            428: components["responses"]["PreconditionRequired"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["StoreFailure"];
            503: components["responses"]["Unavailable"];
        };
    };
    removeFeatures: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Identifier of one resource of that kind.
                 * @example 42
                 */
                id: components["parameters"]["Id"];
                /**
                 * @description Kind of the resource, for example a class of objects.
                 * @example customer
                 */
                resource: components["parameters"]["Resource"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The resource has no features now. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            405: components["responses"]["MethodNotAllowed"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["StoreFailure"];
            503: components["responses"]["Unavailable"];
        };
    };
    hasFeature: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Name of a feature.
                 * @example dark-mode
                 */
                feature: components["parameters"]["Feature"];
                /**
                 * @description Identifier of one resource of that kind.
                 * @example 42
                 */
                id: components["parameters"]["Id"];
                /**
                 * @description Kind of the resource, for example a class of objects.
                 * @example customer
                 */
                resource: components["parameters"]["Resource"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Whether the feature was added to the resource. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Result"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            405: components["responses"]["MethodNotAllowed"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["StoreFailure"];
            503: components["responses"]["Unavailable"];
        };
    };
    addFeature: {
        parameters: {
            query?: {
                /**
                 * @description When the feature is gone again by itself, to the millisecond. Not given, it lasts.
                 * @example 2037-03-05T09:14:22.018Z
                 */
                expires_at?: components["schemas"]["Expiry"];
            };
            header?: never;
            path: {
                /**
                 * @description Name of a feature.
                 * @example dark-mode
                 */
                feature: components["parameters"]["Feature"];
                /**
                 * @description Identifier of one resource of that kind.
                 * @example 42
                 */
                id: components["parameters"]["Id"];
                /**
                 * @description Kind of the resource, for example a class of objects.
                 * @example customer
                 */
                resource: components["parameters"]["Resource"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The resource had the feature already. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Added"];
                };
            };
            /** @description The feature was added. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Added"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            405: components["responses"]["MethodNotAllowed"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["StoreFailure"];
            503: components["responses"]["Unavailable"];
        };
    };
    removeFeature: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Name of a feature.
                 * @example dark-mode
                 */
                feature: components["parameters"]["Feature"];
                /**
                 * @description Identifier of one resource of that kind.
                 * @example 42
                 */
                id: components["parameters"]["Id"];
                /**
                 * @description Kind of the resource, for example a class of objects.
                 * @example customer
                 */
                resource: components["parameters"]["Resource"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The resource does not have the feature now. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            405: components["responses"]["MethodNotAllowed"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["StoreFailure"];
            503: components["responses"]["Unavailable"];
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
            500: components["responses"]["StoreFailure"];
            503: components["responses"]["Unavailable"];
        };
    };
    evaluateFlags: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description The `ETag` of an answer that is at hand; when it would be the same again, the answer is 304.
                 * @example "Qn3ZbUyQuuzpkzy9YBqOO6SzCqYaHxZ0sJgBTjQvXLY"
                 */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: components["requestBodies"]["Evaluation"];
        responses: {
            /** @description The flags that are true, in the order of adding. */
            200: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BulkEvaluationSuccess"];
                };
            };
            304: components["responses"]["NotModified"];
            /** @description The request or its context cannot be used. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BulkEvaluationFailure"];
                };
            };
            401: components["responses"]["FlagsUnauthorized"];
            403: components["responses"]["FlagsForbidden"];
            405: components["responses"]["FlagsMethodNotAllowed"];
            413: components["responses"]["FlagsBodyTooLarge"];
            415: components["responses"]["FlagsUnsupportedMediaType"];
            431: components["responses"]["HeadersTooLarge"];
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
            /** @description The value. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EvaluationSuccess"];
                };
            };
            /** @description The request or its context cannot be used. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EvaluationFailure"];
                };
            };
            401: components["responses"]["FlagsUnauthorized"];
            403: components["responses"]["FlagsForbidden"];
            405: components["responses"]["FlagsMethodNotAllowed"];
            413: components["responses"]["FlagsBodyTooLarge"];
            415: components["responses"]["FlagsUnsupportedMediaType"];
            431: components["responses"]["HeadersTooLarge"];
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
            /** @description An answer for each resource, in the order of the question. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["QueryResults"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            405: components["responses"]["MethodNotAllowed"];
            413: components["responses"]["BodyTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["StoreFailure"];
            503: components["responses"]["Unavailable"];
        };
    };
}
/** Parameters with a default: a handler always has them, a caller may leave them out. */
export interface defaulted {
    listResources: "limit";
    listFeatures: never;
    replaceFeatures: never;
    removeFeatures: never;
    hasFeature: never;
    addFeature: never;
    removeFeature: never;
    hasFeatures: never;
    listChanges: "limit";
    changeFeatures: never;
    evaluateFlag: never;
    evaluateFlags: never;
    getMetrics: never;
}
