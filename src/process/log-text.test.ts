import { PassThrough } from "node:stream";
import { WriteStream } from "node:tty";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { openLog } from "./log.ts";
import { textOf } from "./log-text.ts";

const terminal = (properties: object) =>
  Object.assign(new PassThrough(), properties) as unknown as NodeJS.WriteStream;

beforeEach(() => {
  // Node.js also decides about colours by these.
  for (const name of ["FORCE_COLOR", "CI"]) vi.stubEnv(name, undefined);
  vi.stubEnv("TERM", "xterm-256color");
  vi.stubEnv("NO_COLOR", "1");
});
afterEach(() => vi.unstubAllEnvs());

/** What a log prints as text on a terminal of this width. */
function printed(columns: number, write: (log: ReturnType<typeof openLog>) => void): string {
  const lines: string[] = [];
  const stream = terminal({ columns });
  const sink = { write: (line: string) => void lines.push(textOf(JSON.parse(line), stream)) };
  write(openLog("debug", sink).child({ service: "ledger" }));
  return lines.join("").replaceAll(/^\d\d:\d\d:\d\d /gm, "");
}

test("a record is one line, unless the terminal is too narrow", () => {
  const write = (log: ReturnType<typeof openLog>) => log.info({ docs: "/docs", count: 3 }, "listening");
  expect(printed(80, write)).toBe("INFO  ledger   listening  docs /docs  count 3\n");
  const indent = " ".repeat("00:00:00 INFO  ledger   ".length);
  expect(printed(40, write)).toBe(`INFO  ledger   listening\n${indent}docs /docs\n${indent}count 3\n`);
});

test("an error has its stack and its causes on lines of their own", () => {
  const cause = Object.assign(new Error("refused"), { code: "ECONNREFUSED" });
  const text = printed(80, (log) => log.error({ err: new TypeError("failed", { cause }) }, "no queue"));
  expect(text).toMatch(/^ERROR ledger {3}no queue\n {2}TypeError: failed\n {2}at .*\n/);
  expect(text).toMatch(/\n {4}Error ECONNREFUSED: refused\n {4}at .*\n/);
});

test("text from elsewhere cannot control the terminal", () => {
  const text = printed(80, (log) =>
    log.warn({ reason: "\u001b[31m\u009b2J" }, "bad\u001b]0;title\u0007\nline"),
  );
  expect(text.replaceAll("\n", "")).not.toMatch(/\p{Cc}/u);
  expect(text).toContain("\\u001b");
});

test("lines are coloured if the stream allows it", () => {
  const record = { level: 40, time: 0, msg: "warned" };
  const stream = terminal({ columns: 80, isTTY: true, getColorDepth: WriteStream.prototype.getColorDepth });
  vi.stubEnv("NO_COLOR", undefined);
  expect(textOf(record, stream)).toContain("\u001b[33mWARN");
  vi.stubEnv("NO_COLOR", "1");
  expect(textOf(record, stream)).not.toContain("\u001b");
});
