import { createHash, randomUUID } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type OutgoingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import type { JWK } from "jose";
import { escapeHtml, htmlDocument } from "../src/http/documents/page.ts";
import { isReachedBy } from "../src/values/host.ts";
import { type Key, signToken } from "./issuer.ts";

interface Options {
  key: Pick<Key, "kid" | "alg" | "privateKey"> & { published: JWK };
  /** Default: a free one. */
  port?: number;
  clientId: string;
  audience: string;
  /** The scopes that its page offers. */
  scopes: string[];
}

/** What the reader has chosen. */
interface Grant {
  scopes: string[];
  accounts: string[];
}

interface Reply {
  status: number;
  headers?: OutgoingHttpHeaders;
  body?: string;
}

const [codeMs, sessionMs] = [60_000, 8 * 3_600_000];
const bodyMax = 16_384;
const pagePolicy = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; frame-ancestors 'none'";

/**
 * Starts an issuer for trials on loopback. People sign in at its page without a password, and choose what they may do: the
 * authorization code flow with PKCE for pages `/console` of this machine, with refresh tokens, each of which is used once.
 */
export async function openTrialIssuer({ key, port = 0, clientId, audience, scopes }: Options) {
  const codes = openMemory<{ request: URLSearchParams; grant: Grant }>(codeMs);
  const refreshTokens = openMemory<Grant>(sessionMs);
  const sessions = openMemory<Grant>(sessionMs);
  /** Tests change it. The clock is that of tokens for codes; renewed ones have the right time. */
  const behaviour = {
    expiresS: 300,
    clockAheadS: 0,
    hasRefreshTokens: true,
    renewals: 0,
    modes: ["query", "fragment"],
  };
  let issuer = "";

  const sign = (claims: object, type: string, expiresS: number, clockAheadS: number) => {
    const iat = Math.floor(Date.now() / 1000) + clockAheadS;
    const common = { iss: issuer, sub: "trial", iat, exp: iat + expiresS, jti: randomUUID() };
    return signToken(key, { ...common, ...claims }, { typ: type });
  };

  async function tokensFor(grant: Grant, nonce: string | null = null, aheadS = 0) {
    const { expiresS, hasRefreshTokens } = behaviour;
    const claims = { scope: grant.scopes.join(" "), accounts: grant.accounts };
    return {
      access_token: await sign({ ...claims, aud: audience, client_id: clientId }, "at+jwt", expiresS, aheadS),
      token_type: "Bearer",
      expires_in: expiresS,
      ...(hasRefreshTokens && { refresh_token: refreshTokens.add(grant) }),
      ...(nonce && { id_token: await sign({ aud: clientId, nonce }, "JWT", 3600, aheadS) }),
    };
  }

  /** A redirect to the page from which the reader came, with a code or an error. */
  function comeBack(request: URLSearchParams, result: Record<string, string>, headers = {}): Reply {
    const url = new URL(request.get("redirect_uri") ?? "");
    const parameters = new URLSearchParams({ ...result, state: request.get("state") ?? "" });
    if (request.get("response_mode") === "fragment") url.hash = String(parameters);
    else url.search = String(parameters);
    return { status: 303, headers: { location: url.href, ...headers } };
  }
  const giveCode = (request: URLSearchParams, grant: Grant, headers = {}) =>
    comeBack(request, { code: codes.add({ request, grant }) }, headers);

  function authorize(request: URLSearchParams, cookie: string): Reply {
    const fault = faultIn(request, clientId);
    if (fault) return { status: 400, body: fault };
    const known = sessions.get(/trial-session=([\w-]+)/.exec(cookie)?.[1]);
    if (request.get("prompt") !== "none") return signInPage(request, scopes);
    return known ? giveCode(request, known) : comeBack(request, { error: "login_required" });
  }

  function choose(form: URLSearchParams): Reply {
    const fault = faultIn(form, clientId);
    if (fault) return { status: 400, body: fault };
    if (form.get("choice") !== "sign-in") return comeBack(form, { error: "access_denied" });
    const grant = {
      scopes: form.getAll("allow").filter((scope) => scopes.includes(scope)),
      accounts: (form.get("accounts") ?? "").split(/[\s,]+/).filter(Boolean),
    };
    const cookie = `trial-session=${sessions.add(grant)}; HttpOnly; SameSite=Lax; Path=/`;
    return giveCode(form, grant, { "set-cookie": cookie });
  }

  async function giveTokens(form: URLSearchParams): Promise<Reply> {
    if (form.get("client_id") !== clientId) return json({ error: "invalid_client" }, 401);
    if (form.get("grant_type") === "refresh_token") {
      const grant = refreshTokens.take(form.get("refresh_token"));
      behaviour.renewals += 1;
      return grant ? json(await tokensFor(grant)) : json({ error: "invalid_grant" }, 400);
    }
    const { request, grant } = codes.take(form.get("code")) ?? {};
    const challenge = createHash("sha256")
      .update(form.get("code_verifier") ?? "")
      .digest("base64url");
    const isSame =
      request?.get("code_challenge") === challenge &&
      request.get("redirect_uri") === form.get("redirect_uri");
    if (!grant || !isSame) return json({ error: "invalid_grant" }, 400);
    return json(await tokensFor(grant, request.get("nonce"), behaviour.clockAheadS));
  }

  function signOut(parameters: URLSearchParams, cookie: string): Reply {
    sessions.take(/trial-session=([\w-]+)/.exec(cookie)?.[1]);
    const target = parameters.get("post_logout_redirect_uri") ?? "";
    return isConsole(target) ? { status: 303, headers: { location: target } } : { status: 204 };
  }

  const metadata = () => ({
    issuer,
    authorization_endpoint: `${issuer}/authorize`,
    token_endpoint: `${issuer}/token`,
    end_session_endpoint: `${issuer}/sign-out`,
    jwks_uri: `${issuer}/keys`,
    response_types_supported: ["code"],
    response_modes_supported: behaviour.modes,
    code_challenge_methods_supported: ["S256"],
    subject_types_supported: ["public"],
    id_token_signing_alg_values_supported: [key.alg],
  });

  async function route(request: IncomingMessage): Promise<Reply> {
    const { method, headers } = request;
    const { host = "", origin, cookie = "" } = headers;
    if (!isReachedBy(host, [])) return { status: 421 };
    const { pathname, searchParams } = new URL(request.url ?? "/", issuer);
    const isPost = method === "POST" && ["/authorize", "/token"].includes(pathname);
    if (!isPost && !["GET", "HEAD"].includes(method ?? ""))
      return { status: origin === undefined ? 405 : 403, headers: { allow: "GET, HEAD" } };
    // The page of the issuer sends its own form, and pages of this machine get tokens.
    if (isPost && origin !== undefined && !(pathname === "/token" ? isLocal(origin) : origin === issuer))
      return { status: 403 };
    const form = isPost ? await readForm(request) : undefined;
    switch (pathname) {
      case "/keys":
        return {
          ...json({ keys: [key.published] }),
          headers: { "content-type": "application/jwk-set+json" },
        };
      case "/.well-known/openid-configuration":
        return json(metadata());
      case "/authorize":
        return form ? choose(form) : authorize(searchParams, cookie);
      case "/token":
        return form ? giveTokens(form) : { status: 405, headers: { allow: "POST" } };
      case "/sign-out":
        return signOut(searchParams, cookie);
      default:
        return { status: 404 };
    }
  }

  const server = createServer(async (request, response) => {
    const { status, headers, body } = await route(request).catch((): Reply => ({ status: 400 }));
    const { origin = "" } = request.headers;
    const ofPages = isLocal(origin) && { "access-control-allow-origin": origin, vary: "origin" };
    response.writeHead(status, { "cache-control": "no-store", ...ofPages, ...headers }).end(body);
  });
  await once(server.listen(port, "127.0.0.1"), "listening");
  issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    settings: {
      AUTH_JWKS_URL: `${issuer}/keys`,
      AUTH_ISSUER: issuer,
      AUTH_AUDIENCE: audience,
      AUTH_CONSOLE_CLIENT_ID: clientId,
    },
    behaviour,
    /** Accepts no code, no refresh token and no session that it has given. */
    forget() {
      for (const memory of [codes, refreshTokens, sessions]) memory.clear();
    },
    close() {
      server.close();
      server.closeAllConnections();
    },
    [Symbol.asyncDispose]: async () => {
      if (!server.listening) return;
      server.closeAllConnections();
      await server[Symbol.asyncDispose]();
    },
  };
}

