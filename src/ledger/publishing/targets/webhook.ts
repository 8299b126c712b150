import { createHmac } from "node:crypto";
import { Agent, request } from "undici";
import type { Address } from "../../../engines/adapter.ts";
import { type WebhookParameters, webhookParameters } from "../parameters.ts";
import { notResponded, respondedWith } from "../reason.ts";
import type { Failure, PublishedEvent, Target } from "../target.ts";

/** How long a receiver may take to respond: 15 to 30 seconds are common. */
const responseMaxMs = 20_000;
/** Longer responses are not read: only the status counts. */
const responseBytesMax = 4096;
/** A longer pause than this is not obeyed. */
const retryAfterMaxMs = 5 * 60_000;
/** Statuses that are about the event, and about the target. Others can mean both. */
const eventStatuses = [400, 406, 409, 413, 415, 422, 501];
const targetStatuses = [429, 503];

/**
 * Posts each event to a URL, signed as Standard Webhooks has it
 * (https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md): `webhook-id`,
 * `webhook-timestamp` and `webhook-signature`, a `v1` signature by HMAC-SHA256. The password of the URL is the secret. A
 * status of 200 to 299 confirms an event. Redirects are not followed.
 */
export async function open({ url, warn, parameters }: Address<WebhookParameters>): Promise<Target> {
  const secret = secretOf(decodeURIComponent(url.password));
  if (!secret) warn("its events are not signed, since its URL has no secret");
  const address = new URL(url);
  address.username = "";
  address.password = "";
  for (const name of Object.keys(webhookParameters)) address.searchParams.delete(name);
  const requestsAtATime = parameters.requests_at_a_time;
  // Each request has a connection, which stays open for the next one.
  const agent = new Agent({ connections: requestsAtATime });

  async function post(
    { id, body, contentType }: PublishedEvent,
    stop: AbortSignal,
  ): Promise<Failure | undefined> {
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
      await response.body.dump({ limit: responseBytesMax });
      return failureOf(response.statusCode, response.headers["retry-after"]);
    } catch (error) {
      return { cause: "unknown", reason: notResponded(error) };
    }
  }

  return {
    requestsAtATime,
    eventsAtATime: 1,
    send: (deliveries, stop) => Promise.all(deliveries.map((delivery) => post(delivery, stop))),
    [Symbol.asyncDispose]: () => agent.destroy(),
  };
}

function failureOf(status: number, retryAfter: string | string[] | undefined): Failure | undefined {
  if (status >= 200 && status <= 299) return undefined;
  const reason = respondedWith(status);
  if (eventStatuses.includes(status)) return { cause: "event", reason };
  if (!targetStatuses.includes(status)) return { cause: "unknown", reason };
  const retryAfterMs = retryAfterMsOf(String(retryAfter), Date.now());
  return { cause: "target", reason, ...(retryAfterMs !== undefined && { retryAfterMs }) };
}

/** Milliseconds until the time of a header `Retry-After`, which has seconds or a date (RFC 9110); undefined if it is neither. */
export function retryAfterMsOf(text: string, now: number): number | undefined {
  // Every form of a date begins with a day of the week. `Date.parse` reads other texts, too.
  const date = /^[A-Z]/.test(text) ? Date.parse(text) : Number.NaN;
  const milliseconds = /^\d+$/.test(text) ? Number(text) * 1000 : date - now;
  return Number.isNaN(milliseconds) ? undefined : Math.min(Math.max(milliseconds, 0), retryAfterMaxMs);
}

/** The key of a secret, which is base64 with the prefix `whsec_`; undefined without one. */
function secretOf(text: string): Buffer | undefined {
  return text === "" ? undefined : Buffer.from(text.replace(/^whsec_/, ""), "base64");
}

const sign = (secret: Buffer, content: string): string =>
  createHmac("sha256", secret).update(content).digest("base64");
