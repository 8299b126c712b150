import type { FastifyReply, FastifyRequest, onRequestHookHandler } from "fastify";
import type { Contract, Operation, SecurityScheme } from "../../contract/operations.ts";

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

/** The authentication of a security scheme; undefined if it is not supported. */
export type Security = (scheme: SecurityScheme) => Authenticate | undefined;

declare module "fastify" {
  interface FastifyRequest {
    caller?: Caller | undefined;
    /** The tokens in the query, if the operation has a security scheme for them. */
    queryTokens?: string[] | undefined;
  }
}

/** Authenticates the caller of a request, as the binder calls it. */
export type SecurityHandler = (
  request: FastifyRequest,
  reply: FastifyReply,
  scopes: string[],
) => Promise<void>;

/**
 * The security handlers of the binder. Throws an error that names the security schemes of the contract without
 * authentication. The handlers have no prototype, since the binder also finds schemes there.
 */
export function securityHandlers(
  { components }: Contract,
  security: Security | undefined,
): Record<string, SecurityHandler> {
  const handlers: Record<string, SecurityHandler> = Object.create(null);
  const missing: string[] = [];
  for (const [name, scheme] of Object.entries(components?.securitySchemes ?? {})) {
    const authenticate = security?.(scheme);
    if (!authenticate) missing.push(name);
    else
      handlers[name] = async (request, _reply, scopes) => {
        request.caller = await authenticate(request, scopes);
      };
  }
  if (missing.length > 0) throw new Error(`security schemes without a handler: ${missing.join(", ")}`);
  return handlers;
}

/** True for a scheme whose token is in the query. */
export const isInQuery = ({ type, in: place }: SecurityScheme): boolean =>
  type === "apiKey" && place === "query";

/**
 * Takes the tokens of an operation out of the query before it is validated, as `queryTokens`. Undefined if no scheme of
 * the operation has its token there.
 */
export function takeQueryTokens({ components }: Contract, { security }: Operation) {
  const used = security.flatMap(Object.keys).map((name) => components?.securitySchemes?.[name]);
  const names = used.flatMap((scheme) => (scheme && isInQuery(scheme) ? [scheme.name as string] : []));
  if (names.length === 0) return undefined;
  const take: onRequestHookHandler = (request, _reply, done) => {
    const entries = Object.entries(request.query as Record<string, string | string[]>);
    const { tokens = [], others = [] } = Object.groupBy(entries, ([name]) =>
      names.includes(name) ? "tokens" : "others",
    );
    request.queryTokens = tokens.flatMap(([, given]) => given).filter((token) => token.trim() !== "");
    request.query = Object.fromEntries(others);
    done();
  };
  return take;
}
