import { createHash } from "node:crypto";
import { PublishBatchCommand, SNSClient } from "@aws-sdk/client-sns";
import type { Address } from "../../../engines/adapter.ts";
import { inChunks } from "../../../values/chunks.ts";
import type { AmazonParameters } from "../parameters.ts";
import { notResponded, reasons, respondedWith } from "../reason.ts";
import type { Failure, PublishedEvent, Target } from "../target.ts";

/** Limits of Amazon SNS for a request. */
const requestMax = 10;
const requestBytesMax = 256 * 1024;
const requestsAtATime = 10;
/** Names of errors that are about a message, and about the target. */
const rejection = /^(InvalidParameter|ParameterValueInvalid|BatchRequestTooLong)/;
const throttling = /Throttl|TooManyRequests|RequestLimitExceeded/;
const tooLarge: Failure = { cause: "event", reason: reasons.tooLarge };

/**
 * Publishes to a topic of Amazon SNS, or over plain HTTP to a stand-in that requires no credentials. The messages of a FIFO
 * topic are grouped by resource and deduplicated by event.
 */
export async function open({ url, parameters }: Address<AmazonParameters>): Promise<Target> {
  const topicArn = decodeURIComponent(url.pathname.slice(1));
  const isStandIn = url.protocol === "sns+http:";
  const client = new SNSClient({
    endpoint: `${isStandIn ? "http" : "https"}://${url.host}`,
    region: parameters.region ?? topicArn.split(":")[3] ?? "us-east-1",
    ...(isStandIn && { credentials: { accessKeyId: "none", secretAccessKey: "none" } }),
    maxAttempts: 3,
    requestHandler: {
      connectionTimeout: 5000,
      requestTimeout: 30_000,
      throwOnRequestTimeout: true,
    },
  });
  return {
    requestsAtATime,
    eventsAtATime: requestMax,
    async send(deliveries, stop) {
      const failures: (Failure | undefined)[] = [];
      for (const chunk of inChunks(deliveries, sizeOf, requestBytesMax, requestMax))
        failures.push(...(await publish(client, topicArn, chunk, stop)));
      return failures;
    },
    async [Symbol.asyncDispose]() {
      client.destroy();
    },
  };
}

const sizeOf = ({ body }: PublishedEvent) => Buffer.byteLength(body);

/** Publishes events in one request. An event that is larger than a request is alone. */
async function publish(
  client: SNSClient,
  topicArn: string,
  deliveries: PublishedEvent[],
  stop: AbortSignal,
): Promise<(Failure | undefined)[]> {
  if (deliveries.some((delivery) => sizeOf(delivery) > requestBytesMax)) return [tooLarge];
  const isFifo = topicArn.endsWith(".fifo");
  const entries = deliveries.map(({ id, key, body }, index) => ({
    Id: String(index),
    Message: body,
    ...(isFifo && { MessageGroupId: digestOf(key), MessageDeduplicationId: id }),
  }));
  const command = new PublishBatchCommand({ TopicArn: topicArn, PublishBatchRequestEntries: entries });
  try {
    const { Failed = [] } = await client.send(command, { abortSignal: stop });
    const failures = new Map(
      Failed.map(({ Id, SenderFault = false, Code }) => [
        Id,
        { cause: causeOf(Code, SenderFault), reason: respondedWith(undefined, Code) },
      ]),
    );
    return entries.map(({ Id }) => failures.get(Id));
  } catch (error) {
    const { name } = error as Error;
    const isRejected = rejection.test(name);
    // One of them is rejected: each is sent alone.
    if (isRejected && deliveries.length > 1) {
      const alone = deliveries.map((delivery) => publish(client, topicArn, [delivery], stop));
      return (await Promise.all(alone)).flat();
    }
    return deliveries.map(() => ({ cause: causeOf(name, isRejected), reason: reasonOf(error) }));
  }
}

const causeOf = (code: string | undefined, isRejected: boolean): Failure["cause"] => {
  if (throttling.test(code ?? "")) return "target";
  return isRejected ? "event" : "unknown";
};

/** The name of an error that a response has is its code. */
function reasonOf(error: unknown): string {
  const { name, $metadata } = error as Error & { $metadata?: { httpStatusCode?: number } };
  const status = $metadata?.httpStatusCode;
  return status === undefined ? notResponded(error) : respondedWith(status, name);
}

/** A group of a FIFO topic has up to 128 ASCII characters, and a key any. */
const digestOf = (key: string) => createHash("sha256").update(key).digest("hex");
