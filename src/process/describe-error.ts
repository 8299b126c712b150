/**
 * The parts of an error that are safe to log: type, code, message and stack, with its causes. Other properties are left
 * out, since drivers attach statements and their values, which are personal data.
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

/** The message of an error, unless it can quote data. */
export function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (!quotesData(error)) return error.message.replace(argumentsOfRedis, "");
  return `withheld, because it can quote data (${(error as { code?: string }).code ?? error.name})`;
}

/**
 * Built-in functions quote the invalid text (`"4242 4…" is not valid JSON`). PostgreSQL quotes the value in SQLSTATE class
 * 22 (`invalid input syntax for type integer: "4242"`). The message that a trigger or function raises can contain
 * anything; its class is P0 or one that it chooses.
 */
const quotesData = (error: Error & { code?: unknown; routine?: unknown }): boolean =>
  (error instanceof SyntaxError && /\(<anonymous>\)/.test(error.stack ?? "")) ||
  /^(22|P0)...$/.test(String(error.code)) ||
  error.routine === "exec_stmt_raise";

/** Redis repeats the arguments of an unknown command, for example a password. */
const argumentsOfRedis = /, with args beginning with: .*$/s;

/** A stack trace without the message at its start. */
const framesOf = (stack: string): string =>
  stack
    .split("\n")
    .filter((line) => line.startsWith("    at "))
    .join("\n");
