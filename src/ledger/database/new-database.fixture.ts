import { randomUUID } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe } from "vitest";
import { describeOnAdapters, type Fixtures } from "../../service/adapter.fixture.ts";
import { describeNeeding } from "../../service/needing.fixture.ts";
import { type Database, type databases, openDatabase } from "./database.ts";

/** The PostgreSQL server whose databases the tests make and drop; undefined when there is none. */
export const postgresServer = process.env.TEST_POSTGRES_URL;

export interface NewDatabase extends AsyncDisposable {
  url: string;
}

/** An empty database of a test's own on the PostgreSQL server, dropped when it is disposed of. */
export async function newPostgres(server = postgresServer ?? ""): Promise<NewDatabase> {
  const name = `test_${randomUUID().replaceAll("-", "")}`;
  await run(server, `create database ${name}`);
  const url = new URL(server);
  url.pathname = name;
  return {
    url: url.href,
    [Symbol.asyncDispose]: () => run(server, `drop database ${name} with (force)`),
  };
}

/** An empty database of a test's own in a folder, whose name has to be encoded. */
export async function newEmbedded(): Promise<NewDatabase> {
  const folder = await mkdtemp(join(tmpdir(), "embedded database-"));
  return {
    url: `pglite:${encodeURI(folder)}`,
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true }),
  };
}

export const databaseFixtures: Fixtures<keyof typeof databases, NewDatabase> = {
  "pglite:": (title, tests) => describe(title, () => tests(newEmbedded)),
  "postgres:": (title, tests) =>
    describeNeeding("TEST_POSTGRES_URL", postgresServer !== undefined)(title, () => tests(newPostgres)),
  "postgresql:": { sameAs: "postgres:" },
};

/** Describes tests of what must be the same over each engine. */
export const describeOnEngines = (title: string, tests: (make: () => Promise<NewDatabase>) => void) =>
  describeOnAdapters(title, databaseFixtures, tests);

async function run(server: string, statement: string): Promise<void> {
  await using database = await openDatabase(server);
  await database.run(statement);
}

/**
 * An empty database of a test's own, opened: in memory, or, when the tests are run over PostgreSQL (see
 * vitest.config.ts), there.
 */
export async function openNewDatabase(): Promise<Database> {
  if (process.env.TEST_DATABASE !== "postgres") return openDatabase("pglite:memory");
  const made = await newPostgres();
  const database = await openDatabase(made.url);
  return {
    ...database,
    async [Symbol.asyncDispose]() {
      await database[Symbol.asyncDispose]();
      await made[Symbol.asyncDispose]();
    },
  };
}
