import { type DestinationStream, pino } from "pino";
import { describeError } from "./describe-error.ts";

export type { FastifyBaseLogger as Logger } from "fastify";

export const logLevels = ["fatal", "error", "warn", "info", "debug", "trace", "silent"] as const;
export type LogLevel = (typeof logLevels)[number];

/** A log of JSON lines. Default destination: standard output. */
export const openLog = (level: LogLevel, destination?: DestinationStream) =>
  pino({ level, serializers: { err: describeError } }, destination ?? pino.destination(1));
