import type { Database } from "../../database/database.ts";
import { type Currency, currencyOf, pounds } from "../../values/currency.ts";

/**
 * The id of the ledger, which tells its events from those of any other one. It is made when the database is new, and again
 * when a dump was restored as another database. A database whose files were copied keeps it.
 */
export async function ledgerIdOf(database: Database): Promise<string> {
  const current = `(
    select system_identifier || '/' || oid from pg_control_system() cross join pg_database
    where datname = current_database()
  )`;
  const read = `select ledger_id from ledger_identity where database = ${current}`;
  const [known] = await database.query<{ ledger_id: string }>(read);
  if (known) return known.ledger_id;
  const [made] = await database.query<{ ledger_id: string }>(
    `insert into ledger_identity (ledger_id, database) values (gen_random_uuid(), ${current})
     on conflict (only_row) do update set
       ledger_id = case when ledger_identity.database = excluded.database
         then ledger_identity.ledger_id else excluded.ledger_id end,
       database = excluded.database
     returning ledger_id`,
  );
  return (made as { ledger_id: string }).ledger_id;
}

/**
 * The currency of all amounts of a ledger that has its id. The first start decides it, by a setting or as pounds, so that no
 * two processes read the same amounts in two currencies. Throws if a setting names another one later. The events of an older
 * release are in pence.
 */
export async function decideCurrency(database: Database, wanted: Currency | undefined): Promise<Currency> {
  const [undecided] = await database.query("select from ledger_identity where currency is null");
  if (undecided)
    await database.query(
      `update ledger_identity set currency = case when exists (select from event) then $1 else $2 end
       where currency is null`,
      [pounds.code, (wanted ?? pounds).code],
    );
  const decided = await ledgerCurrency(database);
  if (wanted && wanted.code !== decided.code)
    throw new Error(
      `CURRENCY is ${wanted.code}, but the amounts of this ledger are in ${decided.code}, which cannot change; ` +
        "another currency needs another ledger",
    );
  return decided;
}

/** The currency of all amounts of the ledger. */
export async function ledgerCurrency(database: Database): Promise<Currency> {
  const [row] = await database.query<{ currency: string | null }>("select currency from ledger_identity");
  const code = row?.currency ?? pounds.code;
  const currency = currencyOf(code);
  if (!currency) throw new Error(`the amounts of this ledger are in ${code}, which is no known currency`);
  return currency;
}

/** The key with which the processes of the ledger seal the cursors that they give to callers. The database makes it. */
export async function cursorKeyOf(database: Database): Promise<Uint8Array> {
  const read = "select key from cursor_key";
  const [known] = await database.query<{ key: Uint8Array }>(read);
  if (known) return known.key;
  await database.query("insert into cursor_key default values on conflict do nothing");
  const [made] = await database.query<{ key: Uint8Array }>(read);
  return (made as { key: Uint8Array }).key;
}
