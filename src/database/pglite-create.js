import { readFileSync } from "node:fs";
import { workerData } from "node:worker_threads";
import { zstdDecompressSync } from "node:zlib";
import { extract } from "tar";

// Extracts the empty database that `npm run embedded-database` has made into the folder that is the data of this thread.
// As a stream it would take four times as long: it has a thousand small files. In the main thread it would leave memory in
// use. It is JavaScript for the same reason as `sqs-server.js`.
const archive = readFileSync(new URL("pglite-empty.tar.zst", import.meta.url));
extract({ cwd: workerData, sync: true, strict: true }).end(zstdDecompressSync(archive));
