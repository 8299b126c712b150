import { mkdirSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { decodeJwt, decodeProtectedHeader, exportJWK, generateKeyPair } from "jose";
import { request } from "undici";
import { expect, test } from "vitest";
import { eventually } from "../testing/eventually.ts";
import { freePort } from "../testing/free-port.ts";
import { newFolder, run } from "../testing/run.ts";

const program = "scripts/token.ts";
const runToken = (folder: string, ...args: string[]) => run(program, { folder, args });

async function tokenOf(folder: string, ...args: string[]): Promise<string> {
  const { code, output, errors } = await runToken(folder, ...args).exit;
  expect([code, errors]).toEqual([0, ""]);
  expect(output).toMatch(/^[\w-]+\.[\w-]+\.[\w-]+\n$/);
  return output.trim();
}

/** Starts the issuer in a folder. Returns the settings that it prints. */
async function startIssuer(folder: string) {
  const issuer = runToken(folder, "--serve", "--port", "0");
  await issuer.waitForOutput("npm start");
  const settings = Object.fromEntries(
    [...issuer.output().matchAll(/(AUTH_\w+)=(\S+)/g)].map(([, name = "", value = ""]) => [name, value]),
  );
  return { issuer, settings };
}

test("services with the printed settings accept the tokens for their scopes and accounts", async () => {
  const folder = newFolder();
  const { issuer, settings } = await startIssuer(folder);
  const [ledgerPort, featuresPort] = [await freePort(), await freePort()];
  const ports = { LEDGER_PORT: String(ledgerPort), FEATURES_PORT: String(featuresPort) };
  const engines = { QUEUE_URL: "memory:", FEATURES_STORE_URL: "memory:" };
  const services = run("src/main.ts", { folder, env: { ...settings, ...ports, ...engines } });
  await eventually(() => expect(services.output().match(/listening/g)).toHaveLength(2));

  const ledger = `http://127.0.0.1:${ledgerPort}/v1/transaction/?account_id=57`;
  const features = `http://127.0.0.1:${featuresPort}/features/a/b`;
  async function statuses(...args: string[]) {
    const headers = args.length > 0 && { authorization: `Bearer ${await tokenOf(folder, ...args)}` };
    const responses = [ledger, features].map(async (url) => {
      const { statusCode, body } = await request(url, { headers: headers || {} });
      await body.dump();
      return statusCode;
    });
    return Promise.all(responses);
  }
  expect(await statuses()).toEqual([401, 401]);
  expect(await statuses("--scope", "features:read")).toEqual([403, 200]);
  expect(await statuses("--scope", "ledger:read")).toEqual([403, 403]);
  expect(await statuses("--scope", "ledger:read", "--account", "58")).toEqual([403, 403]);
  expect(
    await statuses("--scope", "ledger:read features:read", "--account", "57", "--account", "58"),
  ).toEqual([200, 200]);
  expect(await statuses("--scope", "ledger:read:all")).toEqual([200, 403]);

  // While the services still have a connection.
  issuer.child.kill("SIGINT");
  expect(await issuer.exit).toMatchObject({ code: 0, errors: "" });
  services.child.kill("SIGTERM");
  expect((await services.exit).code).toBe(0);
});

test("the issuer publishes no private key, and keeps it in a file that others cannot read", async () => {
  const folder = newFolder();
  const { issuer, settings } = await startIssuer(folder);
  const keysIn = async ({ AUTH_JWKS_URL = "" }: Record<string, string>) =>
    ((await (await fetch(AUTH_JWKS_URL)).json()) as { keys: Record<string, string>[] }).keys;
  const [key, ...others] = await keysIn(settings);
  expect(Object.keys(key ?? {}).sort()).toEqual(["alg", "crv", "kid", "kty", "use", "x", "y"]);
  expect(others).toEqual([]);
  expect((await fetch(new URL("/other", settings.AUTH_JWKS_URL))).status).toBe(404);
  expect(statSync(join(folder, "data/issuer/key-for-trials.json")).mode & 0o777).toBe(0o600);

  const again = await startIssuer(folder);
  expect(await keysIn(again.settings)).toEqual([key]);
  const another = await startIssuer(newFolder());
  expect((await keysIn(another.settings))[0]?.kid).not.toBe(key?.kid);
  for (const { child, exit } of [issuer, again.issuer, another.issuer]) {
    child.kill("SIGTERM");
    expect((await exit).code).toBe(0);
  }
});

test("a token has the claims of RFC 9068 and the given expiry time", async () => {
  const folder = newFolder();
  const { issuer, settings } = await startIssuer(folder);
  const token = await tokenOf(folder, "--scope", " ledger:read  features:write", "--expires", "60");
  const claims = decodeJwt(token);
  expect(claims).toEqual({
    iss: settings.AUTH_ISSUER,
    aud: settings.AUTH_AUDIENCE,
    scope: "ledger:read features:write",
    sub: "trial",
    client_id: "trial",
    jti: expect.any(String),
    iat: expect.any(Number),
    exp: Number(claims.iat) + 60,
  });
  expect(decodeProtectedHeader(token)).toMatchObject({ typ: "at+jwt", alg: "ES256" });
  issuer.child.kill("SIGTERM");
  await issuer.exit;
});

const expected = "expected --serve, perhaps with --port, or --scope, perhaps with --account and --expires";
test.concurrent.each<[string[], string]>([
  [[], expected],
  [["--serve", "--scope", "ledger:read"], expected],
  [["--scope", "ledger:read", "--port", "8090"], expected],
  [["--account", "57"], expected],
  [
    ["--scope", "ledger:reed"],
    "--scope must be some of features:read, features:write, ledger:operate, ledger:read, ledger:read:all, ledger:write, with spaces between them",
  ],
  [["--scope", " "], "--scope must be some of"],
  [["--scope", "ledger:read", "--account", ""], "--account must not be empty"],
  ...["0", "-1", "1.5", "86401", "1e3", "soon"].map((text): [string[], string] => [
    ["--scope", "ledger:read", `--expires=${text}`],
    "--expires must be a whole number of seconds from 1 to 86400",
  ]),
  [["--serve", "--port", "65536"], "--port must be a whole number from 0 to 65535"],
  [["--serves"], "'--serves'"],
  [["serve"], "'serve'"],
])("%j is a wrong argument", async (args, message) => {
  const { code, output, errors } = await runToken(newFolder(), ...args).exit;
  expect([code, output]).toEqual([2, ""]);
  expect(errors).toContain(`token: `);
  expect(errors).toContain(message);
  expect(errors.trim().split("\n")).toHaveLength(1);
});

test("a port in use, a missing key and a damaged key are errors of one line", async () => {
  await using server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  expect(await runToken(newFolder(), "--serve", "--port", String(port)).exit).toMatchObject({
    code: 1,
    errors: `token: port ${port} of 127.0.0.1 is in use by another program; --port selects another one\n`,
  });
  const folder = newFolder();
  const file = "./data/issuer/key-for-trials.json";
  expect(await runToken(folder, "--scope", "ledger:read").exit).toMatchObject({
    code: 1,
    errors: `token: there is no ${file}; npm run token -- --serve makes it\n`,
  });
  mkdirSync(join(folder, "data/issuer"), { recursive: true });
  const publicKey = await exportJWK((await generateKeyPair("ES256")).publicKey);
  for (const text of [
    "",
    '{"kty":"EC","d":"secret',
    "{}",
    '{"kty":"oct","k":"c2VjcmV0"}',
    JSON.stringify(publicKey),
  ]) {
    writeFileSync(join(folder, file), text);
    for (const args of [
      ["--serve", "--port", "0"],
      ["--scope", "ledger:read"],
    ]) {
      expect(await runToken(folder, ...args).exit).toMatchObject({
        code: 1,
        errors: `token: ${file} has no key; delete it, and npm run token -- --serve makes another one\n`,
      });
    }
  }
});
