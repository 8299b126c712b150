import { parentPort, workerData } from "node:worker_threads";
import { parseDocument } from "yaml";
import type { Place } from "../../contract/served-contract.ts";

// Parsing a contract takes longer than requests may wait, so a thread of its own does it.
const { text, leftOut, publicUrl } = workerData as { text: string; leftOut: Place[]; publicUrl?: string };
const document = parseDocument(text);
if (publicUrl !== undefined) document.setIn(["servers", 0, "url"], publicUrl);
for (const place of leftOut) document.deleteIn(place);
// Keeps the line breaks.
parentPort?.postMessage(document.toString({ lineWidth: 0 }));
