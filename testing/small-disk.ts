import { execFile, execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, open, readdir, rm, rmdir } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

/** A disk that is small enough to be filled. */
export interface SmallDisk extends AsyncDisposable {
  folder: string;
  /** Uses all free space. */
  fill(): Promise<void>;
  /** Frees the space that `fill` has used. */
  clear(): Promise<void>;
}

const run = promisify(execFile);

/** Only root can mount, and not on every system. */
export function canMount(): boolean {
  if (process.platform !== "linux" || process.getuid?.() !== 0) return false;
  try {
    execFileSync("unshare", ["--mount", "mount", "-t", "tmpfs", "tmpfs", "/mnt"], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}

/** A new folder, deleted on disposal. It is on a disk of this size where one can be mounted. */
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

/** Mounts a disk in memory. Unmounts those of processes that were killed. */
export async function openSmallDisk(mebibytes: number): Promise<SmallDisk> {
  for (const name of await readdir(tmpdir())) {
    const [, pid] = /^small-disk-(\d+)-/.exec(name) ?? [];
    if (pid && !existsSync(`/proc/${pid}`)) await unmount(join(tmpdir(), name)).catch(() => {});
  }
  const folder = await mkdtemp(join(tmpdir(), `small-disk-${process.pid}-`));
  await run("mount", ["-t", "tmpfs", "-o", `size=${mebibytes}m,mode=1777`, "tmpfs", folder]);
  const filler = join(folder, "filler");
  return {
    folder,
    async fill() {
      await using file = await open(filler, "w");
      const bytes = Buffer.alloc(2 ** 20);
      // Whole mebibytes leave less than one free; smaller writes fill that.
      for (let size = bytes.length; size > 0; size = size > 4096 ? Math.floor(size / 16) : 0) {
        while (await isWritten(file.write(bytes, 0, size)));
      }
    },
    clear: () => rm(filler, { force: true }),
    [Symbol.asyncDispose]: () => unmount(folder),
  };
}

async function unmount(folder: string): Promise<void> {
  await run("umount", ["--lazy", folder]);
  await rmdir(folder);
}

/** Resolves with false if the disk is full. */
async function isWritten(write: Promise<unknown>): Promise<boolean> {
  try {
    await write;
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOSPC") return false;
    throw error;
  }
}
