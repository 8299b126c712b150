import type { Registry } from "prom-client";
import type { Contract } from "../contract/operations.ts";
import type { Logger } from "../process/log.ts";
import type { AccessLog } from "./access/access-log.ts";
import type { Security } from "./access/security.ts";
import type { SignIn } from "./access/sign-in.ts";
import type { Documents } from "./documents/documents.ts";
import type { RenderError } from "./errors.ts";
import type { Handlers } from "./handlers.ts";
import type { HttpError } from "./http-error.ts";

/** What the settings of a process decide for each of its services. */
export interface HttpOptions {
  /**
   * The authentication of the security schemes of the contract. Default: none. The service then runs without
   * authentication and publishes its contract without anything about it.
   */
  security?: Security | undefined;
  /** The claim of tokens that has the scopes, for the console. Default: `scope`. */
  scopeClaim?: string | undefined;
  /** How readers of the console sign in. Default: they paste a token. */
  signIn?: SignIn | undefined;
  /** The URL under which callers reach the service, for links. Default: the URL of each request. */
  publicUrl?: string | undefined;
  /** Addresses, networks and their names whose headers `X-Forwarded-Proto` and `-Host` apply. Default: none. */
  trustedProxies?: string[] | undefined;
  /** The origins of pages that can use the service in browsers, `*` for all. Default: its own only. */
  corsOrigins?: string[] | undefined;
  /**
   * The hosts by which callers can reach the service, besides `localhost` and the address of their connection. Default: any.
   */
  allowedHosts?: string[] | undefined;
  /** Where accesses are recorded, if the service has authentication. Default: they are not. */
  accessLog?: AccessLog | undefined;
  /** True if a request for a recorded operation must have the header `Access-Reason`. Default: false. */
  isReasonRequired?: boolean | undefined;
  /** True to serve tools for models at `/mcp`. Default: false. */
  mcp?: boolean | undefined;
  /** Milliseconds for which an idle connection stays open. Default: `keepAliveMs`. */
  keepAliveTimeoutMs?: number | undefined;
}

export interface ServiceOptions<Operations> extends HttpOptions {
  contract: Contract;
  /** The name of the service in records of accesses. */
  name?: string;
  /** An operation that is optional in the contract is served only if it has a handler. */
  handlers: Handlers<Operations>;
  renderError: RenderError;
  /** Maps an error that handlers throw to a declared response. Undefined means that the error is unexpected. */
  mapError?: (error: unknown) => HttpError | undefined;
  log: Logger;
  /** The registry for the durations of requests. Default: they are not measured. */
  metrics?: Registry;
  /** The contract, its pages and the console. Default: none. */
  documents?: Documents;
  /** For tests: every response is checked against the contract, and this is called for each violation. */
  onViolation?: (violation: string) => void;
}
