import { createReadStream } from "node:fs";
import { pipeline } from "node:stream/promises";
import { workerData } from "node:worker_threads";
import { createZstdDecompress } from "node:zlib";
import { extract } from "tar";

// Extracts the empty database that `npm run embedded-database` has made into the folder that is the data of this thread.
// In the main thread it would leave 10 MiB in use. It is JavaScript for the same reason as `sqs-server.js`.
const archive = new URL("pglite-empty.tar.zst", import.meta.url);
await pipeline(createReadStream(archive), createZstdDecompress(), extract({ cwd: workerData }));
