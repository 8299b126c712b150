import { styleText } from "node:util";
import { pino } from "pino";
import { printable } from "./command.ts";

/** A record of the log, as pino writes it. */
interface LogRecord {
  level: number;
  /** The instant of the record, in milliseconds since 1970. */
  time: number;
  msg?: string;
  service?: string;
  err?: LoggedError;
  [field: string]: unknown;
}

/** An error as `describeError` describes it. */
interface LoggedError {
  type: string;
  code?: unknown;
  message?: string;
  stack?: string;
  cause?: LoggedError;
  errors?: LoggedError[];
}

type Style = Parameters<typeof styleText>[0];

const styles: Record<number, Style> = { 30: "green", 40: "yellow", 50: "red", 60: "red" };

/**
 * A record of the log as text for a person: local time, level, service, message, and the other fields, which get lines of
 * their own if the terminal is too narrow. Colours depend on the stream, `NO_COLOR` and `FORCE_COLOR`.
 */
export function textOf(record: LogRecord, stream: NodeJS.WriteStream): string {
  const { level, time, msg = "", service = "", err, pid: _pid, hostname: _hostname, ...fields } = record;
  const paint = (style: Style, text: string) => styleText(style, text, { stream });
  const name = pino.levels.labels[level]?.toUpperCase() ?? String(level);
  const clock = new Date(time).toTimeString().slice(0, "HH:MM:SS".length);
  const prefix = [clock, name.padEnd(5), service.padEnd(8)];
  const entries = Object.entries(fields).map(([key, value]) => [key, shown(value)] as const);

  const width = [...prefix, printable(msg), ...entries.map(([key, text]) => `${key} ${text}`)].join(
    "  ",
  ).length;
  const separator = width > (stream.columns || 80) ? `\n${" ".repeat(prefix.join(" ").length)} ` : "  ";
  const line = [
    `${paint("dim", clock)} ${paint(styles[level] ?? "dim", prefix[1] as string)} ${prefix[2]} ${printable(msg)}`,
    ...entries.map(([key, text]) => `${paint("dim", key)} ${text}`),
  ];
  return `${line.join(separator)}\n${err ? `${errorLines(err, "  ")}\n` : ""}`;
}

const shown = (value: unknown): string =>
  printable(typeof value === "string" ? value : JSON.stringify(value));

function errorLines(
  { type, code, message = "", stack = "", cause, errors = [] }: LoggedError,
  indent: string,
): string {
  const causes = [...(cause ? [cause] : []), ...errors].map((one) => errorLines(one, `${indent}  `));
  const frames = stack.split("\n").filter((frame) => frame !== "");
  const head = `${indent}${type}${code === undefined ? "" : ` ${code}`}: ${message}`;
  return [printable(head), ...frames.map((frame) => printable(indent + frame.trimStart())), ...causes].join(
    "\n",
  );
}
