import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  createSecretKey,
  randomInt,
  timingSafeEqual,
} from "node:crypto";
import { xchacha20 } from "@noble/ciphers/chacha.js";

const nonceLength = 24;
/** Texts are padded to a multiple of this, since a length tells how large a number is. */
const paddedLength = 32;

/**
 * Makes texts opaque: only who has the key, of 32 bytes, can read or make them. Encrypts by XChaCha20 with the authentication
 * code of the text as its nonce: the construction of RFC 5297 ("synthetic IV").
 */
export function openSeal(key: Uint8Array) {
  const derive = hmacWith(key);
  const encryptionKey = derive("encryption");
  const authenticate = hmacWith(derive("authentication"));
  const nonceOf = (purpose: string, content: Uint8Array) =>
    authenticate(`${purpose}\0`, content).subarray(0, nonceLength);
  return {
    /** The same text of base64url for the same text. */
    close(purpose: string, text: string): string {
      const length = Math.ceil(Buffer.byteLength(text) / paddedLength) * paddedLength;
      const content = Buffer.alloc(length, " ");
      content.write(text);
      const nonce = nonceOf(purpose, content);
      return Buffer.concat([nonce, xchacha20(encryptionKey, nonce, content)]).toString("base64url");
    },
    /** The text; undefined if `close` has not made the sealed text for this purpose, with this key. */
    open(purpose: string, sealed: string): string | undefined {
      const bytes = Buffer.from(sealed, "base64url");
      // The last character can have bits that are in no byte.
      if (bytes.length < nonceLength || bytes.toString("base64url") !== sealed) return undefined;
      const nonce = bytes.subarray(0, nonceLength);
      const content = xchacha20(encryptionKey, nonce, bytes.subarray(nonceLength));
      return timingSafeEqual(nonce, nonceOf(purpose, content))
        ? Buffer.from(content).toString().trimEnd()
        : undefined;
    },
  };
}

/** The bytes of a block: a number, a count that makes each block another one, and zeros. */
const block = { bytes: 16, numberBytes: 6, count: 6, zeros: 10 };

/**
 * Makes numbers below 2^48 opaque, in a tenth of the time that a text takes: each is in one block of AES-256, another one each
 * time. What the key has not made has no zeros in its block, but for one in 2^48 ("encode then encipher", Bellare and Rogaway).
 */
export function openNumberSeal(key: Uint8Array, purpose: string) {
  const secret = createSecretKey(hmacWith(key)(purpose));
  // A block depends on no other one, so each object serves for all of them.
  const encryption = createCipheriv("aes-256-ecb", secret, null).setAutoPadding(false);
  const decryption = createDecipheriv("aes-256-ecb", secret, null).setAutoPadding(false);
  let count = randomInt(2 ** 32);
  return {
    /** Undefined for a larger number. */
    close(number: bigint): string | undefined {
      if (number >= 2n ** 48n) return undefined;
      const bytes = Buffer.alloc(block.bytes);
      bytes.writeUIntBE(Number(number), 0, block.numberBytes);
      count = (count + 1) % 2 ** 32;
      bytes.writeUInt32BE(count, block.count);
      return encryption.update(bytes).toString("base64url");
    },
    /** Undefined if `close` has not made the text. */
    open(sealed: string): bigint | undefined {
      const bytes = Buffer.from(sealed, "base64url");
      if (bytes.length !== block.bytes || bytes.toString("base64url") !== sealed) return undefined;
      const opened = decryption.update(bytes);
      return opened.readUIntBE(block.zeros, block.bytes - block.zeros) === 0
        ? BigInt(opened.readUIntBE(0, block.numberBytes))
        : undefined;
    },
  };
}

function hmacWith(key: Uint8Array) {
  const secret = createSecretKey(key);
  return (text: string, content: Uint8Array = new Uint8Array()): Buffer =>
    createHmac("sha256", secret).update(text).update(content).digest();
}
