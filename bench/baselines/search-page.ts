import { createHash } from "node:crypto";
import pg from "pg";
import type { Plan } from "../../src/database/database.ts";
import { readTimestamp } from "../../src/database/timestamp.ts";
import {
  countTransactions,
  type FoundTransaction,
  searchTransactions,
} from "../../src/ledger/tables/search/search.ts";
import { respond, serve } from "./serve.ts";

/** Responds with the first page of 20 of an account. The SQL is that of the ledger; the JSON is written by hand. */
const size = 20;

const { INT8, TIMESTAMPTZ } = pg.types.builtins;
const parsers: Partial<Record<number, unknown>> = { [INT8]: String, [TIMESTAMPTZ]: readTimestamp };
const pool = new pg.Pool({
  connectionString: process.env.DATABASE_URL,
  options: "-c TimeZone=UTC",
  max: 10,
  idleTimeoutMillis: 0,
  types: { getTypeParser: ((type: number) => parsers[type] ?? pg.types.getTypeParser(type)) as never },
});
const nameOf = (text: string) => createHash("sha256").update(text).digest("base64url");
const sql = {
  async query<Row>(text: string, values?: unknown[], plan?: Plan) {
    const name = plan === "custom" ? undefined : nameOf(text);
    return (await pool.query({ text, values, name })).rows as Row[];
  },
  run: async (script: string) => void (await pool.query(script)),
};

const milliseconds = (instant: string) => `${instant.slice(0, 23)}Z`;

// Only the members and types that occur in the data of the benchmark.
function viewTransaction(row: FoundTransaction): unknown {
  const details = row.details as Record<string, string>;
  const shown = (row.payment_details ?? details) as Record<string, string>;
  const card = {
    last_digits_card_number: shown.last_digits_card_number,
    first_digits_card_number: shown.first_digits_card_number,
    expiry_date: shown.expiry_date,
    card_type: shown.card_type?.toLowerCase(),
    card_brand: shown.card_brand_label,
  };
  if (row.transaction_type === "REFUND") {
    return {
      transaction_id: row.external_id,
      parent_transaction_id: row.parent_external_id,
      gateway_account_id: row.gateway_account_id,
      service_id: row.service_id,
      amount: details.amount,
      state: { status: "success", finished: true },
      created_date: milliseconds(row.created_date),
      gateway_transaction_id: details.gateway_transaction_id,
      settlement_summary: { settled_date: row.paid_out_date?.slice(0, 10) },
      live: row.live,
      transaction_type: row.transaction_type,
      refunded_by: details.refunded_by,
      refunded_by_user_email: details.user_email,
      payment_details: {
        description: shown.description,
        reference: shown.reference,
        email: shown.email,
        card_details: { cardholder_name: shown.cardholder_name, ...card },
        transaction_type: "PAYMENT",
      },
    };
  }
  return {
    transaction_id: row.external_id,
    transaction_type: row.transaction_type,
    gateway_account_id: row.gateway_account_id,
    service_id: row.service_id,
    credential_external_id: details.credential_external_id,
    amount: details.amount,
    total_amount: details.total_amount,
    fee: details.fee,
    net_amount: details.net_amount,
    state: { status: "success", finished: true },
    description: details.description,
    reference: details.reference,
    language: details.language,
    return_url: details.return_url,
    email: details.email,
    payment_provider: details.payment_provider,
    created_date: milliseconds(row.created_date),
    card_details: {
      cardholder_name: details.cardholder_name,
      billing_address: {
        line1: details.address_line1,
        postcode: details.address_postcode,
        city: details.address_city,
        country: details.address_country,
      },
      ...card,
    },
    delayed_capture: details.delayed_capture,
    gateway_transaction_id: details.gateway_transaction_id,
    settlement_summary: {
      capture_submit_time: null,
      captured_date: details.captured_date?.slice(0, 10),
      settled_date: row.paid_out_date?.slice(0, 10),
    },
    metadata: details.external_metadata,
    moto: details.moto,
    live: row.live,
    source: details.source,
    authorisation_mode: details.authorisation_mode,
    disputed: false,
  };
}

serve(async ({ url = "", headers: { host } }, response) => {
  const [path, query] = url.split("?");
  const account = new URLSearchParams(query).get("account_id") ?? "";
  const filter = { account_id: [account] };
  const [{ rows: shown, isLast }, total] = await Promise.all([
    searchTransactions(sql, filter, { countMax: size, bytesMax: 4 * 2 ** 20 }),
    countTransactions(sql, filter),
  ]);
  const last = shown.at(-1);
  const pages = Math.max(1, Math.ceil(total / size));
  const link = (paging: string) => ({
    href: `http://${host}${path}?account_id=${encodeURIComponent(account)}&${paging}&display_size=${size}`,
  });
  const place = last && [last.created_date, last.external_id, last.arrived, 2, total];
  const cursor = place && Buffer.from(JSON.stringify(place)).toString("base64url");
  const body = `${JSON.stringify({
    total,
    count: shown.length,
    page: 1,
    results: shown.map(viewTransaction),
    _links: {
      self: link("page=1"),
      first_page: link("page=1"),
      last_page: link(`page=${pages}`),
      next_page: pages > 1 ? link("page=2") : undefined,
    },
  })}\n`;
  const next = isLast ? {} : { link: `<${link(`cursor=${cursor}`).href}>; rel="next"` };
  respond(response, body, { vary: "accept", ...next });
});
