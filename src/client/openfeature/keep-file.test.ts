import { mkdtemp, readdir, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate as afterThisTurn } from "node:timers/promises";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { Copy } from "./copy.ts";
import { readCopy } from "./copy-file.ts";
import { emptyEntries } from "./entries.ts";
import { keepFile } from "./keep-file.ts";

const origin = { baseUrl: "http://127.0.0.1:8080/", kinds: ["customer"] };
const copyAt = (cursor: string): Copy => ({
  entries: emptyEntries(origin.kinds),
  cursor,
  currentAt: performance.now(),
});

beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] }));
afterEach(() => void vi.useRealTimers());

/** Resolves when the write before is over and the next one waits. */
async function nextWrite(): Promise<void> {
  while (vi.getTimerCount() === 0) await afterThisTurn();
}

/** Begins the next write. Returns the time that it has waited, on the clock of the test. */
function beginWrite(): number {
  const start = performance.now();
  vi.advanceTimersToNextTimer();
  return performance.now() - start;
}

test("a file is written after the copy, then at most every 10 seconds, and at the end", async () => {
  const folder = await mkdtemp(join(tmpdir(), "keep-"));
  const path = join(folder, "copy.json");
  const cursorInFile = async () => (await readCopy(path, origin))?.cursor;
  const warn = vi.fn();
  const file = keepFile(path, origin, { error: warn, warn, info: warn, debug: warn });

  file.write(copyAt("1"));
  file.write(copyAt("2"));
  expect(beginWrite()).toBe(0);
  file.write(copyAt("3"));
  await nextWrite();
  expect([await cursorInFile(), (await stat(path)).mode & 0o777]).toEqual(["2", 0o600]);
  expect(beginWrite()).toBe(10_000);
  // A write that lasts for a second has a rest of twenty.
  vi.advanceTimersByTime(1_000);
  file.write(copyAt("4"));
  await nextWrite();
  expect(await cursorInFile()).toBe("3");
  expect(beginWrite()).toBe(20_000);

  await file.close(copyAt("5"));
  expect(await cursorInFile()).toBe("5");
  file.write(copyAt("5"));
  expect(vi.getTimerCount()).toBe(0);
  expect([await readdir(folder), warn.mock.calls]).toEqual([["copy.json"], []]);
});
