import {
  optional,
  reading,
  requires,
  type Settings,
  SettingsError,
  textMax,
} from "../../process/settings.ts";
import { isReachedBy } from "../../values/host.ts";
import { type authenticationSettings, issuerSettings } from "./authentication.ts";

/** A client id (RFC 6749, appendix A.1). */
const clientId = reading("a client id of up to 200 characters of ASCII", (text) =>
  /^[ -~]{1,200}$/.test(text) ? text : undefined,
);

/** Scopes (RFC 6749, section 3.3). */
const scopes = reading(`scopes of ASCII with spaces between them, up to ${textMax} characters`, (text) =>
  text.length <= textMax && /^[!#-[\]-~]+( +[!#-[\]-~]+)*$/.test(text) ? text : undefined,
);

/** How readers of the consoles sign in. Default: they paste a token. */
export const signInSettings = {
  AUTH_CONSOLE_CLIENT_ID: requires(issuerSettings, optional(clientId)),
  AUTH_CONSOLE_SCOPES: requires(["AUTH_CONSOLE_CLIENT_ID"], optional(scopes)),
};

/** The issuer at which readers of the consoles sign in. */
export interface SignIn {
  /** Its metadata are below `/.well-known/openid-configuration`. */
  issuer: string;
  clientId: string;
  /** The audience that a token must have. */
  audience: string;
  /** The scopes to request, with spaces between them. Default: those that a console uses. */
  scope: string | undefined;
}

/** Undefined if the consoles only take tokens. Throws if a page cannot read the metadata of the issuer. */
export function signInOf(
  settings: Settings<typeof signInSettings & typeof authenticationSettings>,
): SignIn | undefined {
  const { AUTH_ISSUER: issuer, AUTH_AUDIENCE: audience, AUTH_CONSOLE_CLIENT_ID: clientId } = settings;
  if (!issuer || !audience || !clientId) return undefined;
  if (!isIssuerUrl(issuer)) {
    const form = "a URL of https:, or of http: on this machine, without a query";
    throw new SettingsError([`AUTH_ISSUER must be ${form}, if AUTH_CONSOLE_CLIENT_ID is set`]);
  }
  return { issuer, audience, clientId, scope: settings.AUTH_CONSOLE_SCOPES };
}

/** True for a URL of an issuer (OpenID Connect Discovery 1.0, section 3), also of one on this machine. */
function isIssuerUrl(text: string): boolean {
  // Its origin becomes a part of a header.
  const url = /^https?:\/\/[\w.:[\]-]+(\/[^\s@?#\\]*)?$/.test(text) ? URL.parse(text) : null;
  return url !== null && (url.protocol === "https:" || isReachedBy(url.host, []));
}
