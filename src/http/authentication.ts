import type { FastifyRequest } from "fastify";
import type { Logger } from "../process/log.ts";
import { anyText, type Settings, together, webUrl } from "../process/settings.ts";
import { Refusal, unavailable } from "./http-error.ts";
import type { Authenticate, Caller, Security } from "./security.ts";
import { KeysAway, TokenFault, tokenReader } from "./tokens.ts";

const names = ["AUTH_JWKS_URL", "AUTH_ISSUER", "AUTH_AUDIENCE"];

/** Whose access tokens are asked for; none when nothing is set. */
export const authenticationSettings = {
  AUTH_JWKS_URL: together(names, webUrl),
  AUTH_ISSUER: together(names, anyText),
  AUTH_AUDIENCE: together(names, anyText),
};

/** The security scheme `bearer` of the contracts; undefined when nobody is to be asked who they are. */
export function openAuthentication(
  {
    AUTH_JWKS_URL: jwksUrl,
    AUTH_ISSUER: issuer,
    AUTH_AUDIENCE: audience,
  }: Settings<typeof authenticationSettings>,
  log: Logger,
): Security | undefined {
  if (!jwksUrl || !issuer || !audience) return undefined;
  return { bearer: bearer(tokenReader({ jwksUrl, issuer, audience }, log)) };
}

type ReadToken = (token: string) => Promise<Caller>;

/** Bearer tokens as RFC 6750 has them, in the header Authorization alone. */
function bearer(readToken: ReadToken): Authenticate {
  // An operation's alternatives are asked for one by one; that must not make a bad token cost twice.
  const identified = new WeakMap<FastifyRequest, Promise<Caller>>();
  return async function authenticate(request, scopes) {
    const known = identified.get(request) ?? identify(request, readToken, scopes);
    identified.set(request, known);
    const caller = await known;
    if (scopes.every((scope) => caller.scopes.has(scope))) return caller;
    throw insufficientScope("the scope of the token is not enough", scopes);
  };
}

async function identify({ raw }: FastifyRequest, readToken: ReadToken, scopes: string[]): Promise<Caller> {
  // Of a header that is repeated the platform would take the first, and something on the way perhaps the last.
  const [header = "", ...more] = raw.headersDistinct.authorization ?? [];
  if (more.length > 0) {
    throw refusal(400, ["there is more than one header Authorization"], { error: "invalid_request" });
  }
  const [, token] = /^bearer +(.+)$/i.exec(header) ?? [];
  if (token === undefined) {
    throw refusal(401, ["the header Authorization must be Bearer and a token"], { scope: scopes.join(" ") });
  }
  try {
    return await readToken(token);
  } catch (error) {
    if (error instanceof TokenFault) throw refusal(401, [error.message], { error: "invalid_token" });
    if (!(error instanceof KeysAway)) throw error;
    throw unavailable("the keys that tokens are checked with cannot be had now");
  }
}

/** A caller who is known and may not, because of what is wrong; a token with these scopes would do. */
export function insufficientScope(wrong: string, scopes: string[]): Refusal {
  const scope = scopes.join(" ");
  return refusal(403, [wrong, `a token with the scope ${scope} would do`], {
    error: "insufficient_scope",
    scope,
  });
}

/** A refusal with what is asked for, which has at least one parameter (RFC 6750, section 3). */
function refusal(status: number, messages: string[], asked: Record<string, string>): Refusal {
  const parameters = Object.entries(asked).map(([name, value]) => `${name}="${value}"`);
  return new Refusal(status, messages, { "www-authenticate": `Bearer ${parameters.join(", ")}` });
}
