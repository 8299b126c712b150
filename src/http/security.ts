import type { FastifyReply, FastifyRequest } from "fastify";

/** The authenticated caller. */
export interface Caller {
  scopes: ReadonlySet<string>;
  /** The claims of the access token. */
  claims: Readonly<Record<string, unknown>>;
}

/** Authenticates the caller. Throws an `HttpError`: 401 without valid credentials, 403 without the scopes. */
export type Authenticate = (request: FastifyRequest, scopes: string[]) => Promise<Caller>;

/** The authentication of each security scheme of a contract. */
export type Security = Record<string, Authenticate>;

declare module "fastify" {
  interface FastifyRequest {
    caller?: Caller | undefined;
  }
}

/** The security handlers of the binder. They have no prototype, since the binder also finds schemes there. */
export function securityHandlers(security: Security): object {
  const handlers = Object.entries(security).map(([scheme, authenticate]) => [
    scheme,
    async (request: FastifyRequest, _reply: FastifyReply, scopes: string[]) => {
      request.caller = await authenticate(request, scopes);
    },
  ]);
  return Object.assign(Object.create(null), Object.fromEntries(handlers));
}
