import { describe } from "vitest";
import { canMount, openSmallDisk, type SmallDisk } from "./small-disk.ts";

/** Describes tests on a disk of this size. They are skipped where no disk can be mounted, in CI too. */
export const describeOnSmallDisk = (
  title: string,
  mebibytes: number,
  tests: (openDisk: () => Promise<SmallDisk>) => void,
) => describe.runIf(canMount())(title, () => tests(() => openSmallDisk(mebibytes)));
