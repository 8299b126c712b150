import { execFile, execFileSync } from "node:child_process";
import { mkdtemp, open, rm, rmdir } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

/** A disk so small that it can be filled. */
export interface SmallDisk extends AsyncDisposable {
  folder: string;
  /** Takes all the space that is left. */
  fill(): Promise<void>;
  /** Gives it back. */
  clear(): Promise<void>;
}

const run = promisify(execFile);

/** Mounting is the right of root, where the system lets it. */
export function canMount(): boolean {
  if (process.platform !== "linux" || process.getuid?.() !== 0) return false;
  try {
    execFileSync("unshare", ["--mount", "mount", "-t", "tmpfs", "tmpfs", "/mnt"], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}

/** A folder that goes away, on a disk of so many mebibytes where one can be had. */
export async function openScratch(
  mebibytes: number,
): Promise<AsyncDisposable & { folder: string; disk?: SmallDisk }> {
  if (canMount()) {
    const disk = await openSmallDisk(mebibytes);
    return { folder: disk.folder, disk, [Symbol.asyncDispose]: () => disk[Symbol.asyncDispose]() };
  }
  const folder = await mkdtemp(join(tmpdir(), "simulation-"));
  return { folder, [Symbol.asyncDispose]: () => rm(folder, { recursive: true }) };
}

/** A disk in memory. */
export async function openSmallDisk(mebibytes: number): Promise<SmallDisk> {
  const folder = await mkdtemp(join(tmpdir(), "small-disk-"));
  await run("mount", ["-t", "tmpfs", "-o", `size=${mebibytes}m,mode=1777`, "tmpfs", folder]);
  const filler = join(folder, "filler");
  return {
    folder,
    async fill() {
      await using file = await open(filler, "w");
      const page = Buffer.alloc(2 ** 20);
      // What is written in whole mebibytes leaves less than one, which the last bytes take.
      for (let size = page.length; size > 0; size = size > 4096 ? Math.floor(size / 16) : 0) {
        while (await written(file.write(page, 0, size)));
      }
    },
    clear: () => rm(filler, { force: true }),
    async [Symbol.asyncDispose]() {
      await run("umount", ["--lazy", folder]);
      await rmdir(folder);
    },
  };
}

async function written(writing: Promise<unknown>): Promise<boolean> {
  try {
    await writing;
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOSPC") return false;
    throw error;
  }
}
