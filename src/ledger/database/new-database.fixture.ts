import { randomUUID } from "node:crypto";
import { cpSync, existsSync } from "node:fs";
import { mkdtemp, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { describe, inject } from "vitest";
import { describeOnAdapters, type Fixtures } from "../../../testing/describe-adapters.ts";
import { describeNeeding } from "../../../testing/describe-needing.ts";
import { patienceMs } from "../../../testing/patience.ts";
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

const newFolder = () => mkdtemp(join(inject("scratch"), "embedded database-"));
const urlOf = (folder: string) => `pglite:${encodeURI(folder)}`;

/**
 * A folder with an empty database, without any tables. Making one takes seconds, and copying it a tenth of that: so one
 * is made for all tests of a run, by whoever is the first to need it.
 */
async function emptyEmbedded(): Promise<string> {
  const folder = join(inject("scratch"), "empty");
  if (existsSync(folder)) return folder;
  const made = await newFolder();
  const database = await openDatabase(urlOf(made));
  await database[Symbol.asyncDispose]();
  await rename(made, folder).catch(async (error) => {
    if (!existsSync(folder)) throw error;
    // Another process was the first.
    await rm(made, { recursive: true });
  });
  return folder;
}

/** An empty database of a test's own in a folder, whose name has to be encoded. */
export async function newEmbedded(): Promise<NewDatabase> {
  const folder = await newFolder();
  cpSync(await emptyEmbedded(), folder, { recursive: true });
  return { url: urlOf(folder), [Symbol.asyncDispose]: () => rm(folder, { recursive: true }) };
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
  await database.within(patienceMs).run(statement);
}

/**
 * An empty database of a test's own, opened: an embedded one, or, when the tests are run over PostgreSQL (see
 * vitest.config.ts), one there.
 */
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
