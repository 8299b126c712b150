import {
  createLocalJWKSet,
  createRemoteJWKSet,
  errors,
  type JWTPayload,
  type JWTVerifyGetKey,
  jwtVerify,
} from "jose";
import type { Logger } from "../process/log.ts";
import type { Caller } from "./security.ts";

/** Whose tokens are taken. */
export interface Trust {
  /** Where the issuer publishes its keys (RFC 7517). */
  jwksUrl: URL;
  issuer: string;
  /** For whom a token must be. */
  audience: string;
}

/** A token that is not taken: why, and what would be right. */
export class TokenFault extends Error {}

/** Nothing can be said of a token, since the issuer's keys cannot be had. */
export class KeysAway extends Error {}

/** A secret that both sides share is no algorithm here: whoever checks a token could make one. */
const algorithms = [
  ...["RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512"],
  ...["EdDSA", "Ed25519"],
];

/** Verifying costs 0.05 to 0.15 ms, several times what a small request does; so it is done once a minute. */
const rememberedMax = 1000;
const rememberedMs = 60_000;

/** Between two fetches of the keys, whatever comes of them. */
const fetchPauseMs = 30_000;

/**
 * A reader of access tokens (RFC 9068): signed by the issuer, for this audience, valid now. Rejects with `TokenFault` or
 * `KeysAway`.
 */
export function tokenReader(
  { jwksUrl, issuer, audience }: Trust,
  log: Logger,
): (token: string) => Promise<Caller> {
  const keyOf = keysOf(jwksUrl, log);
  const options = { issuer, audience, algorithms, typ: "at+jwt", requiredClaims: ["exp"] };
  const remembered = new Map<string, { caller: Caller; untilMs: number }>();

  async function verify(token: string): Promise<JWTPayload> {
    try {
      return (await jwtVerify(token, keyOf, options)).payload;
    } catch (error) {
      if (error instanceof errors.JOSEError) throw new TokenFault(describe(error, { issuer, audience }));
      throw error;
    }
  }

  return async function readToken(token) {
    const known = remembered.get(token);
    if (known && Date.now() < known.untilMs) return known.caller;
    remembered.delete(token);
    const claims = await verify(token);
    const caller = { scopes: scopesOf(claims), claims };
    const [oldest] = remembered.keys();
    if (remembered.size >= rememberedMax) remembered.delete(oldest as string);
    const untilMs = Math.min(Date.now() + rememberedMs, (claims.exp as number) * 1000);
    remembered.set(token, { caller, untilMs });
    return caller;
  };
}

/**
 * The issuer's keys. They are fetched when the first token is read, every ten minutes, and when a token names one that is
 * not known, at most every 30 seconds. While the issuer fails, the keys that were fetched before decide, until they are
 * ten minutes old.
 */
function keysOf(jwksUrl: URL, log: Logger): JWTVerifyGetKey {
  const keys = createRemoteJWKSet(jwksUrl, { cooldownDuration: fetchPauseMs });
  let failure: { untilMs: number; error: unknown; before: JWTVerifyGetKey | undefined } | undefined;

  function fail(error: unknown): void {
    if (failure) return;
    log.error({ err: error }, "the issuer's keys cannot be had");
    const before = keys.jwks();
    failure = { untilMs: Date.now() + fetchPauseMs, error, before: before && createLocalJWKSet(before) };
  }

  return async (header, token) => {
    const attempt = async (source: JWTVerifyGetKey) => {
      try {
        return await source(header, token);
      } catch (error) {
        if (isFaultOfToken(error)) throw error;
        return void fail(error);
      }
    };
    if (failure && failure.untilMs <= Date.now()) failure = undefined;
    const current = failure ? undefined : await attempt(keys);
    const key = current ?? (failure?.before && keys.fresh ? await attempt(failure.before) : undefined);
    if (key === undefined) throw new KeysAway("the issuer's keys cannot be had", { cause: failure?.error });
    return key;
  };
}

const scopesOf = ({ scope }: JWTPayload): ReadonlySet<string> =>
  new Set(typeof scope === "string" ? scope.split(" ").filter(Boolean) : []);

const isFaultOfToken = (error: unknown) =>
  error instanceof errors.JWKSNoMatchingKey || error instanceof errors.JWKSMultipleMatchingKeys;

function describe(error: errors.JOSEError, { issuer, audience }: Pick<Trust, "issuer" | "audience">): string {
  const claims: Record<string, string> = {
    typ: "the token's type (typ) must be at+jwt",
    iss: `the token's issuer (iss) must be ${issuer}`,
    aud: `the token's audience (aud) must be ${audience}`,
    exp: "the token must say when it expires (exp)",
    nbf: "the token is not valid yet (nbf)",
  };
  const codes: Record<string, string> = {
    ERR_JWT_EXPIRED: "the token has expired",
    ERR_JOSE_ALG_NOT_ALLOWED: `the token must be signed by one of ${algorithms.join(", ")}`,
    ERR_JWS_SIGNATURE_VERIFICATION_FAILED: "the token's signature is not that of its issuer",
    ERR_JWKS_NO_MATCHING_KEY: "the token must be signed with a key that its issuer publishes",
    ERR_JWKS_MULTIPLE_MATCHING_KEYS: "the token must name its key (kid), since its issuer has several",
  };
  const claim = error instanceof errors.JWTClaimValidationFailed ? claims[error.claim] : undefined;
  return claim ?? codes[error.code] ?? "the token must be a signed JWT";
}
