import type { Database } from "../src/database/database.ts";
import { openDatabase } from "../src/database/databases.ts";
import { verify } from "../src/ledger/intake/verify.ts";
import { migrate } from "../src/ledger/tables/migrate.ts";
import { startPostgres } from "../testing/servers/postgres.ts";
import type { TestServer } from "../testing/servers/server.ts";
import { createDatabase } from "./create-database.ts";

/**
 * The growing account has 40 % of the transactions of a ledger, the big account 10 %, and the steady account 5000 or
 * 50 %, whichever is less. The other accounts have 1000 each.
 */
export const accounts = { growing: "1", big: "2", steady: "3" };

export interface Ledgers extends AsyncDisposable {
  /** The URL of a database with this many transactions, in many accounts or all in the growing account. */
  open(transactions: number, spread?: "many accounts" | "one account"): Promise<string>;
}

/** Ledgers on a PostgreSQL server of their own. Each is created at its first use. */
export function ledgersOnPostgres(): Ledgers {
  const opened = new AsyncDisposableStack();
  const ledgers: Record<string, Promise<string>> = {};
  let server: Promise<TestServer> | undefined;
  async function create(name: string, transactions: number, account: string) {
    server ??= startServer(opened);
    const url = await createDatabase(await server, name);
    await using database = await openDatabase(url);
    await migrate(database);
    await fill(database, transactions, account);
    return url;
  }
  return {
    open(transactions, spread = "many accounts") {
      const name = `${spread.replace(" ", "_")}_${transactions}`;
      const account = spread === "one account" ? `'${accounts.growing}'` : accountOf(transactions);
      ledgers[name] ??= create(name, transactions, account);
      return ledgers[name];
    },
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}

/** Those that deploy/beyond-one-machine.md recommends, for 16 GiB of memory. */
const recommendedSettings = [
  "shared_buffers = '4GB'",
  "max_wal_size = '8GB'",
  "checkpoint_timeout = '15min'",
  "wal_compression = 'lz4'",
];
/** Tables that are emptied and filled in one transaction are not written to the write-ahead log, too. */
const settingsToFill = ["wal_level = 'minimal'", "max_wal_senders = 0"];

async function startServer(opened: AsyncDisposableStack): Promise<TestServer> {
  const server = opened.use(await startPostgres());
  await using database = await openDatabase(server.url);
  for (const setting of [...recommendedSettings, ...settingsToFill]) {
    await database.run(`alter system set ${setting}`);
  }
  await server.restart();
  return server;
}

const verifiedRows = 1000;
export const fillMaxMs = 3_600_000;

/** Throws if a sampled row differs from the projection of its events by the ledger. */
async function fill(database: Database, transactions: number, account: string): Promise<void> {
  const longRunning = database.within(fillMaxMs);
  await longRunning.run(withoutIndexes(fillScript(transactions, account)));
  // Otherwise PostgreSQL would write during a measurement.
  await longRunning.run("vacuum analyze");
  await longRunning.run("checkpoint");
  // As after hours of work. Otherwise the first events would wait for the disk.
  await longRunning.run("create extension pg_prewarm");
  await longRunning.run("select pg_prewarm(indexrelid) from pg_stat_user_indexes");
  const sample = await sampleTransactions(database, verifiedRows);
  const [difference] = await verify(
    database,
    sample.map(({ external_id }) => external_id),
  );
  if (difference)
    throw new Error(`the ledger of ${transactions} transactions is inconsistent: ${difference}`);
}

export interface SampledTransaction {
  external_id: string;
  gateway_account_id: string;
}

export const lookupPath = ({ external_id, gateway_account_id }: SampledTransaction) =>
  `/v1/transaction/${external_id}?account_id=${gateway_account_id}`;

/** A sample of all transactions, or of the payments that have a refund. It is the same in every run. */
export const sampleTransactions = (
  database: Database,
  max: number,
  from: "all" | "refunded" = "all",
): Promise<SampledTransaction[]> =>
  database.query(
    `select external_id, gateway_account_id from transaction
     ${from === "all" ? "" : "where external_id in (select parent_external_id from transaction)"}
     order by hashtextextended(external_id, 1) limit $1`,
    [max],
  );

/**
 * The account of a group of ten transactions, as an SQL expression. Of ten groups four belong to the growing account and
 * one to the big account. Those of the steady account are spread evenly over the rest.
 */
function accountOf(transactions: number): string {
  const restGroups = Math.max(1, transactions / 20);
  const everyNth = Math.ceil(restGroups / 500);
  return `case
    when "group" % 10 < 4 then '${accounts.growing}'
    when "group" % 10 = 4 then '${accounts.big}'
    when rest % ${everyNth} = 0 then '${accounts.steady}'
    else (100 + rest % ${Math.ceil(restGroups / 100)})::text
  end`;
}

/** Creates the indexes and the summaries after the script, which takes a fraction of the time. */
const withoutIndexes = (script: string) => `
  alter table transaction disable trigger user;
  truncate event, transaction, transaction_outline;
  set local maintenance_work_mem = '1GB';
  create temporary table dropped_index as
  select indexname, indexdef from pg_indexes
  where tablename in ('event', 'transaction', 'transaction_outline') and indexname not in (select conname from pg_constraint);
  do $$ declare name text; begin
    for name in select indexname from dropped_index loop execute format('drop index %I', name); end loop;
  end $$;
  ${script}
  insert into metadata_key
  select gateway_account_id, key
  from (select distinct gateway_account_id from transaction) as account, (values ('branch'), ('case_number')) as keys(key);
  insert into transaction_outline select * from expected_transaction_outline;
  do $$ declare definition text; begin
    for definition in select indexdef from dropped_index loop execute definition; end loop;
  end $$;
  alter table transaction enable trigger user;
  select rebuild_transaction_summaries();
`;

/** Generated rows take about 2.5 kB of disk each until their part of the ledger is complete. A multiple of a group. */
const partMax = 500_000;

function fillScript(transactions: number, account: string): string {
  const parts: string[] = [];
  for (let first = 1; first <= transactions; first += partMax)
    parts.push(partScript(first, Math.min(first + partMax - 1, transactions), account));
  return parts.join("\n");
}

/**
 * Each group has ten transactions of one account: nine payments and a refund of the ninth, with three events each. The
 * rows are computed in SQL, because the projection of millions of events by the ledger would take too long.
 */
const partScript = (first: number, last: number, account: string) => `
  create temporary table generated as
  select
    left(md5('transaction' || number), 26) as id,
    case when is_refund then left(md5('transaction' || payment), 26) end as parent_id,
    case when is_refund then 'refund' else 'payment' end as type,
    3 * number - 2 as first_event,
    created_date,
    account,
    'service' || account as service_id,
    case when is_refund
      then array['REFUND_CREATED_BY_USER', 'REFUND_SUBMITTED', 'REFUND_SUCCEEDED']
      else array['PAYMENT_CREATED', 'PAYMENT_DETAILS_ENTERED', 'CAPTURE_CONFIRMED']
    end as event_types,
    case when is_refund
      then array[
        jsonb_build_object('gateway_account_id', account, 'amount', amount / 2, 'refunded_by', left(hash, 26),
          'user_email', 'clerk' || "group" % 50 || '@service.example.org'),
        '{}',
        jsonb_build_object('gateway_transaction_id', 're_' || hash)
      ]
      else array[
        jsonb_build_object('gateway_account_id', account, 'amount', amount, 'reference', reference,
          'description', description, 'language', 'en', 'return_url', 'https://service.example.org/paid/' || number,
          'payment_provider', 'worldpay', 'credential_external_id', md5(account), 'delayed_capture', false,
          'moto', false, 'source', 'CARD_API', 'authorisation_mode', 'web',
          'external_metadata', jsonb_build_object('branch', 'North', 'case_number', number)),
        card || jsonb_build_object('card_brand', card_brand, 'total_amount', amount,
          'gateway_transaction_id', hash, 'address_line1', number % 200 || ' High Street',
          'address_postcode', 'E1 8QS', 'address_city', 'London', 'address_country', 'GB'),
        jsonb_build_object('fee', 60, 'net_amount', amount - 60,
          'captured_date', to_char(created_date at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'))
      ]
    end as event_details,
    number, is_refund, hash, reference, description, card, card_brand
  from
    generate_series(${first}, ${last}) as number,
    lateral (select number % 10 = 0 as is_refund, number - (number % 10 = 0)::integer as payment,
      timestamptz '2024-01-01 08:00Z' + number * interval '1 minute' as created_date,
      (number - 1) / 10 as "group", (number - 1) / 100 * 5 + (number - 1) / 10 % 10 - 5 as rest) as place,
    lateral (select ${account} as account) as owner,
    lateral (select md5('gateway' || number) as hash, 'REF-' || left(md5('payment' || payment), 10) as reference,
      (array['Fishing licence', 'Parking permit, zone B', 'Copy of a birth certificate'])[1 + payment % 3] as description,
      500 + payment % 997 * 10 as amount, (array['visa', 'master-card'])[1 + payment % 2] as card_brand) as payment_values,
    lateral (select jsonb_build_object('email', 'payer' || payment % 50000 || '@example.org',
      'cardholder_name', 'A. ' || left(md5('name' || payment % 50000), 8), 'card_type', 'DEBIT',
      'card_brand_label', (array['Visa', 'Mastercard'])[1 + payment % 2], 'first_digits_card_number', '424242',
      'last_digits_card_number', lpad((payment % 10000)::text, 4, '0'), 'expiry_date', '11/29') as card offset 0) as card_values;

  insert into event (resource_type, resource_external_id, parent_resource_external_id, timestamp, event_type,
    service_id, live, event_details)
  select type, id, parent_id, created_date + (step - 1) * interval '10 seconds', event_type, service_id, true, details
  from generated, unnest(event_types, event_details) with ordinality as steps(event_type, details, step);

  insert into transaction (external_id, transaction_type, parent_external_id, gateway_account_id, service_id, live,
    state, created_date, event_count, first_event_id, reference, email, cardholder_name, card_brand,
    first_digits_card_number, last_digits_card_number, gateway_transaction_id, metadata_values, details,
    payment_details, size)
  select id, upper(type), parent_id, account, service_id, true,
    'SUCCESS', created_date, 3, first_event, reference, card ->> 'email', card ->> 'cardholder_name', card_brand,
    card ->> 'first_digits_card_number', card ->> 'last_digits_card_number',
    case when is_refund then 're_' || hash else hash end,
    case when not is_refund then array[number::text, 'north'] end,
    details, payment_details, octet_length(details::text) + coalesce(octet_length(payment_details::text), 0)
  from generated cross join lateral (select
    event_details[1] || event_details[2] || event_details[3] as details,
    case when is_refund then card || jsonb_build_object('description', description, 'reference', reference) end
      as payment_details) as projected;

  truncate generated;
  drop table generated;
`;
