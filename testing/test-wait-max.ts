/** Limit for a wait in a test. It is long enough for a very busy machine; no test measures anything with it. */
export const testWaitMaxMs = 120_000;