/** Values by random keys, up to 100, for a time. */
function openMemory<Value>(lifetimeMs: number) {
  const entries = new Map<string, { value: Value; untilMs: number }>();
  const get = (id: string | null | undefined) => {
    const entry = entries.get(id ?? "");
    return entry && Date.now() < entry.untilMs ? entry.value : undefined;
  };
  return {
    get,
    add(value: Value): string {
      const id = randomUUID();
      entries.set(id, { value, untilMs: Date.now() + lifetimeMs });
      const [oldest = ""] = entries.keys();
      if (entries.size > 100) entries.delete(oldest);
      return id;
    },
    take(id: string | null | undefined) {
      const value = get(id);
      entries.delete(id ?? "");
      return value;
    },
    clear: () => entries.clear(),
  };
}

const json = (value: object, status = 200): Reply => ({
  status,
  headers: { "content-type": "application/json" },
  body: JSON.stringify(value),
});

/** The fault of a request that the issuer must not send back to any page. */
function faultIn(request: URLSearchParams, clientId: string): string | undefined {
  if (request.get("client_id") !== clientId) return `client_id must be ${clientId}`;
  if (!isConsole(request.get("redirect_uri") ?? ""))
    return "redirect_uri must be http://HOST:PORT/console, where HOST is this machine";
  const isCode = request.get("response_type") === "code" && request.get("code_challenge_method") === "S256";
  return isCode ? undefined : "response_type must be code, and code_challenge_method S256";
}

