import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { makeKey, openIssuer } from "../../testing/issuer.ts";
import { openLog } from "../process/log.ts";
import { KeysUnavailable, tokenReader } from "./tokens.ts";

const minuteMs = 60_000;
const passes = (ms: number) => vi.setSystemTime(Date.now() + ms);
beforeEach(() => void vi.useFakeTimers({ toFake: ["Date"] }));
afterEach(() => void vi.useRealTimers());

async function openReader() {
  const issuer = await openIssuer();
  const { AUTH_JWKS_URL: jwksUrl, AUTH_ISSUER, AUTH_AUDIENCE } = issuer.settings;
  const logged: string[] = [];
  const log = openLog("warn", { write: (line) => logged.push(line) });
  const read = tokenReader({ jwksUrl, issuer: AUTH_ISSUER, audience: AUTH_AUDIENCE }, log);
  return { issuer, read, logged };
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
  await expect(read(signed)).rejects.toThrow("a key of its issuer");
  await expect(read(signed)).rejects.toThrow();
  expect(issuer.fetched()).toBe(2);
  await issuer.publish(second);
  passes(31_000);
  await read(signed);
  await read(await issuer.sign({}));
  expect(issuer.fetched()).toBe(3);
});

describe("while the issuer fails", () => {
  test("it is asked every 30 seconds at most, however many tokens come, and is found again", async () => {
    const { issuer, read, logged } = await openReader();
    await using _ = issuer;
    issuer.answerWith(500);
    const token = await issuer.sign({});
    const storm = async () => {
      for (let round = 0; round < 5; round++) {
        const outcomes = await Promise.allSettled(Array.from({ length: 20 }, () => read(token)));
        for (const outcome of outcomes) {
          expect(outcome).toMatchObject({ status: "rejected", reason: expect.any(KeysUnavailable) });
        }
      }
    };
    await storm();
    passes(29_000);
    await storm();
    expect([issuer.fetched(), logged.length]).toEqual([1, 1]);
    passes(2000);
    await storm();
    expect([issuer.fetched(), logged.length]).toEqual([2, 2]);
    issuer.answerWith(200);
    passes(31_000);
    await read(token);
    expect([issuer.fetched(), logged.length]).toEqual([3, 2]);
  });

  test("the keys that were fetched before decide, until they are too old", async () => {
    const { issuer, read, logged } = await openReader();
    await using _ = issuer;
    await read(await issuer.sign({}));
    issuer.answerWith(500);
    const stranger = await makeKey("stranger");
    passes(31_000);
    for (let round = 0; round < 20; round++) {
      const strange = await issuer.sign({ round }, { by: stranger });
      await expect(read(strange)).rejects.toThrow("a key of its issuer");
      expect((await read(await issuer.sign({ round }))).claims).toMatchObject({ round });
    }
    expect([issuer.fetched(), logged.length]).toEqual([2, 1]);
    passes(9.6 * minuteMs);
    const known = await issuer.sign({});
    await expect(read(known)).rejects.toThrow(KeysUnavailable);
    expect(issuer.fetched()).toBe(3);
    issuer.answerWith(200);
    passes(31_000);
    await read(known);
  });

  test("a key it published meanwhile is known when it is well again", async () => {
    const { issuer, read } = await openReader();
    await using _ = issuer;
    await read(await issuer.sign({}));
    issuer.answerWith(500);
    const second = await makeKey("second");
    await issuer.publish(second);
    const token = await issuer.sign({}, { by: second });
    passes(31_000);
    await expect(read(token)).rejects.toThrow("a key of its issuer");
    issuer.answerWith(200);
    passes(29_000);
    await expect(read(token)).rejects.toThrow("a key of its issuer");
    passes(2000);
    await read(token);
    expect(issuer.fetched()).toBe(3);
  });
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
  await expect(read(token)).rejects.toThrow("a key of its issuer");
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
