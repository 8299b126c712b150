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
  const TopicArn = decodeURIComponent(url.pathname.slice(1));
  const isFifo = TopicArn.endsWith(".fifo");
  const isStandIn = url.protocol === "sns+http:";
  const client = new SNSClient({
    endpoint: `${isStandIn ? "http" : "https"}://${url.host}`,
    region: parameters.region ?? TopicArn.split(":")[3] ?? "us-east-1",
    ...(isStandIn && { credentials: { accessKeyId: "none", secretAccessKey: "none" } }),
    maxAttempts: 3,
    requestHandler: {
      connectionTimeout: 5000,
      requestTimeout: 30_000,
      throwOnRequestTimeout: true,
    },
  });

  async function publish(deliveries: PublishedEvent[], stop: AbortSignal): Promise<(Failure | undefined)[]> {
    const entries = deliveries.map(({ id, key, body }, index) => ({
      Id: String(index),
      Message: body,
      ...(isFifo && { MessageGroupId: digestOf(key), MessageDeduplicationId: id }),
    }));
    try {
      const command = new PublishBatchCommand({ TopicArn, PublishBatchRequestEntries: entries });
      const { Failed = [] } = await client.send(command, { abortSignal: stop });
      const failed = new Map(Failed.map((entry) => [Number(entry.Id), entry]));
      return deliveries.map((_, index) => {
        const failure = failed.get(index);
        if (!failure) return undefined;
        const { SenderFault = false, Code } = failure;
        return { cause: causeOf(Code, SenderFault), reason: respondedWith(undefined, Code) };
      });
    } catch (error) {
      const { name } = error as Error;
      const isRejected = rejection.test(name);
      // One of them is rejected: each is sent alone.
      if (isRejected && deliveries.length > 1)
        return (await Promise.all(deliveries.map((delivery) => publish([delivery], stop)))).flat();
      return deliveries.map(() => ({ cause: causeOf(name, isRejected), reason: reasonOf(error) }));
    }
  }

  return {
    requestsAtATime,
    eventsAtATime: requestMax,
    async send(deliveries, stop) {
      const failures = new Map<PublishedEvent, Failure | undefined>();
      const sizeOf = ({ body }: PublishedEvent) => Buffer.byteLength(body);
      const isTooLarge = (delivery: PublishedEvent) => sizeOf(delivery) > requestBytesMax;
      for (const delivery of deliveries.filter(isTooLarge)) failures.set(delivery, tooLarge);
      const fitting = deliveries.filter((delivery) => !isTooLarge(delivery));
      const chunks = inChunks(fitting, sizeOf, requestBytesMax, requestMax);
      for (const chunk of chunks) {
        const outcomes = await publish(chunk, stop);
        for (const [index, delivery] of chunk.entries()) failures.set(delivery, outcomes[index]);
      }
      return deliveries.map((delivery) => failures.get(delivery));
    },
    async [Symbol.asyncDispose]() {
      client.destroy();
    },
  };
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