const isLocal = (address: string): boolean => {
  const url = URL.parse(address);
  return url?.protocol === "http:" && isReachedBy(url.host, []);
};
const isConsole = (address: string) => isLocal(address) && /^[^?#]*\/console$/.test(address);

async function readForm(request: IncomingMessage): Promise<URLSearchParams> {
  let text = "";
  for await (const part of request) {
    text += part;
    if (text.length > bodyMax) throw new Error("the form is too long");
  }
  return new URLSearchParams(text);
}

function signInPage(request: URLSearchParams, scopes: string[]): Reply {
  const requested = (request.get("scope") ?? "").split(" ");
  const input = (attributes: Record<string, string>, isChecked = false) => {
    const texts = Object.entries(attributes).map(([name, value]) => `${name}="${escapeHtml(value)}"`);
    return `<input ${texts.join(" ")}${isChecked ? " checked" : ""}>`;
  };
  const hidden = [...request].map(([name, value]) => input({ type: "hidden", name, value }));
  const choices = scopes.map((scope) => {
    const box = input({ type: "checkbox", name: "allow", value: scope }, requested.includes(scope));
    return `<p><label>${box} ${escapeHtml(scope)}</label></p>`;
  });
  const style = "<style>body { margin: 2rem; font: 1rem/1.5 system-ui; color-scheme: light dark }</style>";
  const body = `<main>
<h1>Issuer for trials</h1>
<p>It needs no password. Choose what you may do.</p>
<form method="post" action="authorize">
${[...hidden, ...choices].join("\n")}
<p><label>Accounts, with spaces between them: ${input({ name: "accounts", value: "demo demo-shop" })}</label></p>
<button name="choice" value="sign-in">Sign in</button> <button name="choice" value="refuse">Refuse</button>
</form>
</main>`;
  return {
    status: 200,
    headers: { "content-type": "text/html; charset=utf-8", "content-security-policy": pagePolicy },
    body: htmlDocument("Issuer for trials", `\n    ${style}`, body),
  };
}
