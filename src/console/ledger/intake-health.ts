import { formatCount, formatDuration, formatMinute } from "../format.ts";
import type { IntakeReport } from "./client.ts";

/** A lag of a receiver that is not normal. */
const lagMaxMs = 60_000;

/** The newest minute in which events were stored. */
const latestOf = ({ minutes }: IntakeReport) =>
  minutes.findLast(({ lag_ms_average }) => lag_ms_average !== null);

/** Whether events wait longer than they should before they are stored. */
export function isBehind(report: IntakeReport, now = Date.now()): boolean {
  const latest = latestOf(report);
  const isIdle = latest === undefined || now - Date.parse(latest.minute) > 2 * lagMaxMs;
  const waits = (report.messages_waiting ?? 0) > 0;
  return (isIdle && waits) || (!isIdle && Number(latest.lag_ms_average) > lagMaxMs);
}

/** Whether all is well and since when, in one sentence. */
export function healthOf(report: IntakeReport): { isWell: boolean; text: string } {
  const { messages_waiting: waiting, open_dead_letters: failed, minutes } = report;
  const latest = latestOf(report);
  const last = latest && `The newest events are of ${formatMinute(latest.minute)}.`;
  if (waiting === null) return { isWell: false, text: `The queue cannot be reached. ${last ?? ""}` };
  if (isBehind(report))
    return {
      isWell: false,
      text: latest
        ? `The receiver is behind: ${messages(waiting)} wait. In its latest minute, ${formatMinute(latest.minute)}, events were ${formatDuration(Number(latest.lag_ms_average))} old.`
        : `The receiver is behind: ${messages(waiting)} wait, and none was stored in the last hour.`,
    };
  const retried = minutes.reduce((sum, minute) => sum + minute.retried, 0);
  const since = minutes.findLast(({ retried, dead_letter }) => retried + dead_letter > 0)?.minute;
  const state = since
    ? `All messages after ${formatMinute(since)} were stored${retried > 0 ? "" : " at the first attempt"}.`
    : minutes.length > 0
      ? "All messages of the last hour were stored at the first attempt."
      : "No message arrived in the last hour, and none waits.";
  const letters =
    failed > 0 ? ` ${messages(failed)} of earlier need${failed === 1 ? "s" : ""} a decision: see below.` : "";
  return { isWell: failed === 0, text: `${state}${letters}` };
}

const messages = (count: number) => `${formatCount(count)} ${count === 1 ? "message" : "messages"}`;
