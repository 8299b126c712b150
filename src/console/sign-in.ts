import * as oauth from "oauth4webapi";

/** How readers sign in, as the page of the service says. */
export interface SignIn {
  issuer: string;
  clientId: string;
  audience: string;
  scope: string;
}

/** What the page must remember while its reader is at the issuer. */
export interface Way {
  verifier: string;
  state: string;
  nonce: string;
  /** The fragment to come back to. */
  place: string;
  /** True if the issuer must show the reader nothing. */
  isSilent: boolean;
}

export interface Tokens {
  token: string;
  expiresAtMs: number;
  refreshToken?: string | undefined;
  idToken?: string | undefined;
}

/** A sign-in that failed. The message is a sentence for the reader. */
export class SignInError extends Error {
  /** The reason in words of the issuer or of the library. */
  readonly said: string | undefined;
  /** True if the next attempt may succeed without the reader. */
  readonly isTransient: boolean;

  constructor(message: string, { said, isTransient = false }: { said?: string; isTransient?: boolean } = {}) {
    super(message);
    this.said = said;
    this.isTransient = isTransient;
  }
}

export type Issuer = Awaited<ReturnType<typeof openIssuer>>;

const timeoutMs = 10_000;
/** If the issuer does not say how long its tokens are valid. */
const defaultLifetimeS = 300;
/** The reader has to sign in, which is no failure of an attempt without questions. */
const needsReader = [
  "login_required",
  "interaction_required",
  "consent_required",
  "account_selection_required",
];

/**
 * The issuer of tokens, with the authorization code flow and PKCE for a client without a secret. Rejects with a
 * `SignInError` if its metadata cannot be read, as the other functions do for their reasons.
 */
export async function openIssuer({ issuer, clientId, audience, scope }: SignIn, redirectUri: string) {
  const url = new URL(issuer);
  if (!isSecureContext)
    throw new SignInError(
      "You can sign in at the https: address of this page only. Ask who runs this service.",
    );
  const client = { client_id: clientId };
  const options = () => ({
    signal: AbortSignal.timeout(timeoutMs),
    // The service accepts http: only for an issuer on this machine.
    [oauth.allowInsecureRequests]: url.protocol === "http:",
  });
  /** The result of a step, or its error in words for people. */
  const step = <Result>(result: Promise<Result>): Promise<Result> =>
    result.catch((error) => {
      throw describe(error, url.host);
    });

  const metadata = await step(
    oauth.discoveryRequest(url, options()).then((response) => oauth.processDiscoveryResponse(url, response)),
  );
  // The policy of the page allows requests to no other origin.
  if (URL.parse(metadata.token_endpoint ?? "")?.origin !== url.origin || !metadata.authorization_endpoint)
    throw new SignInError(`${url.host} gives its tokens at another host, where this page may not sign in.`);
  const { authorization_endpoint, end_session_endpoint, response_modes_supported = ["fragment"] } = metadata;
  const forAudience = { audience, ...(URL.canParse(audience) && { resource: audience }) };

  const tokensOf = (response: oauth.TokenEndpointResponse, before?: Tokens): Tokens => ({
    token: response.access_token,
    expiresAtMs: Date.now() + 1000 * (response.expires_in ?? defaultLifetimeS),
    refreshToken: response.refresh_token ?? before?.refreshToken,
    idToken: response.id_token ?? before?.idToken,
  });

  return {
    /** The address at which the reader signs in, and what to remember on the way. */
    async depart(place: string, isSilent: boolean): Promise<{ url: string; way: Way }> {
      const way = {
        verifier: oauth.generateRandomCodeVerifier(),
        state: oauth.generateRandomState(),
        nonce: oauth.generateRandomNonce(),
        ...{ place, isSilent },
      };
      const parameters = {
        ...{ client_id: clientId, redirect_uri: redirectUri, response_type: "code", scope },
        ...{ state: way.state, nonce: way.nonce, ...forAudience },
        code_challenge: await oauth.calculatePKCECodeChallenge(way.verifier),
        code_challenge_method: "S256",
        // A fragment reaches no log of a server.
        ...(response_modes_supported.includes("fragment") && { response_mode: "fragment" }),
        ...(isSilent && { prompt: "none" }),
      };
      return { url: withParameters(authorization_endpoint, parameters), way };
    },

    /** The tokens for the response with which the reader has come back; undefined if a silent attempt needs the reader. */
    async arrive(response: URLSearchParams, way: Way | undefined): Promise<Tokens | undefined> {
      if (!way || response.get("state") !== way.state)
        throw new SignInError("This sign-in has not begun in this tab, or is already used. Sign in again.");
      if (way.isSilent && needsReader.includes(response.get("error") ?? "")) return undefined;
      const exchange = async () => {
        const parameters = oauth.validateAuthResponse(metadata, client, response, way.state);
        const request = [metadata, client, oauth.None(), parameters, redirectUri, way.verifier] as const;
        const received = await oauth.authorizationCodeGrantRequest(...request, options());
        const nonce = scope.split(" ").includes("openid") ? { expectedNonce: way.nonce } : {};
        return oauth.processAuthorizationCodeResponse(metadata, client, received, nonce);
      };
      return tokensOf(await step(exchange()));
    },

    /** New tokens for the refresh token of these. */
    async renew(tokens: Tokens): Promise<Tokens> {
      const renewal = oauth
        .refreshTokenGrantRequest(metadata, client, oauth.None(), tokens.refreshToken ?? "", options())
        .then((received) => oauth.processRefreshTokenResponse(metadata, client, received));
      return tokensOf(await step(renewal), tokens);
    },

    /** The address at which the issuer forgets the reader, if it has one. */
    signOutUrl: ({ idToken }: Tokens): string | undefined =>
      end_session_endpoint &&
      withParameters(end_session_endpoint, {
        ...{ client_id: clientId, post_logout_redirect_uri: redirectUri },
        ...(idToken && { id_token_hint: idToken }),
      }),
  };
}

function withParameters(address: string, parameters: Record<string, string>): string {
  const url = new URL(address);
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
  return url.href;
}

/** An error of the library in words for people. */
function describe(error: unknown, host: string): SignInError {
  if (error instanceof oauth.AuthorizationResponseError || error instanceof oauth.ResponseBodyError) {
    const said = error.error_description;
    if (error.error === "access_denied")
      return new SignInError(`You were not signed in: the sign-in was refused at ${host}.`, { said });
    if (error.error === "invalid_grant")
      return new SignInError("Your sign-in has expired. Sign in again to continue.");
    return new SignInError(`${host} did not sign you in. Ask who manages access.`, {
      said: said ?? error.error,
    });
  }
  if (error instanceof oauth.OperationProcessingError && error.code === oauth.JWT_TIMESTAMP_CHECK)
    return new SignInError(
      `The clocks of this computer and of ${host} differ. Correct it, then sign in again.`,
    );
  // Also if the issuer does not allow the origin of the page, which browsers do not say.
  if (error instanceof TypeError || error instanceof DOMException)
    return new SignInError(
      `${host}, where you sign in, cannot be reached from this page. Check the connection, then try again. ` +
        "If that does not help, ask who runs this service.",
      { isTransient: true },
    );
  return new SignInError(
    `${host} has sent something that is no valid sign-in. Ask who runs this service.`,
    error instanceof Error ? { said: error.message } : {},
  );
}
