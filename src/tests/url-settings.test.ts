import { describe, expect, test } from "vitest";
import { withoutCredentials } from "../engines/url.ts";
import type { TargetSetting } from "../ledger/publishing/targets.ts";
import { readSettings, SettingsError } from "../process/settings.ts";
import { forms, secret, settings, showsSecret, textsOf } from "./url-settings.fixture.ts";

const forKeys = { AUTH_ISSUER: "issuer", AUTH_AUDIENCE: "audience" };
const foldersOf = /^(pglite|sqs\+embedded|lmdb|file):/i;

/** The texts that a process shows of the value of a setting: all of a folder, of which errors speak. */
function shownOf(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(shownOf);
  if (value instanceof URL) return [value.origin + value.pathname];
  if (typeof value === "object")
    return [(value as TargetSetting).name, ...shownOf((value as TargetSetting).url)];
  const text = String(value);
  return [foldersOf.test(text) ? decodeURIComponent(text) : withoutCredentials(text)];
}

/** What a setting with this text shows: errors, or parts of the log and of responses. */
function shown(name: keyof typeof settings, text: string): string[] {
  try {
    return shownOf(readSettings({ ...forKeys, [name]: text }, { [name]: settings[name] })[name]);
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error;
    return error.messages;
  }
}

describe.each(Object.entries(forms))("a URL with %s", (_form, write) => {
  test("shows its password in no setting", () => {
    const found = textsOf(write).filter(({ name, text }) => shown(name, text).some(showsSecret));
    expect(found).toEqual([]);
  });
});

test("a URL is shown without credentials, whatever its form is", () => {
  const texts = Object.values(forms)
    .flatMap(textsOf)
    .map(({ text }) => text);
  // Without a raw @ or as a scheme nothing is known to be a password; no setting accepts such a text.
  const known = texts.filter((text) => !/%(40|3A|2F)/i.test(text) && !text.startsWith(secret));
  expect(known.filter((text) => showsSecret(withoutCredentials(text)))).toEqual([]);
  for (const [text, expected] of [
    ["postgres://u:p@one,two:5432/db?sslmode=require", "postgres://one,two:5432/db"],
    ["sqs+embedded:./data/queue?port=4566", "sqs+embedded:./data/queue"],
    ["pglite:/home/user@example/data", "pglite:/home/user@example/data"],
    ["memory:", "memory:"],
  ] as const) {
    expect(withoutCredentials(text)).toBe(expected);
  }
});

test.each([
  ["DATABASE_URL", "pglite:/home/user@example/data"],
  ["DATABASE_URL", "postgres:///db?host=/var/run"],
  ["DATABASE_URL", "POSTGRES://u%40:p%2F@db_1.example:5432,[::1]/a%40b?application_name=a%40b"],
  ["FEATURES_STORE_URL", "lmdb:./my data/at:noon"],
  ["PUBLISH_URL", "https://shop.example/%40hook?to=a%40b"],
] as const)("%s can be %s", (name, text) => {
  expect(readSettings({ [name]: text }, { [name]: settings[name] })).toBeTruthy();
});

test.each([
  ["postgres:u:p@h/db", "has no // after its scheme; it must be postgres://"],
  ["postgres:/u:p@h/db", "has no // after its scheme; it must be postgres://"],
  ["postgres:///db", "has no host; it must be postgres://"],
  [
    "postgres://u:1/2@h/db",
    "has an @ after its host; in a name, a password or a value @ must be %40, / %2F and ? %3F",
  ],
  ["postgres://u:p@h/db#1", "has a #; in a name, a password or a value it must be %23"],
  ["postgres://u:p@h%40/db", "has a host with percent-encoding"],
  ["postgres://u:\tp@h/db", "has a control character, such as a tab"],
  ["pglite:./data/u:p@h", "has a folder with credentials; it must be pglite:FOLDER"],
  ["pglite:u@h/data", "has a folder with credentials; it must be pglite:FOLDER"],
])("DATABASE_URL=%s is rejected with the reason", (DATABASE_URL, reason) => {
  expect(() => readSettings({ DATABASE_URL }, { DATABASE_URL: settings.DATABASE_URL })).toThrow(
    `DATABASE_URL ${reason}`,
  );
});
