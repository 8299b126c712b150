import { existsSync, globSync } from "node:fs";
import { rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type Installable, runToEnd } from "./install.ts";

/** The folder of a later release of Debian than that of the machine, with newer servers. */
export const laterDebian = "/opt/debian-trixie";
const release = "trixie";

/** The command of a program of the later release, with the libraries of that release. Undefined if it is not installed. */
export function laterProgram(path: string): [string, ...string[]] | undefined {
  const [program, libraries] = [join(laterDebian, path), join(laterDebian, "usr/lib")];
  const [loader] = globSync(`${laterDebian}/usr/lib*/ld-linux-*.so.*`);
  if (!existsSync(program) || !loader) return undefined;
  return [loader, "--library-path", globSync(`${libraries}/*-linux-gnu`).join(":"), program];
}

/**
 * A package of the later release. The release is made first, with debootstrap. Its folder gets its final name when it is
 * complete. Leftovers of an earlier attempt are removed, but no file system mounted there.
 */
export const laterPackage = (name: string, aptPackage: string, isInstalled: () => boolean): Installable => ({
  name,
  aptPackages: ["debootstrap", "debian-archive-keyring"],
  isInstalled,
  async install(stop) {
    if (!existsSync(laterDebian)) {
      const incomplete = `${laterDebian}.incomplete`;
      await runToEnd(["rm", "--recursive", "--force", "--one-file-system", incomplete], stop);
      await runToEnd(["debootstrap", "--variant=minbase", "--force-check-gpg", release, incomplete], stop);
      await rename(incomplete, laterDebian);
    }
    const policy = join(laterDebian, "usr/sbin/policy-rc.d");
    await writeFile(policy, "#!/bin/sh\nexit 101\n", { mode: 0o755 });
    try {
      const apt = ["chroot", laterDebian, "apt-get", "-qq"];
      await runToEnd([...apt, "update"], stop);
      await runToEnd([...apt, "install", "--yes", "--no-install-recommends", aptPackage], stop);
    } finally {
      await rm(policy);
    }
  },
});
