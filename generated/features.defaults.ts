// Generated from openapi/features.yaml by npm run codegen. Do not edit.

/** Default values of parameters, by operation. */
export const defaults = {
  "listEntries": {
    "limit": 100
  },
  "listResources": {
    "count": false,
    "limit": 100
  },
  "listFeatures": {},
  "replaceFeatures": {},
  "removeFeatures": {},
  "hasFeature": {},
  "addFeature": {},
  "removeFeature": {},
  "listKinds": {
    "limit": 100
  },
  "listFeaturesInUse": {
    "limit": 100
  },
  "getResource": {},
  "listResourceChanges": {
    "limit": 100
  },
  "hasFeatures": {},
  "queryFeatures": {},
  "listChanges": {
    "limit": 100
  },
  "changeFeatures": {},
  "evaluateFlag": {},
  "queryFlag": {},
  "evaluateFlags": {},
  "queryFlags": {},
  "followFlags": {},
  "checkHealth": {},
  "getMetrics": {}
} as const;
