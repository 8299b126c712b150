import { createHmac } from "node:crypto";
import { Agent, request } from "undici";
import type { Address } from "../../../process/adapter.ts";
import { messageOf } from "../../../process/describe-error.ts";
import { eachInTurns } from "../../../process/turns.ts";
import { commonParameters, type Delivery, type Failure, type Target } from "../target.ts";

/** How long a receiver may take to respond: 15 to 30 seconds are common. */
const responseMaxMs = 20_000;
const requestsAtATime = 10;
/** Longer responses are not read: only the status counts. */
const responseBytesMax = 4096;
/** Statuses that are about the event. All others mean that the receiver takes nothing now, or is not there. */
const rejections = [400, 406, 409, 413, 415, 422, 500, 501];
/** After ten failures in a row. Each of 200 events would wait for a response as long as those. */
const notSent: Failure = {
  isRejected: false,
  reason: "not sent, since the target took none of those before",
};

/**
 * Posts each event to a URL, signed as Standard Webhooks has it
 * (https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md): `webhook-id`,
 * `webhook-timestamp` and `webhook-signature`, a `v1` signature by HMAC-SHA256. The password of the URL is the secret. A
 * status of 200 to 299 confirms an event. Redirects are not followed.
 */
export async function open({ url, warn }: Address): Promise<Target> {
  const secret = secretOf(decodeURIComponent(url.password));
  if (!secret) warn("its events are not signed, since its URL has no secret");
  const address = new URL(url);
  address.username = "";
  address.password = "";
  for (const name of Object.keys(commonParameters)) address.searchParams.delete(name);
  const agent = new Agent({ connections: requestsAtATime });

  async function post({ id, body, contentType }: Delivery, stop: AbortSignal): Promise<Failure | undefined> {
    const at = Math.floor(Date.now() / 1000);
    try {
      const response = await request(address, {
        dispatcher: agent,
        method: "POST",
        headers: {
          "content-type": contentType,
          "user-agent": "payment-ledger",
          "webhook-id": id,
          "webhook-timestamp": String(at),
          ...(secret && { "webhook-signature": `v1,${sign(secret, `${id}.${at}.${body}`)}` }),
        },
        body,
        signal: AbortSignal.any([stop, AbortSignal.timeout(responseMaxMs)]),
      });
      const { statusCode: status } = response;
      await response.body.dump({ limit: responseBytesMax });
      if (status >= 200 && status <= 299) return undefined;
      return { isRejected: rejections.includes(status), reason: `the target responded with ${status}` };
    } catch (error) {
      return { isRejected: false, reason: messageOf(error) };
    }
  }

  return {
    async send(deliveries, stop) {
      const failures: (Failure | undefined)[] = [];
      let failedInARow = 0;
      await eachInTurns(deliveries.entries(), requestsAtATime, async ([index, delivery]) => {
        const failure = failedInARow < requestsAtATime ? await post(delivery, stop) : notSent;
        failures[index] = failure;
        failedInARow = failure?.isRejected === false ? failedInARow + 1 : 0;
      });
      return failures;
    },
    [Symbol.asyncDispose]: () => agent.destroy(),
  };
}

/** The key of a secret, which is base64 with the prefix `whsec_`; undefined without one. */
function secretOf(text: string): Buffer | undefined {
  return text === "" ? undefined : Buffer.from(text.replace(/^whsec_/, ""), "base64");
}

const sign = (secret: Buffer, content: string): string =>
  createHmac("sha256", secret).update(content).digest("base64");
