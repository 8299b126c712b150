import { parentPort, workerData } from "node:worker_threads";
import { parseDocument } from "yaml";
import { toOpenApi32 } from "../../contract/openapi-3-2.ts";
import type { Place } from "../../contract/served-contract.ts";

/** How the YAML that a service serves differs from the generated one. */
export interface YamlEdits {
  /** Places without their nodes. */
  leftOut: Place[];
  values: [Place, unknown][];
  isOpenApi32: boolean;
}

// Parsing a contract takes longer than requests may wait, so a thread of its own does it.
const { text, leftOut, values, isOpenApi32 } = workerData as YamlEdits & { text: string };
const document = parseDocument(text);
for (const [place, value] of values) document.setIn(place, value);
for (const place of leftOut) document.deleteIn(place);
if (isOpenApi32) toOpenApi32(document);
// Keeps the line breaks.
parentPort?.postMessage(document.toString({ lineWidth: 0 }));
