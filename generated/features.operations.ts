// Generated from openapi/features.yaml by npm run codegen. Do not edit.

import type { ClientOperation } from "../src/client/operation.ts";

export const operations: ClientOperation[] = [
  {
    "operationId": "listEntries",
    "method": "GET",
    "path": "/features",
    "parameters": [
      {
        "name": "resource"
      },
      {
        "name": "limit"
      },
      {
        "name": "cursor"
      }
    ],
    "successes": {
      "200": {
        "type": "json",
        "bigints": []
      }
    }
  },
  {
    "operationId": "listResources",
    "method": "GET",
    "path": "/features/{resource}",
    "parameters": [
      {
        "name": "resource",
        "in": "path"
      },
      {
        "name": "feature"
      },
      {
        "name": "count"
      },
      {
        "name": "as_of"
      },
      {
        "name": "limit"
      },
      {
        "name": "cursor"
      },
      {
        "name": "If-None-Match",
        "in": "header"
      }
    ],
    "successes": {
      "200": {
        "type": "json",
        "bigints": []
      }
    }
  },
  {
    "operationId": "listFeatures",
    "method": "GET",
    "path": "/features/{resource}/{id}",
    "parameters": [
      {
        "name": "resource",
        "in": "path"
      },
      {
        "name": "id",
        "in": "path"
      },
      {
        "name": "as_of"
      },
      {
        "name": "If-None-Match",
        "in": "header"
      }
    ],
    "successes": {
      "200": {
        "type": "json",
        "bigints": []
      }
    }
  },
  {
    "operationId": "replaceFeatures",
    "method": "PUT",
    "path": "/features/{resource}/{id}",
    "parameters": [
      {
        "name": "resource",
        "in": "path"
      },
      {
        "name": "id",
        "in": "path"
      },
      {
        "name": "If-Match",
        "in": "header"
      },
      {
        "name": "Access-Reason",
        "in": "header"
      }
    ],
    "hasBody": true,
    "successes": {
      "200": {
        "type": "json",
        "bigints": []
      }
    }
  },
  {
    "operationId": "removeFeatures",
    "method": "DELETE",
    "path": "/features/{resource}/{id}",
    "parameters": [
      {
        "name": "resource",
        "in": "path"
      },
      {
        "name": "id",
        "in": "path"
      },
      {
        "name": "Access-Reason",
        "in": "header"
      }
    ],
    "successes": {
      "204": {
        "type": "none",
        "bigints": []
      }
    }
  },
  {
    "operationId": "hasFeature",
    "method": "GET",
    "path": "/features/{resource}/{id}/{feature}",
    "parameters": [
      {
        "name": "resource",
        "in": "path"
      },
      {
        "name": "id",
        "in": "path"
      },
      {
        "name": "feature",
        "in": "path"
      },
      {
        "name": "as_of"
      }
    ],
    "successes": {
      "200": {
        "type": "json",
        "bigints": []
      }
    }
  },
  {
    "operationId": "addFeature",
    "method": "POST",
    "path": "/features/{resource}/{id}/{feature}",
    "parameters": [
      {
        "name": "resource",
        "in": "path"
      },
      {
        "name": "id",
        "in": "path"
      },
      {
        "name": "feature",
        "in": "path"
      },
      {
        "name": "expires_at"
      },
      {
        "name": "Access-Reason",
        "in": "header"
      }
    ],
    "successes": {
      "200": {
        "type": "json",
        "bigints": []
      },
      "201": {
        "type": "json",
        "bigints": []
      }
    }
  },
  {
    "operationId": "removeFeature",
    "method": "DELETE",
    "path": "/features/{resource}/{id}/{feature}",
    "parameters": [
      {
        "name": "resource",
        "in": "path"
      },
      {
        "name": "id",
        "in": "path"
      },
      {
        "name": "feature",
        "in": "path"
      },
      {
        "name": "Access-Reason",
        "in": "header"
      }
    ],
    "successes": {
      "204": {
        "type": "none",
        "bigints": []
      }
    }
  },
  {
    "operationId": "listKinds",
    "method": "GET",
    "path": "/resources",
    "parameters": [
      {
        "name": "limit"
      },
      {
        "name": "cursor"
      },
      {
        "name": "If-None-Match",
        "in": "header"
      }
    ],
    "successes": {
      "200": {
        "type": "json",
        "bigints": []
      }
    }
  },
  {
    "operationId": "listFeaturesInUse",
    "method": "GET",
    "path": "/resources/{resource}",
    "parameters": [
      {
        "name": "resource",
        "in": "path"
      },
      {
        "name": "limit"
      },
      {
        "name": "cursor"
      },
      {
        "name": "If-None-Match",
        "in": "header"
      }
    ],
    "successes": {
      "200": {
        "type": "json",
        "bigints": []
      }
    }
  },
  {
    "operationId": "getResource",
    "method": "GET",
    "path": "/resources/{resource}/{id}",
    "parameters": [
      {
        "name": "resource",
        "in": "path"
      },
      {
        "name": "id",
        "in": "path"
      }
    ],
    "successes": {
      "200": {
        "type": "json",
        "bigints": []
      }
    }
  },
  {
    "operationId": "listResourceChanges",
    "method": "GET",
    "path": "/resources/{resource}/{id}/changes",
    "parameters": [
      {
        "name": "resource",
        "in": "path"
      },
      {
        "name": "id",
        "in": "path"
      },
      {
        "name": "cursor"
      },
      {
        "name": "limit"
      }
    ],
    "successes": {
      "200": {
        "type": "json",
        "bigints": []
      }
    }
  },
  {
    "operationId": "hasFeatures",
    "method": "POST",
    "path": "/query",
    "parameters": [],
    "hasBody": true,
    "successes": {
      "200": {
        "type": "json",
        "bigints": []
      }
    }
  },
  {
    "operationId": "queryFeatures",
    "method": "QUERY",
    "path": "/query",
    "parameters": [],
    "hasBody": true,
    "successes": {
      "200": {
        "type": "json",
        "bigints": []
      }
    }
  },
  {
    "operationId": "listChanges",
    "method": "GET",
    "path": "/changes",
    "parameters": [
      {
        "name": "cursor"
      },
      {
        "name": "limit"
      },
      {
        "name": "Last-Event-ID",
        "in": "header"
      },
      {
        "name": "last"
      }
    ],
    "successes": {
      "200": {
        "type": "json",
        "bigints": []
      }
    }
  },
  {
    "operationId": "changeFeatures",
    "method": "POST",
    "path": "/changes",
    "parameters": [
      {
        "name": "Access-Reason",
        "in": "header"
      }
    ],
    "hasBody": true,
    "successes": {
      "200": {
        "type": "json",
        "bigints": []
      }
    }
  },
  {
    "operationId": "evaluateFlag",
    "method": "POST",
    "path": "/ofrep/v1/evaluate/flags/{key}",
    "parameters": [
      {
        "name": "key",
        "in": "path"
      }
    ],
    "hasBody": true,
    "successes": {
      "200": {
        "type": "json",
        "bigints": []
      }
    }
  },
  {
    "operationId": "queryFlag",
    "method": "QUERY",
    "path": "/ofrep/v1/evaluate/flags/{key}",
    "parameters": [
      {
        "name": "key",
        "in": "path"
      }
    ],
    "hasBody": true,
    "successes": {
      "200": {
        "type": "json",
        "bigints": []
      }
    }
  },
  {
    "operationId": "evaluateFlags",
    "method": "POST",
    "path": "/ofrep/v1/evaluate/flags",
    "parameters": [
      {
        "name": "flagConfigEtag"
      },
      {
        "name": "flagConfigLastModified"
      },
      {
        "name": "If-None-Match",
        "in": "header"
      }
    ],
    "hasBody": true,
    "successes": {
      "200": {
        "type": "json",
        "bigints": []
      }
    }
  },
  {
    "operationId": "queryFlags",
    "method": "QUERY",
    "path": "/ofrep/v1/evaluate/flags",
    "parameters": [
      {
        "name": "If-None-Match",
        "in": "header"
      }
    ],
    "hasBody": true,
    "successes": {
      "200": {
        "type": "json",
        "bigints": []
      }
    }
  },
  {
    "operationId": "followFlags",
    "method": "GET",
    "path": "/ofrep/v1/events",
    "parameters": [
      {
        "name": "resource"
      },
      {
        "name": "id"
      }
    ],
    "successes": {
      "200": {
        "type": "text",
        "bigints": []
      }
    }
  },
  {
    "operationId": "checkHealth",
    "method": "GET",
    "path": "/healthcheck",
    "parameters": [],
    "successes": {
      "200": {
        "type": "json",
        "bigints": []
      }
    }
  },
  {
    "operationId": "getMetrics",
    "method": "GET",
    "path": "/metrics",
    "parameters": [],
    "successes": {
      "200": {
        "type": "text",
        "bigints": []
      }
    }
  }
];
