import { createHash } from "node:crypto";
import { outputOf } from "../../../testing/child-process.ts";
import type { Check } from "./table.ts";

/** The newest commit. */
export interface Change {
  commit: string;
  /** The number of commits on its main line: each landing that is one commit or one merge has the next number. */
  turn: number;
  /** The files that it and the commits of the day before it have changed. */
  files: string[];
}

const dayS = 24 * 60 * 60;
/** In how many turns each check is taken once. */
export const turns = 10;
/** How many checks are taken that the change does not touch, at the least. */
const othersMin = 2;

/** Reads the change from the history of this folder, which must be whole. */
export async function readChange(): Promise<Change> {
  const git = (...args: string[]) => outputOf(["git", ...args]).then((text) => text.trim());
  const [commit = "", time] = (await git("log", "-1", "--format=%H %ct")).split(" ");
  const since = `--since=@${Number(time) - dayS}`;
  const files = await git("log", "-m", "--first-parent", "--format=", "--name-only", since);
  return {
    commit,
    turn: Number(await git("rev-list", "--count", "--first-parent", "HEAD")),
    files: [...new Set(files.split("\n"))].filter(Boolean).sort(),
  };
}

/** A number that follows from the commit and the name: the same check has another one at the next commit. */
export const seedOf = (commit: string, name: string): number =>
  createHash("sha256").update(`${commit} ${name}`).digest().readUInt32BE() % 1_000_000;

/** The first file that the check's paths contain. */
const touchedFile = ({ paths }: Check, files: string[]) =>
  files.find((file) => paths.some((path) => file === path || file.startsWith(`${path}/`)));

/** Of the minutes of two checks, what remains when both run at a time: each uses more than one core. */
const shareTogether = 0.7;
const wallMinutesOf = ({ minutes, isAlone }: Check) => (isAlone ? 1 : shareTogether) * minutes;

/** The checks in as many parts as there are turns, of about the same minutes. */
function partsOf(wheel: Check[]): Check[][] {
  const parts: { minutes: number; checks: Check[] }[] = Array.from({ length: turns }, () => ({
    minutes: 0,
    checks: [],
  }));
  for (const check of wheel.toSorted((one, other) => wallMinutesOf(other) - wallMinutesOf(one))) {
    const [least] = parts.toSorted((one, other) => one.minutes - other.minutes);
    least?.checks.push(check);
    if (least) least.minutes += wallMinutesOf(check);
  }
  return parts.map(({ checks }) => checks);
}

/**
 * The long checks of a change: those whose turn it is, then those whose files it touches, while their minutes allow, then
 * others, until there are two that it does not touch and while the minutes allow. The order follows from the commit.
 */
export function takeFrom(wheel: Check[], { commit, turn, files }: Change, minutesMax: number) {
  const inOrder = wheel
    .map((check) => ({ check, rank: seedOf(commit, check.name), file: touchedFile(check, files) }))
    .sort((one, other) => one.rank - other.rank);
  const due = new Set(partsOf(wheel)[turn % turns]);
  const taken = new Map<Check, string>();
  let minutes = 0;
  let others = 0;
  const take = (one: (typeof inOrder)[number], why: string) => {
    if (taken.has(one.check)) return;
    taken.set(one.check, why);
    minutes += wallMinutesOf(one.check);
    if (one.file === undefined) others += 1;
  };
  const isRoomFor = ({ check }: (typeof inOrder)[number]) => minutes + wallMinutesOf(check) <= minutesMax;
  for (const one of inOrder) if (due.has(one.check)) take(one, "its turn");
  for (const one of inOrder) if (one.file !== undefined && isRoomFor(one)) take(one, `touched: ${one.file}`);
  for (const one of inOrder) {
    if (isRoomFor(one) || (others < othersMin && one.file === undefined)) take(one, "chosen by the commit");
  }
  return [...taken].map(([check, why]) => ({ check, why }));
}
