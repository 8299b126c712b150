import { readFileSync } from "node:fs";
import { expect } from "vitest";
import { eventually } from "../../testing/eventually.ts";
import type { Database } from "./database.ts";

/** Makes a PostgreSQL server encrypt its connections with this certificate, which it reads soon afterwards. */
export async function useCertificate(server: Database, files: { certificate: string; key: string }) {
  const [data] = await server.query<{ folder: string }>("select current_setting('data_directory') as folder");
  for (const [name, file] of Object.entries({ "server.crt": files.certificate, "server.key": files.key })) {
    const lines = readFileSync(file, "utf8").trim();
    await server.run(
      `copy (select unnest(string_to_array('${lines}', E'\\n')))
       to program 'umask 077; cat > ${data?.folder}/${name}'`,
    );
  }
  await server.run("alter system set ssl = on");
  await server.query("select pg_reload_conf()");
}

/** Makes a PostgreSQL server stop encrypting new connections. */
export async function useNoCertificate(server: Database) {
  await server.run("alter system set ssl = off");
  await server.query("select pg_reload_conf()");
  await eventually(async () => expect(await server.query("show ssl")).toEqual([{ ssl: "off" }]));
}

/** Makes a PostgreSQL server authenticate the user `bound` by this method, and trust all others, soon afterwards. */
export async function useAuthentication(server: Database, method: string) {
  const [{ file } = {}] = await server.query<{ file: string }>("select current_setting('hba_file') as file");
  const rules = [
    `host all bound 127.0.0.1/32 ${method}`,
    "host all all 127.0.0.1/32 trust",
    "host replication all 127.0.0.1/32 trust",
    "local all all trust",
  ];
  const lines = rules.map((rule) => `('${rule}')`);
  await server.run(`copy (values ${lines.join()}) to program 'cat > ${file}'`);
  await server.query("select pg_reload_conf()");
}
