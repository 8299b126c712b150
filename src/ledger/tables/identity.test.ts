import { describe, expect, test } from "vitest";
import { openDatabase } from "../../database/databases.ts";
import { newPostgres, postgresServer } from "../../database/new-database.fixture.ts";
import { pounds } from "../../values/currency.ts";
import { decideCurrency, ledgerCurrency, ledgerIdOf } from "./identity.ts";
import { openLedgerDatabase } from "./ledger-database.fixture.ts";
import { migrate } from "./migrate.ts";

test("a ledger keeps its id, and another one has another id", async () => {
  await using database = await openLedgerDatabase();
  await using other = await openLedgerDatabase();
  const ids = await Promise.all(Array.from({ length: 5 }, () => ledgerIdOf(database)));
  expect(new Set(ids)).toEqual(new Set([await ledgerIdOf(database)]));
  expect(ids[0]).toMatch(/^[\da-f-]{36}$/);
  expect(await ledgerIdOf(other)).not.toBe(ids[0]);
});

test("a dump that is restored as another database has an id of its own from then on", async () => {
  await using database = await openLedgerDatabase();
  const id = await ledgerIdOf(database);
  // As a restored dump has it.
  await database.run("update ledger_identity set database = '7300000000000000001/16384'");
  const copied = await ledgerIdOf(database);
  expect(copied).not.toBe(id);
  expect(await ledgerIdOf(database)).toBe(copied);
});

test.runIf(postgresServer !== undefined)("a copy on the same server has an id of its own", async () => {
  await using original = await newPostgres();
  let id: string;
  {
    await using database = await openDatabase(original.url);
    await migrate(database);
    id = await ledgerIdOf(database);
  }
  await using made = await newPostgres(postgresServer, new URL(original.url).pathname.slice(1));
  await using copy = await openDatabase(made.url);
  expect(await ledgerIdOf(copy)).not.toBe(id);
  await using again = await openDatabase(original.url);
  expect(await ledgerIdOf(again)).toBe(id);
});

describe("the currency of a ledger", () => {
  const euro = { code: "EUR", digits: 2 };

  test("is the one of its first start, and pounds without a setting", async () => {
    await using database = await openLedgerDatabase();
    await ledgerIdOf(database);
    expect(await decideCurrency(database, euro)).toEqual(euro);
    expect(await decideCurrency(database, undefined)).toEqual(euro);
    expect(await ledgerCurrency(database)).toEqual(euro);
    await using other = await openLedgerDatabase();
    await ledgerIdOf(other);
    expect(await decideCurrency(other, undefined)).toEqual(pounds);
  });

  test("is decided once by processes that start together, and cannot change", async () => {
    await using database = await openLedgerDatabase();
    await ledgerIdOf(database);
    const starts = await Promise.allSettled(
      [euro, pounds, euro, pounds].map((currency) => decideCurrency(database, currency)),
    );
    const started = starts.flatMap((start) => (start.status === "fulfilled" ? start.value.code : []));
    expect([started.length, new Set(started)]).toEqual([2, new Set([(await ledgerCurrency(database)).code])]);
    const [failed] = starts.flatMap((start) => (start.status === "rejected" ? String(start.reason) : []));
    expect(failed).toMatch(/CURRENCY is (EUR|GBP), but the amounts of this ledger are in (EUR|GBP)/);
  });

  test("is pounds if an older release has stored events", async () => {
    await using database = await openLedgerDatabase();
    await ledgerIdOf(database);
    await database.query(
      `insert into event (resource_type, resource_external_id, timestamp, event_type, event_details)
       values ('payment', 'p', now(), 'X', '{}')`,
    );
    await expect(decideCurrency(database, euro)).rejects.toThrow("the amounts of this ledger are in GBP");
  });
});
