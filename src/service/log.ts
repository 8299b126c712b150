import { pino } from "pino";

export type { FastifyBaseLogger as Logger } from "fastify";

export const logLevels = ["fatal", "error", "warn", "info", "debug", "trace", "silent"] as const;
export type LogLevel = (typeof logLevels)[number];

/** JSON lines on standard output, as the framework writes them. */
export const openLog = (level: LogLevel) => pino({ level });
