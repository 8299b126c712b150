import { createContext } from "preact";
import { useContext, useMemo } from "preact/hooks";
import type { ClientOptions } from "../client/client.ts";
import type { SignIn } from "./sign-in.ts";

/** The claims of tokens that the page reads. The service names them on the page if it requires tokens. */
export interface Authentication {
  scopeClaim: string;
  accountsClaim?: string;
  /** How readers sign in. Default: they paste a token. */
  signIn?: SignIn;
}

/** What the reader may do. */
export interface Session {
  /** Gives the token of a request, which is in memory only; with `refresh` the service has rejected the one before. */
  token?: ((request: { refresh: boolean }) => Promise<string>) | undefined;
  can(scope: string): boolean;
  /** The accounts of the token, if it has a list of them and may not read every account. */
  accounts?: string[] | undefined;
  /** Discards the token, since the service does not accept it. */
  reject(reason: string): void;
}

/** The console has one session at any time. */
export const SessionContext = createContext(undefined as unknown as Session);
export const useSession = (): Session => useContext(SessionContext);

/** The client of the service that serves this page, with the token of the reader. A proxy can serve it below any path. */
export function useServiceClient<Client>(open: (options: ClientOptions) => Client): Client {
  const { token } = useSession();
  return useMemo(() => {
    const options = { baseUrl: new URL(".", location.href), fetch: fetchUnstored };
    return open(token ? { ...options, token } : options);
  }, [token]);
}

/** Without it the browser would keep personal data in its files. */
const fetchUnstored: typeof fetch = (url, options) => fetch(url, { ...options, cache: "no-store" });

type Claims = Record<string, unknown>;

/** The claims of a JWT, which the service verifies; the page only reads them. Undefined if the text is no JWT. */
export function claimsOf(token: string): Claims | undefined {
  const [, payload = ""] = token.split(".");
  try {
    const bytes = Uint8Array.from(atob(payload.replaceAll("-", "+").replaceAll("_", "/")), (character) =>
      character.charCodeAt(0),
    );
    const claims = JSON.parse(new TextDecoder().decode(bytes)) as unknown;
    return typeof claims === "object" && claims !== null ? (claims as Claims) : undefined;
  } catch {
    return undefined;
  }
}

/** The scopes in a claim: a text with spaces between them, or a list. */
export function scopesIn(value: unknown): string[] {
  if (typeof value === "string") return value.split(" ").filter(Boolean);
  return Array.isArray(value) ? value.filter((scope) => typeof scope === "string") : [];
}

const everyAccount = "ledger:read:all";

/** What a token allows. Without authentication everything is allowed. */
export function sessionOf(
  authentication: Authentication | undefined,
  token: string | undefined,
): Omit<Session, "reject" | "token"> {
  if (!authentication) return { can: () => true };
  const claims: Claims = (token !== undefined && claimsOf(token)) || {};
  const scopes = scopesIn(claims[authentication.scopeClaim]);
  const accounts = authentication.accountsClaim && claims[authentication.accountsClaim];
  return {
    can: (scope) => scopes.includes(scope),
    ...(!scopes.includes(everyAccount) && Array.isArray(accounts) && { accounts: accounts.map(String) }),
  };
}
