import { existsSync, globSync } from "node:fs";
import { join } from "node:path";
import { type Installable, installFolder, installPackages, runToEnd } from "./install.ts";

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

/** A package of the later release. The release is made first, with debootstrap. */
export const laterPackage = (name: string, aptPackage: string, isInstalled: () => boolean): Installable => ({
  name,
  aptPackages: ["debootstrap", "debian-archive-keyring"],
  isInstalled,
  async install(stop) {
    if (!existsSync(laterDebian)) {
      await installFolder(laterDebian, stop, (incomplete) =>
        runToEnd(["debootstrap", "--variant=minbase", "--force-check-gpg", release, incomplete], stop),
      );
    }
    await installPackages([aptPackage], stop, laterDebian);
  },
});
