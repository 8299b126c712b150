import { insufficientScope } from "../../http/access/authentication.ts";
import type { Caller } from "../../http/access/security.ts";
import type { AnyHandler } from "../../http/route-handler.ts";
import { accountMissing } from "./failures.ts";

interface AccountRequest {
  caller?: Caller;
  path: Record<string, unknown>;
  query: Record<string, unknown>;
}

/** Maximum number of accounts in a message. A request can name 1,000. */
const shownMax = 20;

const everyAccount = "ledger:read:all";

/** The parameters that contain one account or a list of accounts. */
const accountParameters = ["account_id", "gateway_account_id"];

/** The parameters with which a request need not name an account. */
const overrideParameters = ["override_account_id_restriction", "override_account_or_service_id_restriction"];

/**
 * Restricts every handler to the accounts of the caller. Without the scope for every account, a request must name
 * accounts, and all of them must be in this claim of the token, a list of strings.
 */
export function withinAccounts<Some extends object>(handlers: Some, claim: string): Some {
  const guarded = Object.entries(handlers).map(([operationId, handler]) => [
    operationId,
    async (request: AccountRequest) => checkAccounts(request, claim) ?? (handler as AnyHandler)(request),
  ]);
  return Object.fromEntries(guarded) as Some;
}

/** Returns the 400 for a request without an account. Throws a 403 for an account that is not the caller's. */
function checkAccounts({ caller, path, query }: AccountRequest, claim: string) {
  if (caller === undefined || caller.scopes.has(everyAccount)) return undefined;
  const override = overrideParameters.find((name) => query[name] === true);
  if (override !== undefined) {
    throw insufficientScope(`${override} requires the scope ${everyAccount}`, [everyAccount]);
  }
  const named = accountParameters.flatMap((name) => [path[name] ?? [], query[name] ?? []].flat());
  if (named.length === 0) return accountMissing;
  const accounts = caller.claims[claim];
  const own = new Set(Array.isArray(accounts) ? accounts : []);
  const foreign = named.filter((account) => !own.has(account));
  if (foreign.length === 0) return undefined;
  const others = foreign.length > shownMax ? ` and ${foreign.length - shownMax} others` : "";
  throw insufficientScope(
    `the token's claim ${claim} does not contain ${foreign.slice(0, shownMax).join(", ")}${others}, and the token lacks the scope ${everyAccount}`,
    [everyAccount],
  );
}
