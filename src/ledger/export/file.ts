import { createHash } from "node:crypto";
import { type FileHandle, open } from "node:fs/promises";
import { join } from "node:path";
import { privateFileMode } from "../../process/private-folder.ts";
import { type ExportedFile, incompleteEnd, nameWhole } from "./manifest.ts";

/** Opens a file of an export. It gets its name when it is whole and on the disk. Disposal leaves one that is not. */
export async function openFile(folder: string, name: string) {
  const file: FileHandle = await open(join(folder, name + incompleteEnd), "w", privateFileMode);
  const hash = createHash("sha256");
  let bytes = 0;
  return {
    async write(data: Uint8Array): Promise<void> {
      hash.update(data);
      bytes += data.length;
      await file.writeFile(data);
    },
    async complete(rows: number): Promise<ExportedFile> {
      await file.sync();
      await nameWhole(folder, name);
      return { name, rows, bytes, sha256: hash.digest("hex") };
    },
    [Symbol.asyncDispose]: () => file.close(),
  };
}
