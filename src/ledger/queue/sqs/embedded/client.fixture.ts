import { SQSClient } from "@aws-sdk/client-sqs";
import { newFolder } from "../../../../../testing/run.ts";
import { embeddedQueue, embeddedQueueUrl } from "../../address.ts";
import { startServer } from "./server.ts";

/** Starts the server of a folder, by default a new one, with a client that does not repeat failed requests. */
export async function startWithClient(folder = newFolder()) {
  const server = await startServer({ folder, port: 0, name: embeddedQueue });
  const client = new SQSClient({
    endpoint: server.address,
    region: "eu-west-1",
    credentials: { accessKeyId: "any", secretAccessKey: "any" },
    maxAttempts: 1,
  });
  return {
    ...server,
    folder,
    client,
    QueueUrl: embeddedQueueUrl(Number(new URL(server.address).port)),
    async [Symbol.asyncDispose]() {
      client.destroy();
      await server.close();
    },
  };
}
