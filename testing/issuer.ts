import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import {
  base64url,
  type CryptoKey,
  exportJWK,
  exportSPKI,
  generateKeyPair,
  type JWK,
  type JWTPayload,
  SignJWT,
} from "jose";
import { openAuthentication } from "../src/http/authentication.ts";
import { openLog } from "../src/process/log.ts";

/** A pair of keys, and how it is called. */
export interface Key {
  kid: string;
  alg: string;
  publicKey: CryptoKey;
  privateKey: CryptoKey;
}

export async function makeKey(kid: string, alg = "ES256"): Promise<Key> {
  return { kid, alg, ...(await generateKeyPair(alg, { extractable: true })) };
}

export const nowS = () => Math.floor(Date.now() / 1000);

/** An issuer of tokens, which publishes its keys on loopback, and the security of a service that trusts it. */
export async function openIssuer(...keys: Key[]) {
  const published: JWK[] = [];
  const publish = async (...more: Key[]) => {
    for (const { kid, alg, publicKey } of more) published.push({ ...(await exportJWK(publicKey)), kid, alg });
  };
  const withdraw = ({ kid }: Key) => {
    published.splice(0, published.length, ...published.filter((one) => one.kid !== kid));
  };
  const [key = await makeKey("first"), ...others] = keys;
  await publish(key, ...others);
  let fetched = 0;
  let status = 200;
  const server = createServer((_request, response) => {
    fetched += 1;
    response.statusCode = status;
    response.setHeader("content-type", "application/jwk-set+json").end(JSON.stringify({ keys: published }));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const settings = {
    AUTH_JWKS_URL: new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/keys`),
    AUTH_ISSUER: "https://issuer.test/",
    AUTH_AUDIENCE: "https://services.test/",
  };
  const claimed = (claims: JWTPayload): JWTPayload => ({
    iss: settings.AUTH_ISSUER,
    aud: settings.AUTH_AUDIENCE,
    exp: nowS() + 3600,
    ...claims,
  });
  const sign = (claims: JWTPayload, { header = {}, by = key }: { header?: object; by?: Key } = {}) =>
    new SignJWT(claimed(claims))
      .setProtectedHeader({ alg: by.alg, kid: by.kid, typ: "at+jwt", ...header })
      .sign(by.privateKey);

  return {
    settings,
    security: openAuthentication(settings, openLog("silent")),
    key,
    publish,
    withdraw,
    /** From now on the keys are answered with this status. */
    answerWith(given: number) {
      status = given;
    },
    /** How often the keys were fetched. */
    fetched: () => fetched,
    /** A token that is good but for what the claims and the rest make of it; an undefined claim is left out. */
    sign,
    /** Tokens that must not pass, whatever they claim. */
    async forgeries(claims: JWTPayload): Promise<Record<string, string>> {
      const good = await sign(claims);
      const [header = "", , signature = ""] = good.split(".");
      const encode = (value: object) => base64url.encode(JSON.stringify(value));
      const none = encode({ alg: "none", typ: "at+jwt" });
      const secret = new TextEncoder().encode(await exportSPKI(key.publicKey));
      const stranger = await makeKey("stranger", key.alg);
      return {
        "that is no JWT": "nonsense",
        "that is two tokens": `${good} ${good}`,
        "that has expired": await sign({ ...claims, exp: nowS() - 1 }),
        "that is not valid yet": await sign({ ...claims, nbf: nowS() + 60 }),
        "of another issuer": await sign({ ...claims, iss: "https://other.test/" }),
        "for another audience": await sign({ ...claims, aud: ["https://other.test/"] }),
        "without issuer": await sign({ ...claims, iss: undefined }),
        "without audience": await sign({ ...claims, aud: undefined }),
        "that never expires": await sign({ ...claims, exp: undefined }),
        "that expires at no time": await sign({ ...claims, exp: "never" as never }),
        "that is unsigned": `${none}.${encode(claimed(claims))}.`,
        "that is unsigned, with a signature": `${none}.${encode(claimed(claims))}.${signature}`,
        "signed by HS256 with the public key": await new SignJWT(claimed(claims))
          .setProtectedHeader({ alg: "HS256", kid: key.kid, typ: "at+jwt" })
          .sign(secret),
        "signed with a key nobody published": await sign(claims, { by: stranger }),
        "signed with another key under the name of a good one": await sign(claims, {
          by: { ...stranger, kid: key.kid },
        }),
        "with a key of its own": await sign(claims, {
          by: stranger,
          header: { jwk: await exportJWK(stranger.publicKey), kid: undefined, alg: stranger.alg },
        }),
        "whose claims were changed": `${header}.${encode(claimed({ ...claims, sub: "x" }))}.${signature}`,
        "that is an identity token": await sign(claims, { header: { typ: "JWT" } }),
        "without a type": await sign(claims, { header: { typ: undefined } }),
        "with a critical extension nobody knows": `${encode({ alg: key.alg, kid: key.kid, typ: "at+jwt", crit: ["odd"], odd: 1 })}.${encode(claimed(claims))}.${signature}`,
      };
    },
    close: () => server[Symbol.asyncDispose](),
    [Symbol.asyncDispose]: async () => {
      if (server.listening) await server[Symbol.asyncDispose]();
    },
  };
}
