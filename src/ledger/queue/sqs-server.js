import { fileURLToPath } from "node:url";
import { parentPort, workerData } from "node:worker_threads";
import { buildApp } from "fauxqs";
import { queryVersion, readQuery, writeError, writeResult } from "./sqs-query.js";

// The thread of the embedded SQS server. Its data is the folder of the messages and the port on loopback. It posts
// `{ address }` when it listens, or `{ error }`, and ends after a message. It is JavaScript because Node.js would load a
// compiler of 16 MiB into the thread to remove types.

/**
 * Assembles the server from the parts of its package, whose own start listens on every interface if it is durable. Parts
 * that are not exported are loaded by their path; the exact version pin keeps that valid.
 */
async function createServer(folder) {
  const part = (path) => import(fileURLToPath(new URL(path, import.meta.resolve("fauxqs"))));
  const [{ SqsStore }, { SnsStore }, { S3Store }, { PersistenceManager }, { INVALID_MESSAGE_BODY_CHAR }] =
    await Promise.all(
      ["sqs/sqsStore.js", "sns/snsStore.js", "s3/s3Store.js", "persistence.js", "sqs/sqsTypes.js"].map(part),
    );
  const stores = { sqsStore: new SqsStore(), snsStore: new SnsStore(), s3Store: new S3Store() };
  // The package looks for a queue in the region of the request or of the URL, and stores one queue of a name.
  const queueNamed = (address) => stores.sqsStore.getQueueByName(address.split(/[/:]/).findLast(Boolean));
  Object.assign(stores.sqsStore, { getQueue: queueNamed, getQueueByArn: queueNamed });
  // The package tests code units, and so rejects characters beyond U+FFFF, which Amazon SQS allows.
  INVALID_MESSAGE_BODY_CHAR.test = (body) => notAllowed.test(body);
  const persistence = new PersistenceManager(folder);
  persistence.loadSqsAndSns(stores.sqsStore, stores.snsStore);
  Object.assign(stores.sqsStore, { persistence });
  Object.assign(stores.snsStore, { persistence });
  for (const queue of stores.sqsStore.allQueues()) Object.assign(queue, { persistence });
  const app = buildApp({ logger: false, stores });
  acceptAllClients(app);
  return { app, persistence };
}

const notAllowed = /[^\t\n\r\x20-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/u;

/** Adds what clients of Amazon SQS expect and the package lacks. */
function acceptAllClients(app) {
  // The package speaks the JSON protocol only.
  app.addHook("preHandler", async ({ body, url, headers }, reply) => {
    if (body?.Version !== queryVersion) return;
    const { action, input } = readQuery(body, url);
    const response = await app.inject({
      method: "POST",
      url: "/",
      headers: {
        host: headers.host,
        "content-type": "application/x-amz-json-1.0",
        "x-amz-target": `AmazonSQS.${action}`,
      },
      payload: input,
    });
    const output = response.json();
    const id = response.headers["x-amz-request-id"];
    const [code, fault] = (response.headers["x-amzn-query-error"] ?? "InternalFailure;Receiver").split(";");
    const isError = response.statusCode >= 400;
    reply.code(response.statusCode).type("text/xml");
    return reply.send(
      isError ? writeError(id, code, fault, output.message) : writeResult(id, action, output),
    );
  });

  // A queue keeps the URL of its creation, whose port can be an earlier one and whose host has no address everywhere.
  app.addHook("preSerialization", async ({ headers }, _reply, output) => {
    const reached = (url) => new URL(new URL(url).pathname, `http://${headers.host}`).href;
    if (output.QueueUrl) output.QueueUrl = reached(output.QueueUrl);
    if (output.QueueUrls) output.QueueUrls = output.QueueUrls.map(reached);
    return output;
  });
}

try {
  const { app, persistence } = await createServer(workerData.folder);
  parentPort.once("message", async () => {
    await app.close();
    persistence.close();
  });
  parentPort.postMessage({ address: await app.listen({ host: "127.0.0.1", port: workerData.port }) });
} catch (error) {
  parentPort.postMessage({ error });
}
