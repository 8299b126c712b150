const terminalIntervalMs = 100;
const lineIntervalMs = 5000;

export type Progress = ReturnType<typeof openProgress>;

/**
 * Shows the progress of long work on standard error: the count, the rate, and the remaining time if the total is known. Once
 * more than the total is done, since others add items meanwhile, it is unknown. On a terminal the progress is one line, which
 * disappears on disposal; elsewhere it is a line every 5 seconds.
 */
export function openProgress(done: string, total?: number, stream: NodeJS.WriteStream = process.stderr) {
  const start = performance.now();
  let count = 0;
  let shownAt = start;
  function show(now: number): void {
    const rate = count / ((now - start) / 1000);
    const isTotalKnown = total !== undefined && count <= total;
    const parts = [
      isTotalKnown ? `${numeral(count)} of ${numeral(total)} ${done}` : `${numeral(count)} ${done}`,
      `${numeral(Math.round(rate))}/s`,
      ...(isTotalKnown ? [`${numeral(Math.ceil((total - count) / rate))} s remaining`] : []),
    ];
    stream.write(stream.isTTY ? `\r\x1b[K${parts.join(", ")}` : `${parts.join(", ")}\n`);
  }
  return {
    /** The number of items done. */
    get count(): number {
      return count;
    },
    advance(by: number): void {
      count += by;
      const now = performance.now();
      if (now - shownAt < (stream.isTTY ? terminalIntervalMs : lineIntervalMs)) return;
      shownAt = now;
      show(now);
    },
    [Symbol.dispose](): void {
      if (stream.isTTY) stream.write("\r\x1b[K");
    },
  };
}

export const numeral = (count: number) => count.toLocaleString("en");
