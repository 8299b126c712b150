import { expect, test } from "vitest";
import { claimsOf, scopesIn, sessionOf } from "./session.ts";

const tokenWith = (claims: object) => {
  const part = (value: object) =>
    btoa(String.fromCharCode(...new TextEncoder().encode(JSON.stringify(value))))
      .replaceAll("+", "-")
      .replaceAll("/", "_")
      .replaceAll("=", "");
  return `${part({ alg: "ES256" })}.${part(claims)}.c2lnbmF0dXJl`;
};
const names = { scopeClaim: "scope", accountsClaim: "accounts" };

test("claims are read from a token, whatever characters they have", () => {
  expect(claimsOf(tokenWith({ sub: "Zoë 💷 ÿÿÿ" }))).toEqual({ sub: "Zoë 💷 ÿÿÿ" });
});

test.each(["", "token", "a.b.c", "a.bnVsbA.c", "....", "a.%%%.c"])("%j is no token", (text) => {
  expect(claimsOf(text)).toBeUndefined();
});

test("scopes are a text or a list", () => {
  expect(scopesIn("ledger:read  ledger:operate ")).toEqual(["ledger:read", "ledger:operate"]);
  expect(scopesIn(["features:read", 17])).toEqual(["features:read"]);
  expect(scopesIn(undefined)).toEqual([]);
});

test("everything is allowed without authentication, and nothing without a token", () => {
  expect(sessionOf(undefined, undefined).can("ledger:operate")).toBe(true);
  expect(sessionOf(names, undefined).can("ledger:read")).toBe(false);
});

test("a token allows its scopes and its accounts", () => {
  const session = sessionOf(names, tokenWith({ scope: "ledger:read", accounts: ["57", "58"] }));
  expect(["ledger:read", "ledger:read:all"].map(session.can)).toEqual([true, false]);
  expect(session.accounts).toEqual(["57", "58"]);
});

test("a token for every account is not limited to its list", () => {
  const token = tokenWith({ permissions: ["ledger:read:all"], accounts: ["57"] });
  expect(sessionOf({ ...names, scopeClaim: "permissions" }, token).accounts).toBeUndefined();
});
