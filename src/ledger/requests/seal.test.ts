import { createHmac } from "node:crypto";
import { xchacha20 } from "@noble/ciphers/chacha.js";
import { expect, test } from "vitest";
import { openSeal } from "./seal.ts";

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
