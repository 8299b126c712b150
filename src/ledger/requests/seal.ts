import { hash, timingSafeEqual } from "node:crypto";
import { xchacha20 } from "@noble/ciphers/chacha.js";

const nonceLength = 24;
/** Texts are padded to a multiple of this, since a length tells how large a number is. */
const paddedLength = 32;

/**
 * Makes texts opaque: only who has the key can read or make them. Encrypts by XChaCha20 with the authentication code of the text as its nonce: the construction of RFC 5297 ("synthetic IV").
 * The key has 32 bytes.
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

/** HMAC-SHA-256 (RFC 2104). For a text as short as a cursor, `createHmac` takes six times as long. */
function hmacWith(key: Uint8Array) {
  const padded = (byte: number) => Buffer.alloc(64, byte).map((pad, index) => pad ^ (key[index] ?? 0));
  const [inner, outer] = [padded(0x36), padded(0x5c)];
  return (text: string, ...rest: Uint8Array[]) => {
    const digest = hash("sha256", Buffer.concat([inner, Buffer.from(text), ...rest]), "buffer");
    return hash("sha256", Buffer.concat([outer, digest]), "buffer");
  };
}
