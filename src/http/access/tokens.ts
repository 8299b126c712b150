import { createLocalJWKSet, createRemoteJWKSet, errors, type JWTVerifyGetKey, jwtVerify } from "jose";
import type { Logger } from "../../process/log.ts";
import { watchOutage } from "../../process/outage.ts";
import { challenge, HttpError } from "../http-error.ts";
import { type Caller, hasExpired } from "./security.ts";

/** The requirements for a valid token. */
export interface Trust {
  /** The key set of the issuer (RFC 7517). */
  jwksUrl: URL;
  issuer: string;
  /** The audience that a token must have. */
  audience: string;
  /** `JWT` also accepts tokens that do not say that they are access tokens: those of type `JWT` and those without one. */
  tokenType: "at+jwt" | "JWT";
  /** The claim with the scopes: a list of strings, or one string with spaces between them. */
  scopeClaim: string;
}

/** The token is invalid. The message states what is required. */
const invalidToken = (message: string) => challenge(401, message, { error: "invalid_token" });

const keysUnavailable = "the keys of the token issuer are unavailable";

/** The token cannot be verified. The request may succeed a second later. */
export class KeysUnavailable extends HttpError {
  constructor() {
    super(503, [keysUnavailable], { "retry-after": "1" });
  }
}

/** Asymmetric algorithms only: with a shared secret, every verifier could issue tokens. */
const algorithms = [
  ...["RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512"],
  ...["EdDSA", "Ed25519"],
];

/** A verification takes 0.05 to 0.15 ms, several times as long as a small request. Its result is cached for a minute. */
const cachedMax = 1000;
const cachedMs = 60_000;

/** Seconds by which the clock of the issuer may be ahead of this one (RFC 7519, section 4.1.5). */
const aheadMaxSeconds = 60;

/** Minimum time between two fetches of the keys, successful or not. */
const fetchIntervalMs = 30_000;

/**
 * A reader of access tokens, which must be signed by the issuer, for the audience and not expired. Rejects with
 * a 401 or `KeysUnavailable`.
 */
export function tokenReader(trust: Trust, log: Logger): (token: string) => Promise<Caller> {
  const { issuer, audience, scopeClaim } = trust;
  const keyOf = keysOf(trust.jwksUrl, log);
  const options = { issuer, audience, algorithms, requiredClaims: ["exp"], clockTolerance: aheadMaxSeconds };
  const cache = new Map<string, { caller: Caller; untilMs: number }>();

  async function verify(token: string) {
    const { payload, protectedHeader } = await jwtVerify(token, keyOf, options).catch((error) => {
      throw error instanceof errors.JOSEError ? invalidToken(describe(error, trust)) : error;
    });
    // The tolerance is for the beginning of the token only.
    if (hasExpired(payload)) throw invalidToken(expired);
    const { must, types } = typeRules[trust.tokenType];
    if (types.includes(typeOf(protectedHeader.typ))) return payload;
    throw invalidToken(`the token's type (typ) must ${must}`);
  }

  return async function readToken(token) {
    const known = cache.get(token);
    if (known && Date.now() < known.untilMs) return known.caller;
    cache.delete(token);
    const claims = await verify(token);
    const caller = { scopes: scopesOf(claims[scopeClaim]), claims, token };
    const [oldest] = cache.keys();
    if (cache.size >= cachedMax) cache.delete(oldest as string);
    const untilMs = Math.min(Date.now() + cachedMs, (claims.exp as number) * 1000);
    cache.set(token, { caller, untilMs });
    return caller;
  };
}

/**
 * The keys of the issuer. They are fetched for the first token, every ten minutes, and for a token with an unknown key, at
 * most every 30 seconds. While the issuer fails, the last fetched keys stay valid until they are ten minutes old.
 */
function keysOf(jwksUrl: URL, log: Logger): JWTVerifyGetKey {
  const keys = createRemoteJWKSet(jwksUrl, { cooldownDuration: fetchIntervalMs });
  const outage = watchOutage(log, "error");
  let failure: { untilMs: number; before: JWTVerifyGetKey | undefined } | undefined;

  function fail(error: unknown): void {
    if (failure) return;
    outage.failed(keysUnavailable, { err: error });
    const before = keys.jwks();
    failure = { untilMs: Date.now() + fetchIntervalMs, before: before && createLocalJWKSet(before) };
  }

  return async (header, token) => {
    const attempt = async (source: JWTVerifyGetKey) => {
      try {
        const key = await source(header, token);
        if (source === keys) outage.succeeded();
        return key;
      } catch (error) {
        if (isTokenError(error)) throw error;
        return void fail(error);
      }
    };
    if (failure && failure.untilMs <= Date.now()) failure = undefined;
    const current = failure ? undefined : await attempt(keys);
    const key = current ?? (failure?.before && keys.fresh ? await attempt(failure.before) : undefined);
    if (key === undefined) throw new KeysUnavailable();
    return key;
  };
}

const typeRules = {
  "at+jwt": { must: "be at+jwt", types: ["at+jwt"] as unknown[] },
  JWT: { must: "be JWT or at+jwt, or absent", types: ["jwt", "at+jwt", undefined] as unknown[] },
};

/** A media type is case-insensitive, and its `application/` can be left out (RFC 7515, section 4.1.9). */
const typeOf = (typ: unknown) =>
  typeof typ === "string" ? typ.toLowerCase().replace(/^application\//, "") : typ;

function scopesOf(claim: unknown): ReadonlySet<string> {
  const list = typeof claim === "string" ? claim.split(" ") : Array.isArray(claim) ? claim : [];
  return new Set(list.filter(Boolean));
}

const isTokenError = (error: unknown) =>
  error instanceof errors.JWKSNoMatchingKey || error instanceof errors.JWKSMultipleMatchingKeys;

const expired = "the token has expired";

function describe(error: errors.JOSEError, { issuer, audience }: Trust): string {
  const messages: Record<string, string> = {
    iss: `the token's issuer (iss) must be ${issuer}`,
    aud: `the token's audience (aud) must be ${audience}`,
    exp: "the token must have an expiry time (exp)",
    nbf: "the token is not valid yet (nbf)",
    ERR_JWT_EXPIRED: expired,
    ERR_JOSE_ALG_NOT_ALLOWED: `the token must be signed by one of ${algorithms.join(", ")}`,
    ERR_JWS_SIGNATURE_VERIFICATION_FAILED: "the token's signature is invalid",
    ERR_JWKS_NO_MATCHING_KEY: "the token must be signed with a key of its issuer",
    ERR_JWKS_MULTIPLE_MATCHING_KEYS: "the token must name its key (kid), since its issuer has several",
  };
  const cause = error instanceof errors.JWTClaimValidationFailed ? error.claim : error.code;
  return messages[cause] ?? "the token must be a signed JWT";
}
