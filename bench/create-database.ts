import { openDatabase } from "../src/database/database.ts";
import type { TestServer } from "../testing/servers/server.ts";

/** Creates an empty database on a server. Returns its URL. */
export async function createDatabase(server: TestServer, name: string): Promise<string> {
  await using database = await openDatabase(server.url);
  await database.run(`create database ${name}`);
  const url = new URL(server.url);
  url.pathname = name;
  return url.href;
}
