import { describe } from "vitest";
import { canMount, openSmallDisk, type SmallDisk } from "./small-disk.ts";

/** Describes tests on a disk of so many mebibytes; they are left out where none can be mounted, in CI too. */
export const describeOnSmallDisk = (
  title: string,
  mebibytes: number,
  tests: (openDisk: () => Promise<SmallDisk>) => void,
) =>
  canMount()
    ? describe(title, () => tests(() => openSmallDisk(mebibytes)))
    : describe.skip(`${title} (left out: no disk can be mounted)`, () =>
        tests(() => openSmallDisk(mebibytes)));
