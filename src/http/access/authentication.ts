import type { FastifyRequest } from "fastify";
import type { SecurityScheme } from "../../contract/operations.ts";
import type { Logger } from "../../process/log.ts";
import {
  allOrNone,
  anyText,
  oneOf,
  reading,
  requires,
  type Settings,
  webUrl,
} from "../../process/settings.ts";
import { challenge, type HttpError } from "../http-error.ts";
import { type Authenticate, type Caller, isInQuery } from "./security.ts";
import type { Trust } from "./tokens.ts";

/** The settings that turn authentication on. */
export const issuerSettings = ["AUTH_JWKS_URL", "AUTH_ISSUER", "AUTH_AUDIENCE"];

/** The name of a claim in the tokens of the issuer. */
export const claimName = (defaultName: string) =>
  requires(
    issuerSettings,
    reading(
      "one name of up to 200 characters, without spaces",
      (text) => (/^[^\s\p{Cc}]{1,200}$/u.test(text) ? text : undefined),
      defaultName,
    ),
  );

/** The issuer of access tokens. Default: none, and the service runs without authentication. */
export const authenticationSettings = {
  AUTH_JWKS_URL: allOrNone(issuerSettings, webUrl),
  AUTH_ISSUER: allOrNone(issuerSettings, anyText),
  AUTH_AUDIENCE: allOrNone(issuerSettings, anyText),
  AUTH_TOKEN_TYPE: requires(issuerSettings, oneOf<Trust["tokenType"]>(["at+jwt", "JWT"], "at+jwt")),
  AUTH_SCOPE_CLAIM: claimName("scope"),
};

/**
 * The authentication by bearer tokens, in the header Authorization or, for a scheme of the type `apiKey`, in the query.
 * Undefined if the service runs without authentication.
 */
export async function openAuthentication(settings: Settings<typeof authenticationSettings>, log: Logger) {
  const { AUTH_JWKS_URL: jwksUrl, AUTH_ISSUER: issuer, AUTH_AUDIENCE: audience } = settings;
  if (!jwksUrl || !issuer || !audience) return undefined;
  const { AUTH_TOKEN_TYPE: tokenType, AUTH_SCOPE_CLAIM: scopeClaim } = settings;
  // A service without authentication starts sooner without this module.
  const { tokenReader } = await import("./tokens.ts");
  const readToken = tokenReader({ jwksUrl, issuer, audience, tokenType, scopeClaim }, log);
  const authenticate = bearer(readToken, scopeClaim);
  return (scheme: SecurityScheme) =>
    isInQuery(scheme) || (scheme.type === "http" && scheme.scheme === "bearer") ? authenticate : undefined;
}

type ReadToken = (token: string) => Promise<Caller>;

/** Bearer tokens (RFC 6750) in the header Authorization, and in the query of an operation that declares it. */
function bearer(readToken: ReadToken, scopeClaim: string): Authenticate {
  // The binder tries the alternatives of an operation one by one; the token is verified once.
  const identified = new WeakMap<FastifyRequest, Promise<Caller>>();
  // Most operations have an alternative that most tokens lack.
  const lacking = new WeakMap<string[], HttpError>();
  return async function authenticate(request, scopes) {
    const known = identified.get(request) ?? identify(request, readToken, scopes);
    identified.set(request, known);
    const caller = await known;
    request.identified = caller;
    if (scopes.every((scope) => caller.scopes.has(scope))) return caller;
    const error =
      lacking.get(scopes) ??
      insufficientScope(`the token's claim ${scopeClaim} lacks the scope ${scopes.join(" ")}`, scopes);
    lacking.set(scopes, error);
    throw error;
  };
}

async function identify({ raw, queryTokens = [] }: FastifyRequest, readToken: ReadToken, scopes: string[]) {
  // Of a repeated header Node.js takes the first, and a proxy perhaps the last.
  const headers = raw.headersDistinct.authorization ?? [];
  if (headers.length > 1) throw invalidRequest("there is more than one header Authorization");
  if (headers.length + queryTokens.length > 1) throw invalidRequest("there is more than one token");
  const [header = ""] = headers;
  const [queryToken] = queryTokens;
  const [, token = queryToken] = /^bearer +(.+)$/i.exec(header) ?? [];
  if (token === undefined) {
    const message = "the header Authorization must be Bearer and a token";
    throw challenge(401, message, scopes.length > 0 ? { scope: scopes.join(" ") } : { realm: "any scope" });
  }
  return readToken(token);
}

const invalidRequest = (message: string) => challenge(400, message, { error: "invalid_request" });

/** A 403 whose challenge names the scopes that the token lacks. */
export const insufficientScope = (message: string, scopes: string[]): HttpError =>
  challenge(403, message, { error: "insufficient_scope", scope: scopes.join(" ") });
