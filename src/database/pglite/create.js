import { createReadStream } from "node:fs";
import { workerData } from "node:worker_threads";
import { createZstdDecompress } from "node:zlib";
import { extract } from "tar";

// Extracts the empty database that `npm run embedded-database` has made into the folder that is the data of this thread.
// The files are written synchronously, since a thousand small ones would take many times as long with promises. In the
// main thread it would leave 10 MiB in use. It is JavaScript, since Node.js would load a compiler of 16 MiB into the
// thread to remove types.
const archive = createReadStream(new URL("empty.tar.zst", import.meta.url));
// As the engine does it for its own files, only this user gets access.
const onReadEntry = (entry) => {
  entry.mode &= 0o700;
};
const files = extract({ cwd: workerData, sync: true, strict: true, onReadEntry });
for await (const chunk of archive.pipe(createZstdDecompress({ chunkSize: 2 ** 20 }))) files.write(chunk);
files.end();
