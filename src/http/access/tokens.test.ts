import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { makeKey, openIssuer } from "../../../testing/issuer.ts";
import { openLog } from "../../process/log.ts";
import { KeysUnavailable, tokenReader } from "./tokens.ts";

const minuteMs = 60_000;
const advanceTime = (ms: number) => vi.setSystemTime(Date.now() + ms);
let issuer: Awaited<ReturnType<typeof openIssuer>>;
let read: ReturnType<typeof tokenReader>;
let logged: string[];
beforeEach(async () => {
  vi.useFakeTimers({ toFake: ["Date"] });
  issuer = await openIssuer();
  const { AUTH_JWKS_URL: jwksUrl, AUTH_ISSUER, AUTH_AUDIENCE } = issuer.settings;
  const names = { issuer: AUTH_ISSUER, audience: AUTH_AUDIENCE, scopeClaim: "scope" };
  logged = [];
  const log = openLog("warn", { write: (line) => logged.push(line) });
  read = tokenReader({ jwksUrl, tokenType: "at+jwt", ...names }, log);
});
afterEach(async () => {
  vi.useRealTimers();
  await issuer[Symbol.asyncDispose]();
});

test("keys are fetched for the first token and not again for each token", async () => {
  expect(issuer.fetchCount()).toBe(0);
  for (const sub of ["a", "b", "a"]) {
    expect((await read(await issuer.sign({ sub }))).claims).toMatchObject({ sub });
  }
  await expect(read("a.b.c")).rejects.toThrow();
  expect(issuer.fetchCount()).toBe(1);
});

test("a new key is fetched; tokens with an unknown key cause a fetch every 30 seconds at most", async () => {
  await read(await issuer.sign({}));
  const second = await makeKey("second");
  const signed = await issuer.sign({}, { by: second });
  advanceTime(31_000);
  await expect(read(signed)).rejects.toThrow("a key of its issuer");
  await expect(read(signed)).rejects.toThrow();
  expect(issuer.fetchCount()).toBe(2);
  await issuer.publish(second);
  advanceTime(31_000);
  await read(signed);
  await read(await issuer.sign({}));
  expect(issuer.fetchCount()).toBe(3);
});

describe("while the issuer fails", () => {
  test("keys are fetched every 30 seconds at most, for any number of tokens, until it recovers", async () => {
    issuer.respondWith(500);
    const token = await issuer.sign({});
    const readMany = async () => {
      for (let round = 0; round < 5; round++) {
        const outcomes = await Promise.allSettled(Array.from({ length: 20 }, () => read(token)));
        for (const outcome of outcomes) {
          expect(outcome).toMatchObject({ status: "rejected", reason: expect.any(KeysUnavailable) });
        }
      }
    };
    await readMany();
    advanceTime(29_000);
    await readMany();
    expect([issuer.fetchCount(), logged.length]).toEqual([1, 1]);
    advanceTime(2000);
    await readMany();
    expect([issuer.fetchCount(), logged.length]).toEqual([2, 1]);
    issuer.respondWith(200);
    advanceTime(31_000);
    await read(token);
    expect([issuer.fetchCount(), logged.length]).toEqual([3, 1]);
  });

  test("the last fetched keys are used until they are ten minutes old", async () => {
    await read(await issuer.sign({}));
    issuer.respondWith(500);
    const unknownKey = await makeKey("unknown");
    advanceTime(31_000);
    for (let round = 0; round < 20; round++) {
      const untrusted = await issuer.sign({ round }, { by: unknownKey });
      await expect(read(untrusted)).rejects.toThrow("a key of its issuer");
      expect((await read(await issuer.sign({ round }))).claims).toMatchObject({ round });
    }
    expect([issuer.fetchCount(), logged.length]).toEqual([2, 1]);
    advanceTime(9.6 * minuteMs);
    const known = await issuer.sign({});
    await expect(read(known)).rejects.toThrow(KeysUnavailable);
    expect(issuer.fetchCount()).toBe(3);
    issuer.respondWith(200);
    advanceTime(31_000);
    await read(known);
  });

  test("a key that it publishes is used after it recovers", async () => {
    await read(await issuer.sign({}));
    issuer.respondWith(500);
    const second = await makeKey("second");
    await issuer.publish(second);
    const token = await issuer.sign({}, { by: second });
    advanceTime(31_000);
    await expect(read(token)).rejects.toThrow("a key of its issuer");
    issuer.respondWith(200);
    advanceTime(29_000);
    await expect(read(token)).rejects.toThrow("a key of its issuer");
    advanceTime(2000);
    await read(token);
    expect(issuer.fetchCount()).toBe(3);
  });
});

test("a withdrawn key is valid for eleven minutes at most", async () => {
  const token = await issuer.sign({});
  await read(token);
  issuer.withdraw(issuer.key);
  advanceTime(9.9 * minuteMs);
  await read(token);
  advanceTime(0.9 * minuteMs);
  await read(token);
  advanceTime(0.2 * minuteMs);
  await expect(read(token)).rejects.toThrow("a key of its issuer");
});

test("a cached token is rejected once it has expired", async () => {
  const token = await issuer.sign({ exp: Math.floor(Date.now() / 1000) + 30 });
  await read(token);
  advanceTime(28_000);
  await read(token);
  advanceTime(3000);
  await expect(read(token)).rejects.toThrow("the token has expired");
});

test("the newest 1000 tokens are cached", async () => {
  const tokens: string[] = [];
  for (let number = 0; number <= 1000; number += 1) tokens.push(await issuer.sign({ sub: String(number) }));
  await read(tokens[0] as string);
  advanceTime(9.9 * minuteMs);
  for (const token of tokens) await read(token);
  issuer.withdraw(issuer.key);
  advanceTime(0.5 * minuteMs);
  const known = await Promise.allSettled(tokens.map(read));
  expect(known.map(({ status }) => status === "fulfilled")).toEqual(tokens.map((_, index) => index > 0));
});
