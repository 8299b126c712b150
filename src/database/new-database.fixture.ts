import { randomUUID } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import { describe, inject } from "vitest";
import { describeOnAdapters, type Fixtures } from "../../testing/describe-adapters.ts";
import { describeIfAvailable } from "../../testing/describe-if-available.ts";
import { testWaitMaxMs } from "../../testing/test-wait-max.ts";
import { type Database, type databases, openDatabase } from "./database.ts";

/** The URL of the PostgreSQL server on which tests create and drop databases; undefined if there is none. */
export const postgresServer = process.env.TEST_POSTGRES_URL;

export interface NewDatabase extends AsyncDisposable {
  url: string;
}

/** Creates an empty database on the PostgreSQL server. Its disposal drops it. */
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

const newFolder = () => mkdtemp(join(inject("scratch"), "embedded database-"));
const urlOf = (folder: string) => `pglite:${encodeURI(folder)}`;

/** A folder for an embedded database, whose name needs URL encoding. Its disposal removes it. */
export async function newEmbedded(): Promise<NewDatabase> {
  const folder = await newFolder();
  return { url: urlOf(folder), [Symbol.asyncDispose]: () => rm(folder, { recursive: true }) };
}

export const databaseFixtures: Fixtures<keyof typeof databases, NewDatabase> = {
  "pglite:": (title, tests) => describe(title, () => tests(newEmbedded)),
  "postgres:": (title, tests) =>
    describeIfAvailable("TEST_POSTGRES_URL", postgresServer !== undefined)(title, () => tests(newPostgres)),
  "postgresql:": { sameAs: "postgres:" },
};

/** Describes tests that run on each engine. */
export const describeOnEngines = (title: string, tests: (make: () => Promise<NewDatabase>) => void) =>
  describeOnAdapters(title, databaseFixtures, tests);

async function run(server: string, statement: string): Promise<void> {
  await using database = await openDatabase(server);
  await database.within(testWaitMaxMs).run(statement);
}

/** Creates and opens an empty database: by default an embedded one, with `TEST_DATABASE=postgres` one on the server. */
export async function openNewDatabase(): Promise<Database> {
  const made = await (process.env.TEST_DATABASE === "postgres" ? newPostgres() : newEmbedded());
  const database = await openDatabase(made.url);
  return {
    ...database,
    async [Symbol.asyncDispose]() {
      await database[Symbol.asyncDispose]();
      await made[Symbol.asyncDispose]();
    },
  };
}
