import { expect, test } from "vitest";
import { openDatabase } from "../databases.ts";
import { newEmbedded } from "../new-database.fixture.ts";

test("the embedded engine analyses a table that has changed, and one without statistics of its changes", async () => {
  await using made = await newEmbedded();
  await using database = await openDatabase(made.url);
  await database.run("create table uncounted as select n from generate_series(1, 10000) as n");
  await database.run("select pg_stat_force_next_flush()");
  await database.run("select pg_stat_reset()");
  await database.run("create table grown as select n, n % 10 as tenth from generate_series(1, 10000) as n");
  await expect
    .poll(() => database.query("select reltuples::int from pg_class where relname in ('grown', 'uncounted')"))
    .toEqual([{ reltuples: 10_000 }, { reltuples: 10_000 }]);
});
