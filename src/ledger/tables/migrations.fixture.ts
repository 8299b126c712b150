import { cp, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { inject } from "vitest";

const migrationFolder = fileURLToPath(new URL("./migrations/", import.meta.url));

/** The names of all migrations, in order. */
export const migrationNames = async () => (await readdir(migrationFolder)).sort();

/** Creates a folder with the migrations up to `upTo` (default: all) and the added ones, by name. Its disposal removes it. */
export async function newMigrations(added: Record<string, string>, upTo = "\uffff") {
  const folder = await mkdtemp(join(inject("scratch"), "migrations-"));
  for (const name of await migrationNames()) {
    if (name <= upTo) await cp(join(migrationFolder, name), join(folder, name));
  }
  for (const [name, text] of Object.entries(added)) await writeFile(join(folder, name), text);
  return { url: pathToFileURL(`${folder}/`), [Symbol.asyncDispose]: () => rm(folder, { recursive: true }) };
}
