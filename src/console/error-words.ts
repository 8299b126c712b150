import { ConnectionError, ResponseError } from "../client/client.ts";
import { formatName } from "./format.ts";
import { scopesIn } from "./session.ts";

/** What each scope lets its reader do. */
const allows: Record<string, string> = {
  "ledger:read": "to see the transactions of your accounts",
  "ledger:read:all": "to see the transactions of every account",
  "ledger:operate": "to see the intake and its dead letters",
  "features:read": "to see features",
  "features:write": "to add and remove features",
};

/** What the reader needs: one of these scopes. */
export function needOf(scopes: string[]): string {
  const described = scopes.map((scope) => (allows[scope] ? `${scope} (${allows[scope]})` : scope));
  return `It needs the scope ${described.join(" or ")}. Ask who manages access.`;
}

/** An error in words for people. */
export function detailOf(error: unknown): string {
  if (error instanceof ConnectionError)
    return "The service cannot be reached. Check the connection, then try again.";
  if (error instanceof ResponseError) return detailOfResponse(error);
  if (error instanceof DOMException && error.name === "TimeoutError") return tooSlow;
  if (error instanceof Error && "isTransient" in error) return error.message;
  return "Something in this page has failed. Reload it, then try again.";
}

const tooSlow = "The service took too long. Try something smaller, such as fewer days or one account.";

function detailOfResponse({ status, headers, problem, text }: ResponseError): string {
  const seconds = Number(headers.get("retry-after"));
  if (status === 429 || status === 503)
    return `The service is busy or not ready. Try again ${seconds > 1 ? `in ${seconds} seconds` : "soon"}.`;
  if (status === 504) return tooSlow;
  const id = headers.get("x-request-id");
  if (status >= 500)
    return `The service has failed. Try again; if it fails again, report ${id ? `the request ${id}` : "it"}.`;
  // The challenge names the scopes that the token lacks (RFC 6750).
  const scopes = scopesIn(/\bscope="([^"]*)"/.exec(headers.get("www-authenticate") ?? "")?.[1]);
  if (status === 403 && scopes.length > 0) return needOf(scopes);
  if (status < 300) return "The response is not complete. Try again.";
  // A proxy sends pages.
  const detail = problem?.detail ?? text.trim();
  if (/[<\n]/.test(detail)) return `The request was refused, with the status ${status}.`;
  return detail
    .replaceAll(/\b(?:query|path) parameter (\w+)/g, (_, name) => formatName(name))
    .replaceAll(/must match pattern "[^;]*"/g, "is not valid");
}
