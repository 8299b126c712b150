import { execFile, execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, mkdtempDisposable, open, readdir, rm, rmdir } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { disposing } from "./disposing.ts";

export type SmallDisk = Awaited<ReturnType<typeof openSmallDisk>>;

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
export async function openScratch(mebibytes: number) {
  await using opening = new AsyncDisposableStack();
  const disk = canMount() ? opening.use(await openSmallDisk(mebibytes)) : undefined;
  const folder = disk?.folder ?? opening.use(await mkdtempDisposable(join(tmpdir(), "simulation-"))).path;
  return disposing(opening, { folder, disk });
}

/** Mounts a disk in memory that is small enough to be filled. Unmounts those of processes that were killed. */
export async function openSmallDisk(mebibytes: number) {
  for (const name of await readdir(tmpdir())) {
    const [, pid] = /^small-disk-(\d+)-/.exec(name) ?? [];
    if (pid && !existsSync(`/proc/${pid}`)) await unmount(join(tmpdir(), name)).catch(() => {});
  }
  const folder = await mkdtemp(join(tmpdir(), `small-disk-${process.pid}-`));
  await run("mount", ["-t", "tmpfs", "-o", `size=${mebibytes}m,mode=1777`, "tmpfs", folder]);
  const filler = join(folder, "filler");
  return {
    folder,
    /** Uses all free space. */
    async fill() {
      await using file = await open(filler, "w");
      const bytes = Buffer.alloc(2 ** 20);
      // Whole mebibytes leave less than one free; smaller writes fill that.
      for (let size = bytes.length; size > 0; size = size > 4096 ? Math.floor(size / 16) : 0) {
        while (await isWritten(file.write(bytes, 0, size)));
      }
    },
    /** Frees the space that `fill` has used. */
    clear: () => rm(filler, { force: true }),
    makeReadOnly: () => run("mount", ["-o", "remount,ro", folder]),
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
