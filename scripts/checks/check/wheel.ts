import { createHash } from "node:crypto";
import { outputOf } from "../../../testing/child-process.ts";
import type { Check } from "./table.ts";

/** The newest commit, and the files that it and those of the day before it have changed. */
export interface Change {
  commit: string;
  files: string[];
}

const dayS = 24 * 60 * 60;
/** How many checks are taken that the change does not touch, at the least. */
const othersMin = 2;

/** Reads the change from the history of this folder, which must have the commits of a day. */
export async function readChange(): Promise<Change> {
  const git = (...args: string[]) => outputOf(["git", ...args]).then((text) => text.trim());
  const [commit = "", time] = (await git("log", "-1", "--format=%H %ct")).split(" ");
  const since = `--since=@${Number(time) - dayS}`;
  const files = await git("log", "-m", "--first-parent", "--format=", "--name-only", since);
  return { commit, files: [...new Set(files.split("\n"))].filter(Boolean).sort() };
}

/** A number that follows from the commit and the name: the same check has another one at the next commit. */
export const seedOf = (commit: string, name: string): number =>
  createHash("sha256").update(`${commit} ${name}`).digest().readUInt32BE() % 1_000_000;

/** The first file that the check's paths contain. */
const touchedFile = ({ paths }: Check, files: string[]) =>
  files.find((file) => paths.some((path) => file === path || file.startsWith(`${path}/`)));

/** The minutes of a check when two run at a time, but for those that run alone. */
const wallMinutesOf = ({ minutes, isAlone }: Check) => (isAlone ? minutes : minutes / 2);

/**
 * The long checks of a change: two that it does not touch, then those whose files it touches, then others, while their
 * minutes allow. The order follows from the commit, so that each check has its turn.
 */
export function takeFrom(wheel: Check[], { commit, files }: Change, minutesMax: number) {
  const inTurn = wheel
    .map((check) => ({ check, rank: seedOf(commit, check.name), file: touchedFile(check, files) }))
    .sort((one, other) => one.rank - other.rank);
  const touched = inTurn.filter(({ file }) => file !== undefined);
  const others = inTurn.filter(({ file }) => file === undefined);
  const first = others.slice(0, othersMin);
  let minutes = 0;
  return [...first, ...touched, ...others.slice(othersMin)].flatMap(({ check, file }, index) => {
    const after = minutes + wallMinutesOf(check);
    if (index >= first.length && after > minutesMax) return [];
    minutes = after;
    return { check, why: file === undefined ? "its turn" : `touched: ${file}` };
  });
}
