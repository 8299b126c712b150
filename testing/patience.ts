/** How long a test waits for what must come. It measures nothing: it is long enough for a machine that is very busy. */
export const patienceMs = 120_000;
