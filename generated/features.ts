// Made from openapi/features.yaml by npm run codegen. Do not edit.

export interface paths {
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
        put?: never;
        post?: never;
        delete?: never;
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
         * @description Adding again changes nothing: the feature keeps its place in the list. The request has no body; one that
         *     is sent along is ignored, whatever its content type.
         */
        post: operations["addFeature"];
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
         * @description One line of text that says what was wrong, ended by a line feed.
         * @example the store is full
         */
        ErrorLine: string;
        /**
         * @description Names of features, each once, in the order of adding.
         * @example [
         *       "dark-mode",
         *       "beta search"
         *     ]
         */
        FeatureList: components["schemas"]["Name"][];
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
         * @description The answer to a yes-or-no question.
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
        /** @description A name is empty, too long or malformed, or there is a query parameter that is not declared. */
        BadRequest: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "text/plain": components["schemas"]["ErrorLine"];
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
        /** @description The service is stopping, or something it depends on is away. Trying again later may help. */
        Unavailable: {
            headers: {
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
         * @description Kind of the resource, for example a class of objects.
         * @example customer
         */
        Resource: components["schemas"]["Name"];
    };
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    listFeatures: {
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
            /** @description The names of the resource's features, oldest first. */
            200: {
                headers: {
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
}
/** Parameters with a default: a handler always has them, a caller may leave them out. */
export interface defaulted {
    listFeatures: never;
    hasFeature: never;
    addFeature: never;
    getMetrics: never;
}
