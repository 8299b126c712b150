import type { operations } from "../../../generated/ledger.ts";
import { insufficientScope } from "../../http/authentication.ts";
import type { Handlers } from "../../http/handlers.ts";
import type { AnyHandler } from "../../http/reply.ts";
import type { Caller } from "../../http/security.ts";
import { accountMissing } from "./problem.ts";

interface Asked {
  caller?: Caller;
  path: Record<string, unknown>;
  query: Record<string, unknown>;
}

const everyAccount = "ledger:read:all";

/** The parameters that name accounts, one or several. */
const accountParameters = ["account_id", "gateway_account_id"];

/**
 * The handlers behind the rule of accounts, every one of them: a caller who may not read of every account gets to a
 * handler only with accounts that are named, and all in the claim `accounts` of the token.
 */
export function withinAccounts(handlers: Handlers<operations>): Handlers<operations> {
  const guarded = Object.entries(handlers).map(([operationId, handler]) => [
    operationId,
    async (asked: Asked) => checkAccounts(asked) ?? (handler as AnyHandler)(asked),
  ]);
  return Object.fromEntries(guarded);
}

/** What is answered when no account is named; throws a refusal when one is named that is not the caller's. */
function checkAccounts({ caller, path, query }: Asked): typeof accountMissing | undefined {
  if (caller === undefined || caller.scopes.has(everyAccount)) return undefined;
  if (query.override_account_id_restriction === true) {
    throw insufficientScope("the scope of the token is not enough for override_account_id_restriction", [
      everyAccount,
    ]);
  }
  const named = accountParameters.flatMap((name) => [path[name] ?? [], query[name] ?? []].flat());
  if (named.length === 0) return accountMissing;
  const own = new Set(Array.isArray(caller.claims.accounts) ? caller.claims.accounts : []);
  const foreign = named.filter((account) => !own.has(account));
  if (foreign.length === 0) return undefined;
  throw insufficientScope(`the claim accounts of the token does not have ${foreign.join(", ")}`, [
    everyAccount,
  ]);
}
