// Generated from openapi/ledger.yaml by npm run codegen. Do not edit.

export const problems = {
  "invalid-request": {
    "status": 400,
    "title": "The request does not conform to the contract"
  },
  "unauthorized": {
    "status": 401,
    "title": "The request has no valid token"
  },
  "forbidden": {
    "status": 403,
    "title": "The token does not permit the request"
  },
  "cross-origin": {
    "status": 403,
    "title": "The request is from a page of another origin"
  },
  "not-found": {
    "status": 404,
    "title": "Nothing matches the request"
  },
  "method-not-allowed": {
    "status": 405,
    "title": "The path does not have this method"
  },
  "request-timeout": {
    "status": 408,
    "title": "The request took too long to arrive"
  },
  "cursor-gone": {
    "status": 410,
    "title": "The cursor no longer has a place in the feed"
  },
  "position-unknown": {
    "status": 410,
    "title": "The ledger has no such position"
  },
  "body-too-large": {
    "status": 413,
    "title": "The body is larger than 1 MiB"
  },
  "unsupported-media-type": {
    "status": 415,
    "title": "The body is not JSON in UTF-8"
  },
  "misdirected": {
    "status": 421,
    "title": "The service does not have this host"
  },
  "headers-too-large": {
    "status": 431,
    "title": "The headers are too large"
  },
  "unexpected": {
    "status": 500,
    "title": "An unexpected error occurred"
  },
  "unavailable": {
    "status": 503,
    "title": "The service is unavailable"
  },
  "overloaded": {
    "status": 503,
    "title": "Too many requests are in flight"
  },
  "too-slow": {
    "status": 504,
    "title": "The database exceeded the time limit"
  }
} as const;
