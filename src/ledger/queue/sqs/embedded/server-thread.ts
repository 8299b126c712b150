import { parentPort, workerData } from "node:worker_threads";
import { startServer } from "./server.ts";

// The thread of the embedded SQS server. Its data is the options of the server. It posts `{ address, warnings }` when it
// listens, or `{ error }`, and ends after a message.
try {
  const { address, warnings, close } = await startServer(workerData);
  parentPort?.once("message", close);
  parentPort?.postMessage({ address, warnings });
} catch (error) {
  parentPort?.postMessage({ error });
}
