import { expect, test } from "vitest";
import { readSettings, SettingsError } from "../../process/settings.ts";
import { authenticationSettings } from "./authentication.ts";
import { signInOf, signInSettings } from "./sign-in.ts";

type Environment = Record<string, string>;
const signInWith = (environment: Environment) =>
  signInOf(readSettings(environment, { ...authenticationSettings, ...signInSettings }));
const authentication = {
  ...{ AUTH_JWKS_URL: "https://a/keys", AUTH_ISSUER: "https://a/realm/", AUTH_AUDIENCE: "services" },
};
const valid = { ...authentication, AUTH_CONSOLE_CLIENT_ID: "console" };

test("readers sign in at the issuer if there is a client id", () => {
  const signIn = { issuer: "https://a/realm/", audience: "services", clientId: "console", scope: undefined };
  expect(signInWith(valid)).toEqual(signIn);
  const scope = "openid offline_access api://b/ledger:read";
  expect(signInWith({ ...valid, AUTH_CONSOLE_SCOPES: scope })).toEqual({ ...signIn, scope });
  for (const none of [{}, authentication, { ...authentication, AUTH_CONSOLE_CLIENT_ID: " " }])
    expect(signInWith(none)).toBeUndefined();
});

test.each(["http://127.0.0.1:8090", "http://localhost/realm", "http://[::1]:1/", "https://a.example:8443"])(
  "%s can be the issuer",
  (AUTH_ISSUER) => {
    expect(signInWith({ ...valid, AUTH_ISSUER })?.issuer).toBe(AUTH_ISSUER);
  },
);

const form = "AUTH_ISSUER must be a URL of https:, or of http: on this machine, without a query";
const issuerMessage = `${form}, if AUTH_CONSOLE_CLIENT_ID is set`;
const clientMessage = "AUTH_CONSOLE_CLIENT_ID must be a client id of up to 200 characters of ASCII";
const scopesMessage =
  "AUTH_CONSOLE_SCOPES must be scopes of ASCII with spaces between them, up to 2000 characters";
const issuers = ["trial", "http://a/", "http://127.0.0.1.example/", "https://a/?b", "https://a/#b"];
const odd = [
  "https://a b/",
  "https://a;script-src/",
  "https://u:p@a/",
  "https://a\\b",
  "urn:a",
  "https:///a",
];
test.each<[settings: Environment, message: string]>([
  ...[...issuers, ...odd].map((AUTH_ISSUER): [Environment, string] => [
    { ...valid, AUTH_ISSUER },
    issuerMessage,
  ]),
  ...["é", "a\nb", "c".repeat(201)].map((id): [Environment, string] => [
    { ...valid, AUTH_CONSOLE_CLIENT_ID: id },
    clientMessage,
  ]),
  ...['a"b', "a\\b", "é", "a\tb", "a ".repeat(1001)].map((scopes): [Environment, string] => [
    { ...valid, AUTH_CONSOLE_SCOPES: scopes },
    scopesMessage,
  ]),
  [
    { AUTH_CONSOLE_CLIENT_ID: "console" },
    "AUTH_CONSOLE_CLIENT_ID must be set together with AUTH_JWKS_URL and AUTH_ISSUER and AUTH_AUDIENCE",
  ],
  [
    { ...authentication, AUTH_CONSOLE_SCOPES: "openid" },
    "AUTH_CONSOLE_SCOPES must be set together with AUTH_CONSOLE_CLIENT_ID",
  ],
])("%j are rejected", (settings, message) => {
  expect(() => signInWith(settings)).toThrow(new SettingsError([message]));
});
