import type { Sql } from "../../../database/database.ts";

/** Number of transactions in the skewed ledger. */
export const skewedRows = 100_000;

/**
 * Fills a ledger with skewed values. Account 1 has half of all transactions, account 2 a tenth, and each small account a few
 * hundred. A state, a type or a card brand can be rare or missing in one account and common in another. Some values occur
 * only in the oldest tenth. Few are not live: the oldest ones of account 1, and all of one small account. Every three
 * transactions have the same date. References are short, long or missing. Some rows have no size, as those of older releases.
 */
export async function fillSkewed(sql: Sql): Promise<void> {
  await sql.run(`
    insert into payout (gateway_payout_id, gateway_account_id, state, created_date, event_count, paid_out_date, details)
    select 'po' || n, case when n % 2 = 0 then '1' else 's' || n % 200 end, 'PAID_OUT', instant, 1,
           case when n % 7 > 0 then instant end, '{}'
    from (select n, timestamptz '2023-12-31Z' + n * interval '3 hours' as instant from generate_series(1, 2001) as n) as days;

    insert into transaction (external_id, transaction_type, parent_external_id, gateway_account_id, state, created_date,
      event_count, first_event_id, reference, email, cardholder_name, card_brand, first_digits_card_number,
      last_digits_card_number, gateway_transaction_id, gateway_payout_id, agreement_id, metadata_values, details, size, live)
    select 'id' || n,
      case when n % 10 = 0 then 'REFUND' when n % 1000 = 7 then 'DISPUTE' else 'PAYMENT' end,
      case when n % 10 = 0 then 'id' || n - 1 end,
      account,
      case when account = '1'
        then case when n % 10000 = 2 then 'CANCELLED' when n % 20 = 4 then 'FAILED_REJECTED' else 'SUCCESS' end
        else (array['SUCCESS', 'SUCCESS', 'SUBMITTED', 'FAILED_REJECTED', 'ERROR', 'CANCELLED'])[1 + (n / 7) % 6]
      end,
      timestamptz '2024-01-01Z' + (n - n % 3) * interval '4 minutes', 1, n + (n % 5) * 1000,
      case when n % 4 = 0 then left(md5(n::text), 8) when n % 1000 = 9 then repeat('LIC ' || n || ' %_ ', 15)
        when n % 11 > 0 then 'LIC-' || n end,
      case when n % 5 > 0 then left(md5('e' || n), 8) || '@example.org' end,
      (array['Ann', 'Bob', 'Zoë'])[1 + n % 3] || ' ' || left(md5('c' || n), 6),
      case when n <= ${skewedRows / 10} and n % 3 = 0 then 'maestro' when account <> '1' and n % 5001 = 1 then 'diners'
        else (array['visa', 'visa', 'amex'])[1 + n % 3] end,
      case when n % 2 = 1 then '424242' else (410000 + n % 400)::text end,
      case when n % 3 = 1 then '4242' else lpad((n % 10000)::text, 4, '0') end,
      'gtx' || n / 2,
      case when n % 3 > 0 then 'po' || n / 50 end,
      case when n % 20 = 3 then 'agr' || n / 2000 end,
      case when n % 10 = 0 then null
        when n <= ${skewedRows / 5} then array['old', 'case' || n]
        when account <> '1' and n % 5001 = 1 then array['rare', 'case' || n]
        when account <> '1' and n % 10 < 7 then array['north', 'case' || n]
        else array['case' || n] end,
      jsonb_build_object('amount', n, 'payment_provider', 'sandbox', 'description', repeat(md5(n::text), n % 20)),
      case when n % 4 > 0 then 100 + n % 1000 end,
      case when n % 100 < 99 then not (account = 's27' or (account = '1' and n <= ${skewedRows / 50})) end
    from (
      select n, case when n % 2 = 0 then '1' when n % 10 = 1 then '2' else 's' || n % 200 end as account
      from generate_series(1, ${skewedRows}) as n
    ) as numbered;
  `);
}
