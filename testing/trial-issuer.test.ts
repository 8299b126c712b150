import { createHash } from "node:crypto";
import { decodeJwt, exportJWK } from "jose";
import { request } from "undici";
import { afterAll, beforeAll, expect, test } from "vitest";
import { makeKey } from "./issuer.ts";
import { openTrialIssuer } from "./trial-issuer.ts";

let issuer: Awaited<ReturnType<typeof openTrialIssuer>>;
beforeAll(async () => {
  const { publicKey, ...key } = await makeKey("trial");
  const published = await exportJWK(publicKey);
  const trial = { key: { ...key, published }, clientId: "console", audience: "services" };
  issuer = await openTrialIssuer({ ...trial, scopes: ["ledger:read", "features:read"] });
});
afterAll(() => issuer[Symbol.asyncDispose]());

const page = "http://localhost:8081/console";
const verifier = "v".repeat(43);
const requested = {
  ...{ client_id: "console", redirect_uri: page, response_type: "code", state: "s", nonce: "n" },
  ...{
    code_challenge: createHash("sha256").update(verifier).digest("base64url"),
    code_challenge_method: "S256",
  },
};
const chosen = { ...requested, choice: "sign-in", allow: "ledger:read", accounts: "57, 58" };

async function post(path: string, form: Record<string, string>, headers: Record<string, string> = {}) {
  const {
    statusCode,
    headers: received,
    body,
  } = await request(issuer.settings.AUTH_ISSUER + path, {
    method: "POST",
    headers: { "content-type": "application/x-www-form-urlencoded", ...headers },
    body: String(new URLSearchParams(form)),
  });
  const text = await body.text();
  return { status: statusCode, headers: received, body: text.startsWith("{") ? JSON.parse(text) : text };
}

async function newCode() {
  const { status, headers } = await post("/authorize", chosen);
  expect(status).toBe(303);
  return new URL(String(headers.location)).searchParams.get("code") ?? "";
}
const exchange = (code: string, more: object = {}) =>
  post("/token", {
    ...{ grant_type: "authorization_code", client_id: "console", redirect_uri: page, code },
    ...{ code_verifier: verifier, ...more },
  });
const renew = (refresh_token: string) =>
  post("/token", { grant_type: "refresh_token", client_id: "console", refresh_token });
const invalid = { status: 400, body: { error: "invalid_grant" } };

test("a code is good for one token with what the reader has chosen, and a refresh token for the next", async () => {
  const code = await newCode();
  const { status, body } = await exchange(code);
  expect(status).toBe(200);
  expect(decodeJwt(body.access_token)).toMatchObject({ scope: "ledger:read", accounts: ["57", "58"] });
  expect(decodeJwt(body.id_token)).toMatchObject({ aud: "console", nonce: "n" });
  expect(await exchange(code)).toMatchObject(invalid);
  const { body: renewed } = await renew(body.refresh_token);
  expect(decodeJwt(renewed.access_token)).toMatchObject({ scope: "ledger:read", accounts: ["57", "58"] });
  expect(await renew(body.refresh_token)).toMatchObject(invalid);
});

test.each([
  { code_verifier: "w".repeat(43) },
  { redirect_uri: "http://localhost:8080/console" },
  { code: "x" },
])("a code is good for the page that began, and no other: %j", async (more) => {
  expect(await exchange(await newCode(), more)).toMatchObject(invalid);
});

test.each([
  ["redirect_uri", "https://localhost/console"],
  ["redirect_uri", "http://attacker.example/console"],
  ["redirect_uri", "http://localhost/console?next=x"],
  ["redirect_uri", "http://localhost/other"],
  ["client_id", "other"],
  ["code_challenge_method", "plain"],
  ["response_type", "token"],
])("no response is sent for a request whose %s is %s", async (name, value) => {
  expect((await post("/authorize", { ...chosen, [name]: value })).status).toBe(400);
  const search = new URLSearchParams({ ...requested, [name]: value });
  expect((await fetch(`${issuer.settings.AUTH_ISSUER}/authorize?${search}`)).status).toBe(400);
});

test("pages of other origins get no token and make no choice", async () => {
  const origin = "https://attacker.example";
  expect((await post("/authorize", chosen, { origin })).status).toBe(403);
  expect((await post("/authorize", chosen, { origin: "http://127.0.0.1:1" })).status).toBe(403);
  expect((await post("/token", {}, { origin })).status).toBe(403);
  expect((await post("/token", {}, { host: "attacker.example" })).status).toBe(421);
  const { headers } = await post("/token", {}, { origin: "http://localhost:8081" });
  expect(headers["access-control-allow-origin"]).toBe("http://localhost:8081");
  expect((await post("/authorize", { a: "b".repeat(20_000) })).status).toBe(400);
});
