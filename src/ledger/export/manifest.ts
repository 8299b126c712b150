import { open, readdir, readFile, rename } from "node:fs/promises";
import { join } from "node:path";
import { lockNames } from "../../process/folder-lock.ts";
import { privateFileMode } from "../../process/private-folder.ts";
import { toJson } from "../../values/json.ts";
import type { Place } from "../tables/known/walk.ts";
import type { KindName } from "./kinds.ts";
import type { TallyGroup } from "./tally.ts";

export type Format = "ndjson" | "csv" | "parquet";

/** What a command line chooses. An export is resumed only with the same choice. */
export interface Choice {
  format: Format;
  /** Instants in UTC: the first is included, the second is not. */
  from: string;
  to: string;
  /** Null for all. */
  account: string | null;
  rows_per_file: number;
}

/** A file of an export that is whole. */
export interface ExportedFile {
  name: string;
  rows: number;
  bytes: number;
  sha256: string;
}

/** The manifest of an export. It has nothing that differs between two exports of the same choice at one position. */
export interface Manifest extends Choice {
  format_version: 1;
  complete: boolean;
  ledger_id: string;
  currency: string;
  /** The position at which everything was read. */
  known_at: string;
  /** The signed checkpoint of the entries of the log up to the position. Null: the ledger has no log. */
  checkpoint: string | null;
  counts: Record<KindName, number>;
  sums: Record<KindName, TallyGroup[]>;
  files: ExportedFile[];
  /** Where an export goes on that is not complete. */
  next?: { kind: KindName; after: Place | null };
}

const manifestName = "manifest.json";
/** What has this end is not whole. */
export const incompleteEnd = ".part";

/** The names of all files of an export. */
export const exportNames =
  /^(manifest\.json|(transactions|events|payouts)-\d{5,}\.(ndjson|csv|parquet))(\.part)?$/;

/** The manifest in the folder, if it has one. Throws if the folder has files that belong to something else. */
export async function readManifest(folder: string): Promise<Manifest | undefined> {
  const names = await readdir(folder);
  const other = names.find((name) => !exportNames.test(name) && !lockNames.test(name));
  if (other !== undefined)
    throw new Error(
      `the folder ${folder} has other files, such as ${other}; an export needs a folder of its own`,
    );
  if (!names.includes(manifestName)) return undefined;
  return JSON.parse(await readFile(join(folder, manifestName), "utf8")) as Manifest;
}

/** Writes the manifest, whole or not at all. */
export async function writeManifest(folder: string, manifest: Manifest): Promise<void> {
  const path = join(folder, manifestName);
  const file = await open(path + incompleteEnd, "w", privateFileMode);
  try {
    await file.writeFile(toJson(manifest));
    await file.sync();
  } finally {
    await file.close();
  }
  await nameWhole(folder, manifestName);
}

/** Gives a file that is whole its name, for good. */
export async function nameWhole(folder: string, name: string): Promise<void> {
  await rename(join(folder, name + incompleteEnd), join(folder, name));
  const opened = await open(folder, "r");
  try {
    await opened.sync();
  } finally {
    await opened.close();
  }
}
