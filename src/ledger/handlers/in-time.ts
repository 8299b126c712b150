/** For those who look at how things are: what hangs is as bad as what fails. */
const answerMaxMs = 2000;

/** The same, but it rejects when it has not settled within 2 seconds. */
export async function inTime<Result>(work: Promise<Result>): Promise<Result> {
  const { promise: tooLate, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(reject, answerMaxMs, new Error(`no answer within ${answerMaxMs} ms`));
  try {
    return await Promise.race([work, tooLate]);
  } finally {
    clearTimeout(timer);
  }
}
