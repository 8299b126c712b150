import { type DestinationStream, pino } from "pino";

export type { FastifyBaseLogger as Logger } from "fastify";

export const logLevels = ["fatal", "error", "warn", "info", "debug", "trace", "silent"] as const;
export type LogLevel = (typeof logLevels)[number];

/** JSON lines, on standard output unless another destination is given. */
export const openLog = (level: LogLevel, destination?: DestinationStream) =>
  pino({ level, serializers: { err: describeError } }, destination ?? pino.destination(1));

/** Of an error only what tells where and why: drivers hang statements and their values, people's data, on theirs. */
function describeError(error: Error & { code?: unknown }): object {
  return { type: error.name, code: error.code, message: error.message, stack: error.stack };
}
