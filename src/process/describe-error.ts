/**
 * What is told of an error, in the log and as the last words of a process: what, where and why, and nothing of the data
 * that was at work. Drivers hang statements and their values, people's data, on their errors.
 */
export function describeError(error: unknown): object {
  if (!(error instanceof Error)) return { type: typeof error };
  const { name: type, code, stack, cause, errors } = error as Error & { code?: unknown; errors?: unknown[] };
  return {
    type,
    code,
    message: messageOf(error),
    stack: stack && framesOf(stack),
    ...(cause !== undefined && { cause: describeError(cause) }),
    ...(errors && { errors: errors.map(describeError) }),
  };
}

/** The message, unless it can quote data. */
export function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (!quotesData(error)) return error.message.replace(argumentsOfRedis, "");
  return `withheld, since it can quote data (${(error as { code?: string }).code ?? error.name})`;
}

/**
 * A function of the platform quotes the text in which it found a fault (`"4242 4…" is not valid JSON`), and PostgreSQL,
 * in SQLSTATE class 22, the value (`invalid input syntax for type integer: "4242"`). What a trigger or a function of the
 * database raises may say anything; that is class P0, or whatever it chose.
 */
const quotesData = (error: Error & { code?: unknown; routine?: unknown }): boolean =>
  (error instanceof SyntaxError && /\(<anonymous>\)/.test(error.stack ?? "")) ||
  /^(22|P0)...$/.test(String(error.code)) ||
  error.routine === "exec_stmt_raise";

/** A Redis that does not know a command repeats it with what stood behind it, a password say. */
const argumentsOfRedis = /, with args beginning with: .*$/s;

/** A stack without the message at its head. */
const framesOf = (stack: string): string =>
  stack
    .split("\n")
    .filter((line) => line.startsWith("    at "))
    .join("\n");
