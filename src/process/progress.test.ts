import { PassThrough } from "node:stream";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { openProgress } from "./progress.ts";

beforeEach(() => void vi.useFakeTimers({ toFake: ["performance"] }));
afterEach(() => void vi.useRealTimers());

test.each<[title: string, total: number | undefined, lines: string[]]>([
  [
    "with the remaining time",
    300,
    ["100 of 300 done, 20/s, 10 s remaining", "300 of 300 done, 30/s, 0 s remaining"],
  ],
  ["without it if the total is unknown", undefined, ["100 done, 20/s", "300 done, 30/s"]],
  [
    "without it once more than the total is done",
    299,
    ["100 of 299 done, 20/s, 10 s remaining", "300 done, 30/s"],
  ],
])("is a line every five seconds, %s", (_title, total, lines) => {
  const stream = new PassThrough({ encoding: "utf8" });
  using progress = openProgress("done", total, stream as unknown as NodeJS.WriteStream);
  for (const by of [100, 200]) {
    vi.advanceTimersByTime(5000);
    progress.advance(by);
  }
  expect(stream.read()).toBe(lines.map((line) => `${line}\n`).join(""));
});
