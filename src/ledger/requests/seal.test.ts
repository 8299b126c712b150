import { createHmac } from "node:crypto";
import { xchacha20 } from "@noble/ciphers/chacha.js";
import { expect, test } from "vitest";
import { openNumberSeal, openSeal } from "./seal.ts";

const key = Buffer.alloc(32, 7);
const seal = openSeal(key);

test.each(["", "a", "position of an event ü", "x".repeat(1000)])(
  "a sealed text can be opened: %j",
  (text) => {
    const sealed = seal.close("feed", text);
    expect(seal.open("feed", sealed)).toBe(text);
    expect(seal.close("feed", text)).toBe(sealed);
    expect(seal.open("page", sealed)).toBeUndefined();
    expect(openSeal(Buffer.alloc(32, 8)).open("feed", sealed)).toBeUndefined();
  },
);

test("the length of a sealed text is that of a multiple of 32 bytes", () => {
  const lengthOf = (text: string) => Buffer.from(seal.close("feed", text), "base64url").length;
  expect(["a", "a".repeat(32), "a".repeat(33)].map(lengthOf)).toEqual([56, 56, 88]);
});

test("the code of a text is its HMAC-SHA-256", () => {
  const bytes = Buffer.from(seal.close("feed", "text"), "base64url");
  const hmac = (by: Buffer, text: string) => createHmac("sha256", by).update(text).digest();
  const content = "text".padEnd(32);
  const nonce = hmac(hmac(key, "authentication"), `feed\0${content}`).subarray(0, 24);
  const encrypted = xchacha20(hmac(key, "encryption"), nonce, Buffer.from(content));
  expect(bytes).toEqual(Buffer.concat([nonce, encrypted]));
});

test("a sealed number is another text each time, which only its key and purpose open", () => {
  const numbers = openNumberSeal(key, "position");
  for (const number of [0n, 1n, 2n ** 40n + 123n, 2n ** 48n - 1n]) {
    const sealed = Array.from({ length: 100 }, () => numbers.close(number) ?? "");
    expect(new Set(sealed).size).toBe(100);
    const open = (by: typeof numbers) => new Set(sealed.map((text) => by.open(text)));
    expect(open(openNumberSeal(key, "position"))).toEqual(new Set([number]));
    expect(open(openNumberSeal(key, "feed"))).toEqual(new Set([undefined]));
    expect(open(openNumberSeal(Buffer.alloc(32, 8), "position"))).toEqual(new Set([undefined]));
  }
  expect(numbers.close(2n ** 48n)).toBeUndefined();
});

test("no other text opens as a number", () => {
  const numbers = openNumberSeal(key, "position");
  const sealed = numbers.close(825n) ?? "";
  const bytes = Buffer.from(sealed, "base64url");
  const flipped = Array.from({ length: 128 }, (_, bit) => {
    const copy = Buffer.from(bytes);
    copy[bit >> 3] = (copy[bit >> 3] ?? 0) ^ (1 << (bit & 7));
    return copy.toString("base64url");
  });
  for (const text of [
    "",
    "a",
    `${sealed}=`,
    `${sealed}A`,
    sealed.slice(1),
    `${sealed.slice(0, -1)}-`,
    ...flipped,
  ])
    expect(numbers.open(text), text).toBeUndefined();
});
