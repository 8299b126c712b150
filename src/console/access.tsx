import { useLayoutEffect, useMemo, useState } from "preact/hooks";
import { forgetValues } from "./history.ts";
import { type Authentication, type Session, sessionOf } from "./session.ts";
import type { Issuer, SignIn, SignInError, Tokens, Way } from "./sign-in.ts";
import { type Reason, SignInView } from "./sign-in-view.tsx";

/** Without tokens the reader is being signed in, or has to sign in, perhaps for a reason. */
interface State {
  tokens?: Tokens | undefined;
  isBusy?: boolean;
  reason?: Reason;
}

/**
 * The session of the reader, what is shown in place of the views while there is none, and how the reader ends it. It takes
 * the response of the issuer out of the address bar, so it must be called before the place is read.
 */
export function useAccess(authentication: Authentication | undefined) {
  const signIn = useMemo(() => authentication?.signIn && openSignIn(authentication.signIn), []);
  const [state, setState] = useState<State>({ isBusy: signIn !== undefined });
  const { tokens, isBusy = false, reason } = state;
  const change = (next: State) => {
    forgetValues();
    setState(next);
  };
  const attempt = (work: Promise<Tokens | undefined>) => {
    change({ isBusy: true });
    work.then(
      (tokens) => change({ tokens }),
      (error) => change({ reason: reasonOf(error) }),
    );
  };
  useLayoutEffect(() => {
    if (signIn) attempt(signIn.begin());
  }, []);
  useLayoutEffect(() => {
    signIn?.whenSignedOutElsewhere(isSignedIn(tokens) ? () => change({}) : null);
  }, [state]);

  const session = useMemo<Session>(() => {
    const lose = (error: unknown) => change({ reason: reasonOf(error) });
    return {
      ...sessionOf(authentication, tokens?.token),
      token: tokens && tokenOf(tokens, signIn?.renew, lose),
      reject: (detail) => change({ reason: { message: rejection(detail, tokens) } }),
    };
  }, [state]);

  return {
    session,
    gate:
      !authentication || tokens ? undefined : (
        <SignInView
          host={signIn?.host}
          isBusy={isBusy}
          reason={reason}
          onSignIn={() => signIn && attempt(signIn.depart(false))}
          onToken={(token) => change({ tokens: pasted(token) })}
        />
      ),
    signOut:
      tokens &&
      (() => {
        change({});
        if (isSignedIn(tokens)) signIn?.signOut(tokens);
      }),
  };
}

/** A token that the reader has pasted. */
const pasted = (token: string): Tokens => ({ token, expiresAtMs: Number.POSITIVE_INFINITY });

/** True for tokens of the issuer. */
const isSignedIn = (tokens: Tokens | undefined) => tokens && tokens.expiresAtMs < Number.POSITIVE_INFINITY;

/** The service may accept the next token, or none as long as its settings differ from those of the issuer. */
const rejection = (detail: string, tokens: Tokens | undefined): string =>
  isSignedIn(tokens)
    ? `The service does not accept your sign-in (${detail}). Sign in again. If that does not help, ask who runs this service.`
    : `The token was not accepted: ${detail}.`;

const reasonOf = (error: unknown): Reason =>
  isSignInError(error) ? error : { message: "The sign-in has failed. Reload the page, then try again." };

/** The class is in a file of its own, which is loaded only to sign in. */
const isSignInError = (error: unknown): error is SignInError =>
  error instanceof Error && "isTransient" in error;

/** A token is renewed so long before it expires. */
const renewEarlyMs = 30_000;
/** Requests that were sent with the token before may be rejected so long after a renewal. */
const overlapMs = 10_000;

/**
 * The token of each request. It is renewed before it expires, and if the service rejects it; requests share a renewal.
 * `lose` is called when the issuer renews it no more.
 */
