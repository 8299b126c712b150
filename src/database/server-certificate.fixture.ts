import { readFileSync } from "node:fs";
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
