import { readFile } from "node:fs/promises";
import type pg from "pg";
import { hostOf } from "../../engines/url.ts";
import { BoundClient } from "./channel-binding.ts";
import type { Host } from "./host.ts";
import type { PostgresParameters } from "./parameters.ts";

/** The configuration of connections to the first host of a URL. */
export async function configOf(url: URL, parameters: PostgresParameters): Promise<pg.PoolConfig> {
  const part = (text: string) => decodeURIComponent(text) || undefined;
  return {
    host: parameters.host ?? part(hostOf(url)),
    port: url.port === "" ? undefined : Number(url.port),
    user: part(url.username),
    password: part(url.password),
    database: part(url.pathname.slice(1)),
    // A socket of this machine has no TLS.
    ssl: parameters.host === undefined && (await tlsOf(parameters)),
    enableChannelBinding: parameters.channel_binding !== "disable",
    ...(parameters.channel_binding === "require" && { Client: BoundClient }),
    ...(parameters.application_name && { application_name: parameters.application_name }),
    max: parameters.pool,
    connectionTimeoutMillis: parameters.connect_timeout * 1000,
  };
}

export const hostIn = (url: URL): Host => ({
  host: decodeURIComponent(hostOf(url)),
  port: Number(url.port) || 5432,
});

/**
 * The modes of libpq: `require` encrypts without verification, `verify-ca` verifies who issued the certificate, and
 * `verify-full` also the host in it. With an authority `require` is `verify-ca`.
 */
async function tlsOf(parameters: PostgresParameters): Promise<pg.PoolConfig["ssl"]> {
  const { sslmode, sslrootcert } = parameters;
  if (sslmode === "disable") {
    if (sslrootcert !== undefined) throw new Error("sslrootcert requires another sslmode than disable");
    if (parameters.channel_binding === "require")
      throw new Error("channel_binding=require requires another sslmode than disable");
    return false;
  }
  const isSystem = sslrootcert === undefined || sslrootcert === "system";
  if (sslmode === "verify-full") return isSystem ? {} : { ca: await readAuthority(sslrootcert) };
  // Anyone can get a certificate of a public authority for another host.
  if (sslrootcert === "system") throw new Error("sslrootcert=system requires sslmode=verify-full");
  if (sslrootcert !== undefined) {
    return { ca: await readAuthority(sslrootcert), checkServerIdentity: () => undefined };
  }
  if (sslmode === "verify-ca") throw new Error("sslmode=verify-ca requires sslrootcert");
  return { rejectUnauthorized: false };
}

async function readAuthority(file: string): Promise<string> {
  try {
    return await readFile(file, "utf8");
  } catch (error) {
    throw new Error(`sslrootcert ${file} cannot be read: ${(error as NodeJS.ErrnoException).code}`);
  }
}
