import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { CryptoKey, JWK, JWTPayload } from "jose";
import { base64url, exportJWK, exportSPKI, generateKeyPair, SignJWT } from "jose";
import { openAuthentication } from "../src/http/access/authentication.ts";
import { openLog } from "../src/process/log.ts";
import { isReachedBy } from "../src/values/host.ts";

/** A key pair with its id and algorithm. */
export interface Key {
  kid: string;
  alg: string;
  publicKey: CryptoKey;
  privateKey: CryptoKey;
}

export async function makeKey(kid: string, alg = "ES256"): Promise<Key> {
  return { kid, alg, ...(await generateKeyPair(alg, { extractable: true })) };
}

/** An access token by RFC 9068 with these claims and header parameters. An undefined one is left out. */
export const signToken = (
  { kid, alg, privateKey }: Pick<Key, "kid" | "alg" | "privateKey">,
  claims: JWTPayload,
  header: object = {},
): Promise<string> =>
  new SignJWT(claims).setProtectedHeader({ alg, kid, typ: "at+jwt", ...header }).sign(privateKey);

/** Serves public keys at `/keys` on loopback, with any query. Default of `port`: a free one. */
export async function serveKeys(respond: () => { status?: number; keys: JWK[] }, port = 0) {
  const server = createServer(({ url, method = "", headers: { host = "", origin } }, response) => {
    if (!isReachedBy(host, [])) return response.writeHead(421).end();
    if (!["GET", "HEAD"].includes(method))
      return response.writeHead(origin === undefined ? 405 : 403, { allow: "GET, HEAD" }).end();
    if (url?.split("?")[0] !== "/keys") return response.writeHead(404).end();
    const { status = 200, keys } = respond();
    return response
      .writeHead(status, { "content-type": "application/jwk-set+json" })
      .end(JSON.stringify({ keys }));
  });
  await once(server.listen(port, "127.0.0.1"), "listening");
  return { server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/keys` };
}

const nowS = () => Math.floor(Date.now() / 1000);

export type Issuer = Awaited<ReturnType<typeof openIssuer>>;

/** Starts an issuer of tokens that publishes its keys on loopback, with the security of a service that trusts it. */
export async function openIssuer(...given: Key[]) {
  const [key = await makeKey("first"), ...others] = given;
  const keys: JWK[] = [];
  const publish = async (...added: Key[]) => {
    for (const { kid, alg, publicKey } of added) keys.push({ ...(await exportJWK(publicKey)), kid, alg });
  };
  const withdraw = ({ kid }: Key) => {
    keys.splice(0, keys.length, ...keys.filter((one) => one.kid !== kid));
  };
  await publish(key, ...others);
  let fetchCount = 0;
  let status = 200;
  const { server, url } = await serveKeys(() => {
    fetchCount += 1;
    return { status, keys };
  });
  const settings = {
    AUTH_JWKS_URL: new URL(url),
    AUTH_ISSUER: "https://issuer.test/",
    AUTH_AUDIENCE: "https://services.test/",
    AUTH_TOKEN_TYPE: "at+jwt" as const,
    AUTH_SCOPE_CLAIM: "scope",
  };
  const withDefaults = (claims: JWTPayload): JWTPayload => ({
    iss: settings.AUTH_ISSUER,
    aud: settings.AUTH_AUDIENCE,
    exp: nowS() + 3600,
    ...claims,
  });
  const sign = (claims: JWTPayload, { header = {}, by = key }: { header?: object; by?: Key } = {}) =>
    signToken(by, withDefaults(claims), header);

  return {
    settings,
    security: await openAuthentication(settings, openLog("silent")),
    key,
    publish,
    withdraw,
    /** Sets the status of the following responses. */
    respondWith(newStatus: number) {
      status = newStatus;
    },
    /** The number of requests for the keys. */
    fetchCount: () => fetchCount,
    /** A valid token with these claims, header parameters and key in place of the defaults. An undefined claim is left out. */
    sign,
    /** Tokens that must be rejected, with any claims, by description. */
    async invalidTokens(claims: JWTPayload): Promise<Record<string, string>> {
      const valid = await sign(claims);
      const [header = "", , signature = ""] = valid.split(".");
      const encode = (value: object) => base64url.encode(JSON.stringify(value));
      const unsigned = encode({ alg: "none", typ: "at+jwt" });
      const secret = new TextEncoder().encode(await exportSPKI(key.publicKey));
      const unknownKey = await makeKey("unknown", key.alg);
      const underKnownId = { ...unknownKey, kid: key.kid };
      const withKey = { jwk: await exportJWK(unknownKey.publicKey), kid: undefined };
      const critical = encode({ alg: key.alg, kid: key.kid, typ: "at+jwt", crit: ["unknown"], unknown: 1 });
      return {
        "not a JWT": "nonsense",
        "two tokens": `${valid} ${valid}`,
        expired: await sign({ ...claims, exp: nowS() - 1 }),
        "not valid yet": await sign({ ...claims, nbf: nowS() + 3600 }),
        "of another issuer": await sign({ ...claims, iss: "https://other.test/" }),
        "for another audience": await sign({ ...claims, aud: ["https://other.test/"] }),
        "without issuer": await sign({ ...claims, iss: undefined }),
        "without audience": await sign({ ...claims, aud: undefined }),
        "without expiry time": await sign({ ...claims, exp: undefined }),
        "with an invalid expiry time": await sign({ ...claims, exp: "never" as never }),
        unsigned: `${unsigned}.${encode(withDefaults(claims))}.`,
        "unsigned, with a signature": `${unsigned}.${encode(withDefaults(claims))}.${signature}`,
        "signed by HS256 with the public key": await new SignJWT(withDefaults(claims))
          .setProtectedHeader({ alg: "HS256", kid: key.kid, typ: "at+jwt" })
          .sign(secret),
        "signed with an unpublished key": await sign(claims, { by: unknownKey }),
        "signed with an unpublished key under the id of a published one": await sign(claims, {
          by: underKnownId,
        }),
        "with its key in the header": await sign(claims, { by: unknownKey, header: withKey }),
        "with changed claims": `${header}.${encode(withDefaults({ ...claims, sub: "x" }))}.${signature}`,
        "an identity token": await sign(claims, { header: { typ: "JWT" } }),
        "without a type": await sign(claims, { header: { typ: undefined } }),
        "with an unknown critical extension": `${critical}.${encode(withDefaults(claims))}.${signature}`,
      };
    },
    close: () => server[Symbol.asyncDispose](),
    [Symbol.asyncDispose]: async () => {
      if (server.listening) await server[Symbol.asyncDispose]();
    },
  };
}
