import { createWriteStream } from "node:fs";
import { mkdtempDisposable, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { constants, createZstdCompress } from "node:zlib";
import { PGlite } from "@electric-sql/pglite";
import { create } from "tar";
import manifest from "../package.json" with { type: "json" };
import { rejectUnknown, runCommand, say } from "../src/process/command.ts";
import { numeral } from "../src/process/progress.ts";
import { root } from "../testing/project.ts";

const file = "src/database/pglite/empty.tar.zst";

const usage = `Usage: npm run embedded-database

Makes ${file}: the empty database with which the embedded engine begins. Run it after another
version of @electric-sql/pglite is installed. The archive contains the version; a test compares it.

  --help   print this text
`;

/** A large window finds what the three databases of an empty engine have in common. Node.js decompresses up to 2^27. */
const compression = {
  params: {
    [constants.ZSTD_c_compressionLevel]: 19,
    [constants.ZSTD_c_windowLog]: 26,
    [constants.ZSTD_c_enableLongDistanceMatching]: 1,
  },
};

await runCommand("embedded-database", usage, async (args) => {
  rejectUnknown(args, []);
  await using folder = await mkdtempDisposable(join(tmpdir(), "embedded-database-"));
  const pglite = await PGlite.create({ dataDir: folder.path });
  await pglite.close();
  await writeFile(join(folder.path, "pglite_version"), `${manifest.dependencies["@electric-sql/pglite"]}\n`);
  const entries = create({ cwd: folder.path, portable: true, noMtime: true }, ["."]);
  await pipeline(entries, createZstdCompress(compression), createWriteStream(join(root, file)));
  say(`${file}: ${numeral((await stat(join(root, file))).size)} bytes`);
});
