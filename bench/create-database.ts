import { openDatabase } from "../src/database/databases.ts";
import type { TestServer } from "../testing/servers/server.ts";

/** Creates a database on a server, empty or as a copy of another one. Returns its URL. */
export async function createDatabase(
  server: Pick<TestServer, "url">,
  name: string,
  copied = "template1",
): Promise<string> {
  await using database = await openDatabase(server.url);
  await database.run(`create database ${name} template ${copied}`);
  const url = new URL(server.url);
  url.pathname = name;
  return url.href;
}
