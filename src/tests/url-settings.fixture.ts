import { settings as featuresSettings } from "../features/settings.ts";
import { commonSettings } from "../http/settings.ts";
import { settings as ledgerSettings } from "../ledger/settings.ts";

// Ways to write a URL with a password in a setting, right and wrong.

export const secret = "hunter2";
export const settings = { ...commonSettings, ...ledgerSettings, ...featuresSettings };

/** The settings that are URLs, each with the schemes and the end of a valid one. Nothing listens at its host. */
const urlSettings: { name: keyof typeof settings; schemes: string[]; end: string }[] = [
  { name: "DATABASE_URL", schemes: ["postgres", "postgresql", "pglite"], end: "/db" },
  { name: "DATABASE_READ_URL", schemes: ["postgres", "postgresql"], end: "/db" },
  {
    name: "QUEUE_URL",
    schemes: ["amqp", "amqps", "kafkas", "sqs+http", "sqs+https", "sqs+embedded", "memory"],
    end: "/topic",
  },
  {
    name: "FEATURES_STORE_URL",
    schemes: ["redis", "rediss", "redis+cluster", "postgres", "lmdb", "memory"],
    end: "/0",
  },
  { name: "PUBLISH_URL", schemes: ["https", "http", "amqp", "file"], end: "/hook" },
  { name: "PUBLISH_URL", schemes: ["sns+https"], end: "/arn:aws:sns:eu-west-1:1:events" },
  { name: "AUTH_JWKS_URL", schemes: ["https", "http"], end: "/jwks" },
  { name: "PUBLIC_URL", schemes: ["https", "http"], end: "/ledger" },
  { name: "CORS_ORIGINS", schemes: ["https", "http"], end: "" },
];

type Form = (scheme: string, end: string) => string;

