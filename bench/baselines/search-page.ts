import { createHash } from "node:crypto";
import pg from "pg";
import type { Plan } from "../../src/database/database.ts";
import { searchTransactions } from "../../src/ledger/tables/search/search.ts";
import { readTimestamp } from "../../src/values/timestamp.ts";
import { respond, serve } from "./serve.ts";

/** Responds with the first page of an account. The SQL is that of the ledger; the JSON is written by hand. */

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

/** `2024-03-05 09:14:22.018+00`, as PostgreSQL writes it, to the millisecond. */
function milliseconds(timestamp: string): string {
  const [seconds = "", fraction = ""] = timestamp.slice(0, -"+00".length).split(".");
  return `${seconds.replace(" ", "T")}.${fraction.slice(0, 3).padEnd(3, "0")}Z`;
}

// Only the members and types that occur in the data of the benchmark.
function viewTransaction(row: string): unknown {
  const [, , type, , created = "", paidOut = "", id, parent, account, service, live, ownDetails, payment] =
    row.split("\n");
  const parse = (line: string | undefined) => JSON.parse(line as string);
  const details = parse(ownDetails);
  const shown = parse(payment) ?? details;
  const settled_date = paidOut === "null" ? undefined : paidOut.slice(0, 10);
  const card = {
    last_digits_card_number: shown.last_digits_card_number,
    first_digits_card_number: shown.first_digits_card_number,
    expiry_date: shown.expiry_date,
    card_type: shown.card_type?.toLowerCase(),
    card_brand: shown.card_brand_label,
  };
  if (type === "REFUND") {
    return {
      transaction_id: parse(id),
      parent_transaction_id: parse(parent),
      gateway_account_id: parse(account),
      service_id: parse(service),
      amount: details.amount,
      state: { status: "success", finished: true },
      created_date: milliseconds(created),
      gateway_transaction_id: details.gateway_transaction_id,
      settlement_summary: { settled_date },
      live: parse(live),
      transaction_type: type,
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
    transaction_id: parse(id),
    transaction_type: type,
    gateway_account_id: parse(account),
    service_id: parse(service),
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
    created_date: milliseconds(created),
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
      settled_date,
    },
    metadata: details.external_metadata,
    moto: details.moto,
    live: parse(live),
    source: details.source,
    authorisation_mode: details.authorisation_mode,
    disputed: false,
  };
}

serve(async ({ url = "", headers: { host } }, response) => {
  const [path, query] = url.split("?");
  const parameters = new URLSearchParams(query);
  const account = parameters.get("account_id") ?? "";
  const size = Number(parameters.get("display_size") ?? 20);
  const limits = { countMax: size, bytesMax: 4 * 2 ** 20 };
  const { rows, next, total = 0 } = await searchTransactions(sql, { account_id: [account] }, limits);
  const pages = Math.max(1, Math.ceil(total / size));
  const link = (paging: string) => ({
    href: `http://${host}${path}?account_id=${encodeURIComponent(account)}&${paging}&display_size=${size}`,
  });
  const place = next && [next.created_date, next.external_id, next.arrived, 2, total];
  const cursor = place && Buffer.from(JSON.stringify(place)).toString("base64url");
  const body = `${JSON.stringify({
    total,
    count: rows.length,
    page: 1,
    results: rows.map(viewTransaction),
    _links: {
      self: link("page=1"),
      first_page: link("page=1"),
      last_page: link(`page=${pages}`),
      next_page: pages > 1 ? link("page=2") : undefined,
    },
  })}\n`;
  const header = cursor === undefined ? {} : { link: `<${link(`cursor=${cursor}`).href}>; rel="next"` };
  respond(response, body, { vary: "accept", ...header });
});
