import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { makeKey, openIssuer } from "./issuer.fixture.ts";
import { tokenReader } from "./tokens.ts";

const minuteMs = 60_000;
const passes = (ms: number) => vi.setSystemTime(Date.now() + ms);
beforeEach(() => void vi.useFakeTimers({ toFake: ["Date"] }));
afterEach(() => void vi.useRealTimers());

async function openReader() {
  const issuer = await openIssuer();
  const { AUTH_JWKS_URL: jwksUrl, AUTH_ISSUER, AUTH_AUDIENCE } = issuer.settings;
  return { issuer, read: tokenReader({ jwksUrl, issuer: AUTH_ISSUER, audience: AUTH_AUDIENCE }) };
}

test("keys are fetched when the first token is read, and not again for every token", async () => {
  const { issuer, read } = await openReader();
  await using _ = issuer;
  expect(issuer.fetched()).toBe(0);
  for (const sub of ["a", "b", "a"]) {
    expect((await read(await issuer.sign({ sub }))).claims).toMatchObject({ sub });
  }
  await expect(read("a.b.c")).rejects.toThrow();
  expect(issuer.fetched()).toBe(1);
});

test("a new key is found, and a stranger's does not make every request a fetch", async () => {
  const { issuer, read } = await openReader();
  await using _ = issuer;
  await read(await issuer.sign({}));
  const second = await makeKey("second");
  const signed = await issuer.sign({}, { by: second });
  passes(31_000);
  await expect(read(signed)).rejects.toThrow("a key that its issuer publishes");
  await expect(read(signed)).rejects.toThrow();
  expect(issuer.fetched()).toBe(2);
  await issuer.publish(second);
  passes(31_000);
  await read(signed);
  await read(await issuer.sign({}));
  expect(issuer.fetched()).toBe(3);
});

test("a key that is withdrawn is good for ten minutes and one at the most", async () => {
  const { issuer, read } = await openReader();
  await using _ = issuer;
  const token = await issuer.sign({});
  await read(token);
  issuer.withdraw(issuer.key);
  passes(9.9 * minuteMs);
  await read(token);
  passes(0.9 * minuteMs);
  await read(token);
  passes(0.2 * minuteMs);
  await expect(read(token)).rejects.toThrow("a key that its issuer publishes");
});

test("a token is remembered until it expires, however often it is read", async () => {
  const { issuer, read } = await openReader();
  await using _ = issuer;
  const token = await issuer.sign({ exp: Math.floor(Date.now() / 1000) + 30 });
  await read(token);
  passes(28_000);
  await read(token);
  passes(3000);
  await expect(read(token)).rejects.toThrow("the token has expired");
});

test("a thousand tokens are remembered, the newest", async () => {
  const { issuer, read } = await openReader();
  await using _ = issuer;
  const tokens: string[] = [];
  for (let number = 0; number <= 1000; number += 1) tokens.push(await issuer.sign({ sub: String(number) }));
  await read(tokens[0] as string);
  passes(9.9 * minuteMs);
  for (const token of tokens) await read(token);
  issuer.withdraw(issuer.key);
  passes(0.5 * minuteMs);
  const known = await Promise.allSettled(tokens.map(read));
  expect(known.map(({ status }) => status)).toEqual([
    "rejected",
    ...Array.from({ length: 1000 }, () => "fulfilled"),
  ]);
});
