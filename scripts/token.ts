import { randomUUID } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import { calculateJwkThumbprint, exportJWK, importJWK, type JWK, type JWTPayload } from "jose";
import { featuresContract, ledgerContract } from "../src/contract/contracts.ts";
import { operationsOf } from "../src/contract/operations.ts";
import { isPort, portRange } from "../src/engines/parameters.ts";
import { parseCommandLine, runCommand, say, UsageError } from "../src/process/command.ts";
import { makePrivateFolder, privateFileMode } from "../src/process/private-folder.ts";
import { stopOnSignals, untilStopped } from "../src/process/stop.ts";
import { parseJson } from "../src/values/json.ts";
import { type Key, makeKey, signToken } from "../testing/issuer.ts";
import { openTrialIssuer } from "../testing/trial-issuer.ts";

const keyFolder = "./data/issuer";
const keyFile = `${keyFolder}/key-for-trials.json`;
/** The URL of the issuer, as it was served last. */
const urlFile = `${keyFolder}/url-for-trials.txt`;
const expiresMaxS = 86_400;

const usage = `Usage: npm run token -- --serve [--port PORT]
       npm run --silent token -- --scope SCOPES [--account ACCOUNT]... [--expires SECONDS]

Tries out access tokens on this machine. With --serve it is their issuer: until SIGINT or SIGTERM it serves its public key
on 127.0.0.1, and a page at which readers of the consoles sign in. It prints the settings for npm start. With --scope it
prints a token of this issuer.

This is for trials only. Whoever can read ${keyFile} can make any token.

  --port PORT          port of the issuer; 0 selects a free one. Default 8090
  --scope SCOPES       scopes of the token, with spaces between them
  --account ACCOUNT    gateway account that the scope ledger:read allows; can be repeated
  --expires SECONDS    time until the token expires, up to ${expiresMaxS}. Default 3600
  --help               print this text
`;

const clientId = "console-for-trials";
const audience = "services-for-trials";

const options = {
  serve: { type: "boolean" },
  port: { type: "string" },
  scope: { type: "string" },
  account: { type: "string", multiple: true },
  expires: { type: "string" },
} as const;

await runCommand("token", usage, async (args) => {
  const { serve, port, scope, account, expires } = parseCommandLine({ args, options }).values;
  const ofToken = [scope, account, expires].some((option) => option !== undefined);
  if (serve && !ofToken) return serveKey(readPort(port ?? "8090"));
  if (serve || port !== undefined || scope === undefined) {
    throw new UsageError(
      "expected --serve, perhaps with --port, or --scope, perhaps with --account and --expires",
    );
  }
  if (account?.includes("")) throw new UsageError("--account must not be empty");
  const claims = { scope: readScopes(scope), ...(account && { accounts: account }) };
  say(await sign(claims, readExpiry(expires ?? "3600")));
});

function readPort(text: string): number {
  if (!isPort(text)) throw new UsageError(`--port must be ${portRange}`);
  return Number(text);
}

function knownScopes(): string[] {
  const operations = [ledgerContract, featuresContract].flatMap((contract) => operationsOf(contract));
  return [...new Set(operations.flatMap(({ security }) => security.flatMap(Object.values).flat()))].sort();
}

function readScopes(text: string): string {
  const known = knownScopes();
  const scopes = text.split(" ").filter(Boolean);
  if (scopes.length === 0 || scopes.some((scope) => !known.includes(scope))) {
    throw new UsageError(`--scope must be some of ${known.join(", ")}, with spaces between them`);
  }
  return scopes.join(" ");
}

function readExpiry(text: string): number {
  if (!/^[1-9]\d{0,4}$/.test(text) || Number(text) > expiresMaxS) {
    throw new UsageError(`--expires must be a whole number of seconds from 1 to ${expiresMaxS}`);
  }
  return Number(text);
}

async function serveKey(port: number): Promise<void> {
  const { signal } = stopOnSignals();
  makePrivateFolder(keyFolder, { names: [/^(key|url)-for-trials\.\w+$/] });
  const key = (await readKey()) ?? (await storeKey());
  const trial = { key, port, clientId, audience, scopes: knownScopes() };
  await using issuer = await openTrialIssuer(trial).catch((error) => {
    if (error.code !== "EADDRINUSE") throw error;
    throw new Error(`port ${port} of 127.0.0.1 is in use by another program; --port selects another one`);
  });
  const { AUTH_ISSUER: url } = issuer.settings;
  await writeFile(urlFile, url, { mode: privateFileMode });
  const settings = Object.entries(issuer.settings).map(([name, value]) => `${name}=${value}`);
  say(`The issuer for trials listens at ${url}; Ctrl-C stops it. Start the services in another terminal:

${settings.join(" ")} npm start

Then sign in to their consoles, http://127.0.0.1:8081/console and http://127.0.0.1:8080/console, or send requests with a
token:

curl -H "Authorization: Bearer $(npm run --silent token -- --scope features:read)" http://127.0.0.1:8080/features/a/b
curl -H "Authorization: Bearer $(npm run --silent token -- --scope ledger:read --account demo)" 'http://127.0.0.1:8081/v1/transaction/?account_id=demo'`);
  await untilStopped(signal);
}

/** A token with all claims of RFC 9068. */
async function sign(claims: JWTPayload, expiresS: number): Promise<string> {
  const key = await readKey();
  if (!key) throw new Error(`there is no ${keyFile}; npm run token -- --serve makes it`);
  const issuer = (await readFile(urlFile, "utf8").catch(() => "")) || "http://127.0.0.1:8090";
  const iat = Math.floor(Date.now() / 1000);
  return signToken(key, {
    ...claims,
    ...{ iss: issuer, aud: audience, sub: "trial", client_id: "trial", jti: randomUUID() },
    ...{ iat, exp: iat + expiresS },
  });
}

/** The key in the file, and what is published of it; undefined if there is no file. */
async function readKey(): Promise<
  (Pick<Key, "kid" | "alg" | "privateKey"> & { published: JWK }) | undefined
> {
  const text = await readFile(keyFile, "utf8").catch((error) => {
    if (error.code !== "ENOENT") throw error;
  });
  if (text === undefined) return undefined;
  try {
    const { crv, x, y, d } = parseJson(text) as Required<JWK>;
    const jwk = { kty: "EC", crv, x, y };
    // Without d it would be a public key.
    if (!d) throw new Error("d is missing");
    const [kid, alg] = [await calculateJwkThumbprint(jwk), "ES256"];
    const privateKey = (await importJWK({ ...jwk, d }, alg)) as Key["privateKey"];
    return { kid, alg, privateKey, published: { ...jwk, kid, alg, use: "sig" } };
  } catch {
    // The error can have a part of the key.
    throw new Error(`${keyFile} has no key; delete it, and npm run token -- --serve makes another one`);
  }
}

async function storeKey() {
  const { privateKey } = await makeKey("trial");
  await writeFile(keyFile, JSON.stringify(await exportJWK(privateKey)), {
    mode: privateFileMode,
    flag: "wx",
  });
  return (await readKey()) as NonNullable<Awaited<ReturnType<typeof readKey>>>;
}