function tokenOf(
  tokens: Tokens,
  renew: ((tokens: Tokens) => Promise<Tokens>) | undefined,
  lose: (error: unknown) => void,
): Session["token"] {
  let renewal: Promise<unknown> | undefined;
  let renewedAtMs = 0;
  return async ({ refresh }) => {
    const leftMs = tokens.expiresAtMs - Date.now();
    const isDue = refresh ? Date.now() - renewedAtMs > overlapMs : leftMs < renewEarlyMs;
    if (renew && tokens.refreshToken && isDue) {
      renewal ??= renew(tokens)
        .then((renewed) => {
          Object.assign(tokens, renewed);
          renewedAtMs = Date.now();
        })
        .finally(() => {
          renewal = undefined;
        });
      await renewal.catch((error) => {
        const isTransient = isSignInError(error) && error.isTransient;
        if (!isTransient) lose(error);
        if (!isTransient || refresh || leftMs <= 0) throw error;
      });
    }
    return tokens.token;
  };
}

/** The bundler writes the import. */
declare function importSignIn(): Promise<typeof import("./sign-in.ts")>;

const wayKey = "sign-in";

/** Signs the reader in at the issuer, whose code is loaded only then. */
function openSignIn(settings: SignIn) {
  const redirectUri = location.origin + location.pathname;
  /** Marks that the reader has signed in and not out, so that the next page does so without a click. */
  const mark = `signed in at ${location.pathname}`;
  const otherTabs = new BroadcastChannel(mark);
  const arrival = takeArrival();
  let opened: Promise<Issuer> | undefined;
  const open = () => {
    opened ??= importSignIn().then(({ openIssuer }) => openIssuer(settings, redirectUri));
    // The next attempt tries again.
    opened.catch(() => {
      opened = undefined;
    });
    return opened;
  };

  async function depart(isSilent: boolean): Promise<undefined> {
    const { url, way } = await (await open()).depart(location.hash, isSilent);
    sessionStorage.setItem(wayKey, JSON.stringify(way));
    if (isSilent) location.replace(url);
    else location.assign(url);
    // The browser leaves the page, or shows it again when the reader goes back.
    await new Promise((resolve) =>
      addEventListener("pageshow", (event) => event.persisted && resolve(event)),
    );
  }

  return {
    host: new URL(settings.issuer).host,
    depart,
    /** The tokens of a reader who comes back from the issuer, or whom it still knows. */
    async begin(): Promise<Tokens | undefined> {
      const { response, way } = arrival;
      // A reader on whose way something went wrong must not be sent on it again.
      if (!response) return !way && localStorage.getItem(mark) !== null ? depart(true) : undefined;
      localStorage.removeItem(mark);
      const tokens = await (await open()).arrive(response, way);
      if (tokens) localStorage.setItem(mark, "");
      return tokens;
    },
    renew: async (tokens: Tokens) => (await open()).renew(tokens),
    /** Sets what happens when the reader signs out in another tab, at a computer that others may use next. */
    whenSignedOutElsewhere(end: (() => void) | null) {
      otherTabs.onmessage = end;
    },
    async signOut(tokens: Tokens) {
      localStorage.removeItem(mark);
      otherTabs.postMessage("signed out");
      const url = (await open()).signOutUrl(tokens);
      if (url) location.assign(url);
    },
  };
}

/**
 * The way on which the reader has left this tab last, and the response of the issuer. It is taken out of the address bar,
 * which gets the place of the reader again.
 */
function takeArrival() {
  const stored = sessionStorage.getItem(wayKey);
  sessionStorage.removeItem(wayKey);
  const way = stored === null ? undefined : (JSON.parse(stored) as Way);
  const response = [location.hash, location.search]
    .filter((part) => !part.startsWith("#/"))
    .map((part) => new URLSearchParams(part.slice(1)))
    .find((part) => part.has("code") || part.has("error"));
  if (response) history.replaceState(history.state, "", location.pathname + (way?.place ?? ""));
  return { response, way };
}
