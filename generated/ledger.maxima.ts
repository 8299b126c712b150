// Generated from openapi/ledger.yaml by npm run codegen. Do not edit.

/** The largest values of parameters that make a difference, by operation. */
export const effectiveMaxima = {
  "searchTransactions": {
    "display_size": 500
  },
  "getTransactionReport": {
    "display_size": 500
  },
  "listTransactionReportChanges": {
    "display_size": 100
  },
  "searchPayouts": {
    "display_size": 500
  },
  "searchAgreements": {
    "display_size": 20
  },
  "listDeadLetters": {
    "display_size": 100
  }
} as const;
