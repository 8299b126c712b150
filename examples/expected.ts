/**
 * What each program shows of the responses, by step. Objects can have more members. `null` is a value that the contract
 * declares as nullable, `undefined` an optional member that is absent.
 */
export const expected = {
  /** An identifier that 32 bits or a number with their precision would not hold. */
  missing: { status: 404, detail: "Event with id [9007199254740991] not found" },
  found: {
    results: [
      { transaction_type: "DISPUTE", reason: "unrecognised" },
      { transaction_type: "PAYMENT", transaction_id: "demo-disputed" },
      {
        transaction_type: "REFUND",
        transaction_id: "demo-refund",
        payment_details: { reference: "fishing-88" },
      },
      {
        transaction_type: "PAYMENT",
        amount: 4250,
        state: { status: "success" },
        created_date: "2024-03-05T09:14:22.018Z",
        settlement_summary: { capture_submit_time: null, captured_date: "2024-03-05" },
        refund_summary: { user_external_id: null },
        total_amount: undefined,
      },
      { transaction_type: "REFUND", transaction_id: "plain-refund" },
    ],
  },
  /** The types of what was found, where types have names. */
  kinds: ["Dispute", "Payment", "Refund", "Payment", "Refund"],
  accounts: [
    // 32 bits would round it.
    { gateway_account_id: 57, average_amount: 16_777_217 },
    { gateway_account_id: "demo", average_amount: 2725 },
    { gateway_account_id: null, average_amount: 0 },
  ],
  agreement: { status: "ACTIVE", payment_instrument: { card_details: { card_brand: "visa" } } },
  agreements: {
    results: [
      { external_id: "plain-agreement", payment_instrument: null, reference: null },
      { external_id: "demo-agreement" },
    ],
  },
  added: [202, { events: [{ is_new: true }] }],
  stored: { transaction_type: "PAYMENT", amount: 4250 },
  again: { events: [{ is_new: false }] },

  feature: [201, { result: true }],
  late: [400, "query parameter expires_at must be in the future\n"],
  changed: { results: [{ changed: true }, { changed: true }, { changed: false }] },
  listed: ["zebra ü", "mango", "apple"],
  replaced: ["mango", "yak", "bee"],
  flag: { value: true, reason: "TARGETING_MATCH" },
  removed: 204,
  /** The first and the last record of a resource. */
  records: [
    { type: "added", expires_at: "2037-03-05T09:14:22.018Z" },
    { type: "removed", expires_at: undefined },
  ],
} as const;
