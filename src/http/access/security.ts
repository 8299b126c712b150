import type { FastifyReply, FastifyRequest, onRequestHookHandler } from "fastify";
import type { Contract, Operation } from "../../contract/operations.ts";

/** The authenticated caller. */
export interface Caller {
  scopes: ReadonlySet<string>;
  /** The claims of the access token. */
  claims: Readonly<Record<string, unknown>>;
  /** The access token. It belongs in no log line. */
  token: string;
}

/** True if the claims have an expiry time (`exp`, in seconds) that has come. */
export const hasExpired = ({ exp }: Caller["claims"]): boolean =>
  typeof exp === "number" && exp * 1000 <= Date.now();

/** Authenticates the caller. Throws an `HttpError`: 401 without valid credentials, 403 without the scopes. */
export type Authenticate = (request: FastifyRequest, scopes: string[]) => Promise<Caller>;

/** A security scheme of a contract (OpenAPI 3.1, section 4.8.27). */
export interface SecurityScheme {
  type: string;
  /** Of the type `http`. */
  scheme?: string;
  /** The place and the name of the credentials, of the type `apiKey`. */
  in?: string;
  name?: string;
}

/** The authentication of a security scheme; undefined if it is not supported. */
export type Security = (scheme: SecurityScheme) => Authenticate | undefined;

declare module "fastify" {
  interface FastifyRequest {
    caller?: Caller | undefined;
    /** The tokens in the query, if the operation has a security scheme for them. */
    queryTokens?: string[] | undefined;
  }
}

/** The authentication of each security scheme of a contract. Throws an error that names those without one. */
export function authenticationOf(
  contract: Contract,
  security: Security | undefined,
): Record<string, Authenticate> {
  const schemes = Object.entries(contract.components?.securitySchemes ?? {});
  const found = schemes.map(([name, scheme]) => [name, security?.(scheme as SecurityScheme)] as const);
  const missing = found.flatMap(([name, authenticate]) => (authenticate ? [] : name));
  if (missing.length > 0) throw new Error(`security schemes without a handler: ${missing.join(", ")}`);
  return Object.fromEntries(found) as Record<string, Authenticate>;
}

/** The security handlers of the binder. They have no prototype, since the binder also finds schemes there. */
export function securityHandlers(authentication: Record<string, Authenticate>): object {
  const handlers = Object.entries(authentication).map(([scheme, authenticate]) => [
    scheme,
    async (request: FastifyRequest, _reply: FastifyReply, scopes: string[]) => {
      request.caller = await authenticate(request, scopes);
    },
  ]);
  return Object.assign(Object.create(null), Object.fromEntries(handlers));
}

/** True for a scheme whose token is in the query. */
export const isInQuery = ({ type, in: place }: SecurityScheme): boolean =>
  type === "apiKey" && place === "query";

/**
 * Takes the tokens of an operation out of the query before it is validated, as `queryTokens`. Undefined if no scheme of
 * the operation has its token there.
 */
export function takeQueryTokens(
  contract: Contract,
  { security }: Operation,
): onRequestHookHandler | undefined {
  const schemes = (contract.components?.securitySchemes ?? {}) as Record<string, SecurityScheme>;
  const used = security.flatMap((alternative) => Object.keys(alternative)).map((name) => schemes[name]);
  const names = used.flatMap((scheme) => (scheme && isInQuery(scheme) ? [scheme.name as string] : []));
  if (names.length === 0) return undefined;
  return (request, _reply, done) => {
    const entries = Object.entries(request.query as Record<string, string | string[]>);
    const [tokens, others] = [true, false].map((isToken) =>
      entries.filter(([name]) => names.includes(name) === isToken),
    ) as [typeof entries, typeof entries];
    request.queryTokens = tokens.flatMap(([, given]) => given).filter((token) => token.trim() !== "");
    request.query = Object.fromEntries(others);
    done();
  };
}
