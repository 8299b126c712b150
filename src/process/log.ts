import type { FastifyBaseLogger as Logger } from "fastify";
import { type DestinationStream, pino } from "pino";
import type { Report } from "./command.ts";
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

/** True if the log on standard output has JSON lines: `auto` is text on a terminal. */
const isJson = (format: LogFormat) => format === "json" || (format === "auto" && !process.stdout.isTTY);

/** Libraries print some errors on the console, which would be lines of another format between those of the log. */
export function captureConsole(log: Logger): void {
  const capture = (...values: unknown[]) =>
    log.debug({ err: values.find((value) => value instanceof Error) }, "a library has printed an error");
  console.error = capture;
  console.warn = capture;
}

/** Standard output for a log, as text or as JSON lines. */
export function logOutput(format: LogFormat): DestinationStream {
  const { stdout } = process;
  if (isJson(format)) return pino.destination(1);
  return { write: (line) => void stdout.write(textOf(JSON.parse(line), stdout)) };
}

/**
 * Reports errors that end the process as JSON lines on standard error, if the log has JSON lines. Undefined if it has text.
 * The log may not be open yet, and `format` may be wrong.
 */
export function fatalReport(format: string | undefined): Report | undefined {
  if (!isJson(logFormats.find((known) => known === format?.trim()) ?? "auto")) return undefined;
  const log = openLog("fatal", pino.destination({ dest: 2, sync: true }));
  return (message, unexpected) => log.fatal(unexpected === undefined ? {} : { err: unexpected }, message);
}
