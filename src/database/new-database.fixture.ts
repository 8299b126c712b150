import { randomUUID } from "node:crypto";
import { cpSync, existsSync } from "node:fs";
import { mkdtemp, rename, rm } from "node:fs/promises";
import { basename, join } from "node:path";
import { describe, inject } from "vitest";
import { describeOnAdapters, type Fixtures } from "../../testing/describe-adapters.ts";
import { describeIfAvailable } from "../../testing/describe-if-available.ts";
import { testWaitMaxMs } from "../../testing/test-wait-max.ts";
import type { Database } from "./database.ts";
import { type databases, openDatabase } from "./databases.ts";

/** The URL of the PostgreSQL server on which tests create and drop databases; undefined if there is none. */
export const postgresServer = process.env.TEST_POSTGRES_URL;

export interface NewDatabase extends AsyncDisposable {
  url: string;
}

/** Creates an empty database on the PostgreSQL server. Its disposal drops it. */
export async function newPostgres(
  server = postgresServer ?? "",
  template = "template1",
): Promise<NewDatabase> {
  const name = `test_${randomUUID().replaceAll("-", "")}`;
  await run(server, `create database ${name} template "${template}"`);
  const url = new URL(server);
  url.pathname = name;
  return {
    url: url.href,
    [Symbol.asyncDispose]: () => run(server, `drop database ${name} with (force)`),
  };
}

const newFolder = () => mkdtemp(join(inject("scratch"), "embedded database-"));

/** A folder for an embedded database, whose name needs URL encoding. Its disposal removes it. */
export const newEmbedded = async (): Promise<NewDatabase> => embeddedIn(await newFolder());

const embeddedIn = (folder: string): NewDatabase => ({
  url: `pglite:${encodeURI(folder)}`,
  [Symbol.asyncDispose]: () => rm(folder, { recursive: true }),
});

export const databaseFixtures: Fixtures<keyof typeof databases, NewDatabase> = {
  "pglite:": (title, tests) => describe(title, () => tests(newEmbedded)),
  "postgres:": (title, tests) =>
    describeIfAvailable("TEST_POSTGRES_URL", postgresServer !== undefined)(title, () => tests(newPostgres)),
  "postgresql:": { sameAs: "postgres:" },
};

/** Describes tests that run on each engine. */
export const describeOnEngines = (title: string, tests: (make: () => Promise<NewDatabase>) => void) =>
  describeOnAdapters(title, databaseFixtures, tests);

async function isOnServer(name: string): Promise<boolean> {
  await using database = await openDatabase(postgresServer ?? "");
  const found = await database.query("select from pg_database where datname = $1", [name]);
  return found.length > 0;
}

async function run(server: string, statement: string): Promise<void> {
  await using database = await openDatabase(server);
  await database.within(testWaitMaxMs).run(statement);
}

const isOnPostgres = () => process.env.TEST_DATABASE === "postgres";

/** Creates and opens an empty database: by default an embedded one, with `TEST_DATABASE=postgres` one on the server. */
export const openNewDatabase = async (): Promise<Database> =>
  openMade(isOnPostgres() ? await newPostgres() : await newEmbedded());

/** Fills an empty database. */
type Prepare = (database: Database) => Promise<unknown>;

/**
 * Opens a database as `openNewDatabase` does, with what `prepare` puts into it. That runs once in a run of the tests: all
 * that give the same name get copies.
 */
export async function openPrepared(name: string, prepare: Prepare): Promise<Database> {
  const template = `${basename(inject("scratch"))}-${name}`;
  return openMade(await (isOnPostgres() ? copyPostgres : copyEmbedded)(template, prepare));
}

async function openMade(made: NewDatabase): Promise<Database> {
  const database = await openDatabase(made.url);
  return {
    ...database,
    async [Symbol.asyncDispose]() {
      await database[Symbol.asyncDispose]();
      await made[Symbol.asyncDispose]();
    },
  };
}

async function prepareIn({ url }: NewDatabase, prepare: Prepare): Promise<void> {
  await using database = await openDatabase(url);
  await prepare(database);
}

// A template gets its name when it is complete. Of several test files that make one at a time, the first gives it.

async function copyEmbedded(name: string, prepare: Prepare): Promise<NewDatabase> {
  const template = join(inject("scratch"), name);
  if (!existsSync(template)) {
    const folder = await newFolder();
    await prepareIn(embeddedIn(folder), prepare);
    await rename(folder, template).catch(() => rm(folder, { recursive: true }));
  }
  const folder = await newFolder();
  cpSync(join(template, "pglite"), join(folder, "pglite"), { recursive: true });
  return embeddedIn(folder);
}

async function copyPostgres(name: string, prepare: Prepare): Promise<NewDatabase> {
  if (!(await isOnServer(name))) {
    const made = await newPostgres();
    await prepareIn(made, prepare);
    const rename = `alter database "${new URL(made.url).pathname.slice(1)}" rename to "${name}"`;
    await run(postgresServer ?? "", rename).catch(() => made[Symbol.asyncDispose]());
  }
  return newPostgres(postgresServer, name);
}
