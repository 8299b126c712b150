import type { FastifyBaseLogger as Logger } from "fastify";
import { type DestinationStream, pino } from "pino";
import { describeError } from "./describe-error.ts";
import { textOf } from "./log-text.ts";

export type { Logger };

export const logLevels = ["fatal", "error", "warn", "info", "debug", "trace", "silent"] as const;
export type LogLevel = (typeof logLevels)[number];

export const logFormats = ["auto", "text", "json"] as const;
export type LogFormat = (typeof logFormats)[number];

/** True if a log writes lines of level `debug`. */
export const logsDebug = ({ level }: Logger): boolean => level === "debug" || level === "trace";

/** A log of JSON lines. Default destination: standard output. */
export const openLog = (level: LogLevel, destination?: DestinationStream) =>
  pino({ level, serializers: { err: describeError } }, destination ?? pino.destination(1));

/** Standard output for a log: as text or as JSON lines; `auto` is text on a terminal. */
export function logOutput(format: LogFormat): DestinationStream {
  const { stdout } = process;
  if (format === "json" || (format === "auto" && !stdout.isTTY)) return pino.destination(1);
  return { write: (line) => void stdout.write(textOf(JSON.parse(line), stdout)) };
}
