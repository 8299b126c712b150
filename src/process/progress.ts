const everyMsOnTerminal = 100;
const everyMsElsewhere = 5000;

export interface Progress extends Disposable {
  /** How many are done. */
  readonly count: number;
  advance(by: number): void;
}

/**
 * Tells on standard error how far a long work is, at what rate, and how long the rest will take when the whole is known:
 * in place on a terminal, elsewhere in a line every few seconds. Nothing of it stays on a terminal when it is disposed of.
 */
export function openProgress(
  done: string,
  total?: number,
  stream: NodeJS.WriteStream = process.stderr,
): Progress {
  const begun = performance.now();
  let count = 0;
  let told = begun;
  function tell(now: number): void {
    const rate = count / ((now - begun) / 1000);
    const parts = [
      total === undefined ? `${numeral(count)} ${done}` : `${numeral(count)} of ${numeral(total)} ${done}`,
      `${numeral(Math.round(rate))}/s`,
      ...(total === undefined ? [] : [`${numeral(Math.ceil((total - count) / rate))} s remaining`]),
    ];
    stream.write(stream.isTTY ? `\r\x1b[K${parts.join(", ")}` : `${parts.join(", ")}\n`);
  }
  return {
    get count() {
      return count;
    },
    advance(by) {
      count += by;
      const now = performance.now();
      if (now - told < (stream.isTTY ? everyMsOnTerminal : everyMsElsewhere)) return;
      told = now;
      tell(now);
    },
    [Symbol.dispose]() {
      if (stream.isTTY) stream.write("\r\x1b[K");
    },
  };
}

export const numeral = (count: number) => count.toLocaleString("en");
