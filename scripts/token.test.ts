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

const runToken = (folder: string, ...args: string[]) => run("scripts/token.ts", { folder, args });

async function tokenOf(folder: string, ...args: string[]): Promise<string> {
  const { code, output, errors } = await runToken(folder, ...args).exit;
  expect([code, errors]).toEqual([0, ""]);
  expect(output).toMatch(/^[\w-]+\.[\w-]+\.[\w-]+\n$/);
  return output.trim();
}

/** Starts the issuer in a folder. Returns the settings that it prints, and its public keys. */
async function startIssuer(folder: string) {
  const { child, exit, output, waitForOutput } = runToken(folder, "--serve", "--port", "0");
  await waitForOutput("npm start");
  const settings: Record<string, string> = Object.fromEntries(
    [...output().matchAll(/(AUTH_\w+)=(\S+)/g)].map(([, name = "", value = ""]) => [name, value]),
  );
  const published = await (await fetch(settings.AUTH_JWKS_URL ?? "")).json();
  const stop = async (signal: NodeJS.Signals) => {
    child.kill(signal);
    expect(await exit).toMatchObject({ code: 0, errors: "" });
  };
  return { settings, stop, keys: (published as { keys: Record<string, string>[] }).keys };
}

test("services with the printed settings accept the tokens for their scopes and accounts", async () => {
  const folder = newFolder();
  const { settings, stop } = await startIssuer(folder);
  const [ledgerPort, featuresPort] = [String(await freePort()), String(await freePort())];
  const ports = { LEDGER_PORT: ledgerPort, FEATURES_PORT: featuresPort };
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
  const read = ["--scope", "ledger:read"];
  const both = ["--scope", "ledger:read features:read", "--account", "57", "--account", "58"];
  expect(await statuses()).toEqual([401, 401]);
  expect(await statuses("--scope", "features:read")).toEqual([403, 200]);
  expect(await statuses(...read)).toEqual([403, 403]);
  expect(await statuses(...read, "--account", "58")).toEqual([403, 403]);
  expect(await statuses(...both)).toEqual([200, 200]);
  expect(await statuses("--scope", "ledger:read:all")).toEqual([200, 403]);

  // While the services still have a connection.
  await stop("SIGINT");
  services.child.kill("SIGTERM");
  expect((await services.exit).code).toBe(0);
});

test("the issuer publishes no private key and keeps it in a file that others cannot read", async () => {
  const folder = newFolder();
  const first = await startIssuer(folder);
  const [key] = first.keys;
  expect(first.keys.map((one) => Object.keys(one).sort())).toEqual([
    ["alg", "crv", "kid", "kty", "use", "x", "y"],
  ]);
  expect((await fetch(new URL("/other", first.settings.AUTH_JWKS_URL))).status).toBe(404);
  expect(statSync(join(folder, "data/issuer/key-for-trials.json")).mode & 0o777).toBe(0o600);

  const again = await startIssuer(folder);
  expect(again.keys).toEqual([key]);
  const another = await startIssuer(newFolder());
  expect(another.keys[0]?.kid).not.toBe(key?.kid);
  const token = await tokenOf(folder, "--scope", " ledger:read  features:write", "--expires", "60");
  expect(decodeProtectedHeader(token)).toEqual({ typ: "at+jwt", alg: "ES256", kid: key?.kid });
  const claims = decodeJwt(token);
  // Those of RFC 9068, of the issuer that was started last in the folder.
  expect(claims).toEqual({
    ...{ iss: again.settings.AUTH_ISSUER, aud: again.settings.AUTH_AUDIENCE },
    ...{ scope: "ledger:read features:write", sub: "trial", client_id: "trial" },
    ...{ jti: expect.any(String), iat: expect.any(Number), exp: Number(claims.iat) + 60 },
  });
  for (const { stop } of [first, again, another]) await stop("SIGTERM");
});

const expected = "expected --serve, perhaps with --port, or --scope, perhaps with --account and --expires";
const scopes =
  "features:read, features:write, ledger:audit, ledger:operate, ledger:read, ledger:read:all, ledger:write";
const whole = "--expires must be a whole number of seconds from 1 to 86400";
test.concurrent.each<[args: string[], message: string]>([
  [[], expected],
  [["--serve", "--scope", "ledger:read"], expected],
  [["--scope", "ledger:read", "--port", "8090"], expected],
  [["--account", "57"], expected],
  [["--scope", "ledger:reed"], `--scope must be some of ${scopes}, with spaces`],
  [["--scope", " "], "--scope must be some of"],
  [["--scope", "ledger:read", "--account", ""], "--account must not be empty"],
  ...["0", "-1", "1.5", "86401", "1e3", "soon"].map((text): [string[], string] => [
    ["--scope", "ledger:read", `--expires=${text}`],
    whole,
  ]),
  [["--serve", "--port", "65536"], "--port must be a whole number from 0 to 65535"],
  [["--serves"], "'--serves'"],
  [["serve"], "'serve'"],
])("%j is a wrong argument", async (args, message) => {
  const { code, output, errors } = await runToken(newFolder(), ...args).exit;
  expect([code, output]).toEqual([2, ""]);
  expect(errors).toMatch(/^token: .*\n$/);
  expect(errors).toContain(message);
});

test("a port in use, a missing key and a damaged key are errors of one line", async () => {
  const fails = async (folder: string, args: string[], message: string) =>
    expect(await runToken(folder, ...args).exit).toMatchObject({ code: 1, errors: `token: ${message}\n` });
  await using server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const inUse = `port ${port} of 127.0.0.1 is in use by another program; --port selects another one`;
  await fails(newFolder(), ["--serve", "--port", String(port)], inUse);
  const [folder, file] = [newFolder(), "./data/issuer/key-for-trials.json"];
  const sign = ["--scope", "ledger:read"];
  await fails(folder, sign, `there is no ${file}; npm run token -- --serve makes it`);
  mkdirSync(join(folder, "data/issuer"), { recursive: true });
  const publicKey = JSON.stringify(await exportJWK((await generateKeyPair("ES256")).publicKey));
  for (const text of ["", '{"kty":"EC","d":"secret', "{}", '{"kty":"oct","k":"c2VjcmV0"}', publicKey]) {
    writeFileSync(join(folder, file), text);
    const damaged = `${file} has no key; delete it, and npm run token -- --serve makes another one`;
    for (const args of [["--serve", "--port", "0"], sign]) await fails(folder, args, damaged);
  }
});