const h = "127.0.0.1:1";
export const forms = {
  "the right form": (scheme, end) => `${scheme}://u:${secret}@${h}${end}`,
  "no slash": (scheme, end) => `${scheme}:u:${secret}@${h}${end}`,
  "one slash": (scheme, end) => `${scheme}:/u:${secret}@${h}${end}`,
  "three slashes": (scheme, end) => `${scheme}:///u:${secret}@${h}${end}`,
  "four slashes": (scheme, end) => `${scheme}:////u:${secret}@${h}${end}`,
  backslashes: (scheme, end) => `${scheme}:\\\\u:${secret}@${h}${end}`,
  "a slash and a backslash": (scheme, end) => `${scheme}:/\\u:${secret}@${h}${end}`,
  "two slashes and a backslash": (scheme, end) => `${scheme}://\\u:${secret}@${h}${end}`,
  "a backslash in the password": (scheme, end) => `${scheme}://u:1\\${secret}@${h}${end}`,
  "an upper-case scheme": (scheme, end) => `${scheme.toUpperCase()}://u:${secret}@${h}${end}`,
  "an upper-case scheme, no slash": (scheme, end) => `${scheme.toUpperCase()}:u:${secret}@${h}${end}`,
  "white space around it": (scheme, end) => ` \t${scheme}://u:${secret}@${h}${end}\r\n`,
  "white space in the password": (scheme, end) => `${scheme}://u:1 ${secret}@${h}${end}`,
  "white space behind the scheme": (scheme, end) => `${scheme}: //u:${secret}@${h}${end}`,
  "white space behind the slashes": (scheme, end) => `${scheme}:// u:${secret}@${h}${end}`,
  "a tab between the slashes": (scheme, end) => `${scheme}:/\t/u:${secret}@${h}${end}`,
  "a line feed in the scheme": (scheme, end) =>
    `${scheme.slice(0, 2)}\n${scheme.slice(2)}://u:${secret}@${h}${end}`,
  "a tab in the password": (scheme, end) => `${scheme}://u:1\t${secret}@${h}${end}`,
  "an encoded @": (scheme, end) => `${scheme}://u:${secret}%40${h}${end}`,
  "an encoded colon": (scheme, end) => `${scheme}://u%3A${secret}@${h}${end}`,
  "an encoded @ and colon": (scheme, end) => `${scheme}://u%3A${secret}%40${h}${end}`,
  "encoded slashes": (scheme, end) => `${scheme}:%2F%2Fu:${secret}@${h}${end}`,
  "two @": (scheme, end) => `${scheme}://u:1@${secret}@${h}${end}`,
  "an @ in the query": (scheme, end) => `${scheme}://u:1?${secret}=1@${h}${end}`,
  "a name in the query": (scheme, end) => `${scheme}://${h}${end}?${secret}%40=1`,
  "a password in the query": (scheme, end) =>
    `${scheme}://u@${h}${end}?password=${secret}&sslpassword=${secret}`,
  "an @ in the path": (scheme, end) => `${scheme}://u:1/${secret}@${h}${end}`,
  "an @ in the path behind the host": (scheme, end) => `${scheme}://${h}${end}/u:${secret}@b`,
  "an @ in the fragment": (scheme, end) => `${scheme}://u:1#${secret}@${h}${end}`,
  "a fragment behind the host": (scheme, end) => `${scheme}://${h}${end}#u:${secret}@b`,
  "a # in the password": (scheme, end) => `${scheme}://u:a#${secret}@${h}${end}`,
  "only a user": (scheme, end) => `${scheme}://${secret}@${h}${end}`,
  "only a user, no slash": (scheme, end) => `${scheme}:${secret}@${h}${end}`,
  "only a password": (scheme, end) => `${scheme}://:${secret}@${h}${end}`,
  "only a password, no slash": (scheme, end) => `${scheme}::${secret}@${h}${end}`,
  "an address of IPv6": (scheme, end) => `${scheme}://u:${secret}@[::1]:1${end}`,
  "several hosts": (scheme, end) => `${scheme}://u:${secret}@${h},127.0.0.1:2${end}`,
  "several hosts with passwords": (scheme, end) =>
    `${scheme}://u:${secret}@${h},u:${secret}@127.0.0.1:2${end}`,
  "no host": (scheme, end) => `${scheme}://u:${secret}@${end}`,
  "no host, which is in the query": (scheme, end) => `${scheme}://u:${secret}@${end}?host=/nowhere`,
  "a host in the query": (scheme, end) => `${scheme}:///u:${secret}@${h}${end}?host=/nowhere`,
  "no number of a port": (scheme, end) => `${scheme}://u:${secret}@127.0.0.1:${end}`,
  "a port out of range": (scheme, end) => `${scheme}://u:${secret}@127.0.0.1:65536${end}`,
  "a folder": (scheme) => `${scheme}:./data/u:${secret}@folder`,
  "a folder from the root": (scheme) => `${scheme}:///data/u:${secret}@folder`,
  "an encoded folder": (scheme) => `${scheme}:./data/u%3A${secret}%40folder`,
  "an unknown scheme": (scheme, end) => `x-${scheme}://u:${secret}@${h}${end}`,
  "no scheme": (_scheme, end) => `//u:${secret}@${h}${end}`,
  "no scheme and no slash": (_scheme, end) => `u:${secret}@${h}${end}`,
  "a secret as the scheme": (_scheme, end) => `${secret}:u@${h}${end}`,
  quotes: (scheme, end) => `"${scheme}://u:${secret}@${h}${end}"`,
  "an assignment": (scheme, end) => `DATABASE_URL=${scheme}://u:${secret}@${h}${end}`,
  "a scheme before the scheme": (scheme, end) => `url:${scheme}://u:${secret}@${h}${end}`,
} satisfies Record<string, Form>;

/** Every text of this form, with its setting. */
export const textsOf = (write: Form) =>
  urlSettings.flatMap(({ name, schemes, end }) =>
    schemes.map((scheme) => ({ name, text: write(scheme, end) })),
  );

/** True if a text has the password, also in lower case as in a host. */
export const showsSecret = (text: string) => text.toLowerCase().includes(secret);
