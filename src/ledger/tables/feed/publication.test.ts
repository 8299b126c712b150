import { beforeEach, expect, test } from "vitest";
import { ledgerDatabaseOfFile } from "../ledger-database.fixture.ts";
import { claimPublication, movePublication, publicationStates, renewPublication } from "./publication.ts";

const database = await ledgerDatabaseOfFile();
beforeEach(() => database.run("truncate publication"));

test("a publication can be claimed, renewed and moved by its owner only, and has the problem of its target", async () => {
  const [one, other] = ["11111111-1111-4111-8111-111111111111", "22222222-2222-4222-8222-222222222222"];
  const start = { sql_transaction: 0n, event_id: 0n, timestamp: "2024-01-01T00:00:00.000000Z" };
  const claim = (owner: string) => claimPublication(database, "t", { owner, previous: owner }, start);
  expect(await claim(one)).toEqual(start);
  expect(await claim(other)).toBeUndefined();
  const state = { completeMs: null, problem: "away" };
  expect(await renewPublication(database, "t", one, state)).toBe(true);
  expect(await renewPublication(database, "t", other, { ...state, problem: "none" })).toBe(false);
  await expect(movePublication(database, "t", other, start)).rejects.toThrow(
    "another process publishes to t",
  );
  await movePublication(database, "t", one, { ...start, event_id: 7n });
  expect(await publicationStates(database, ["t", "unknown"])).toEqual([
    { target: "t", problem: "away", behind_ms: 0n, deferred: 0, waiting: [] },
  ]);
});
