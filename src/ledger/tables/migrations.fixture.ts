import { cp, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { inject } from "vitest";

const released = fileURLToPath(new URL("./migrations/", import.meta.url));

/** The names of the migrations there are, in their order. */
export const migrationNames = async () => (await readdir(released)).sort();

/** A folder of migrations of a test's own: those there are, up to one that is named, and others by their names. */
export async function newMigrations(others: Record<string, string>, upTo = "\uffff") {
  const folder = await mkdtemp(join(inject("scratch"), "migrations-"));
  for (const name of await migrationNames()) {
    if (name <= upTo) await cp(join(released, name), join(folder, name));
  }
  for (const [name, text] of Object.entries(others)) await writeFile(join(folder, name), text);
  return { url: pathToFileURL(`${folder}/`), [Symbol.asyncDispose]: () => rm(folder, { recursive: true }) };
}
