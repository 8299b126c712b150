import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { Webhook } from "standardwebhooks";
import { deliveryViolation } from "./delivery-check.ts";

const secret = `whsec_${Buffer.from("a secret of twenty-four bytes").toString("base64")}`;

export interface Received {
  id: string;
  body: string;
  contentType: string | undefined;
  /** The path with its query. */
  path: string;
}

/** How a request ends: with a status, with a status and a header `Retry-After`, or without a response. */
export type Reply = number | { status: number; retryAfter: string } | "closed" | "hangs";

/** The resource of a published event and the second in which it happened. */
export function nameOf(body: string): string {
  const { resource_external_id, timestamp } = JSON.parse(body);
  return `${resource_external_id} ${Number(timestamp.slice(17, 19))}`;
}

/**
 * A receiver of webhooks on loopback that verifies them with the library of Standard Webhooks, and gives 401 to those that are
 * not signed. It throws when it is disposed of if one violated the contract. `replyTo` chooses the reply to each. Default: 200.
 */
export async function openWebhook(replyTo: (received: Received) => Reply | Promise<Reply> = () => 200) {
  /** Those that were confirmed, in order of arrival. */
  const received: Received[] = [];
  /** How requests violated the contract. */
  const violations: string[] = [];
  /** All attempts. */
  const attempts: Received[] = [];
  const server = createServer(async (request, response) => {
    const body = await text(request).catch(() => undefined);
    if (body === undefined) return;
    const { headers, url: path = "" } = request;
    if (!isSigned(body, headers as Record<string, string>)) return response.writeHead(401).end();
    const violation = deliveryViolation(headers, body);
    if (violation) violations.push(`${violation}: ${body}`);
    const attempt = { id: String(headers["webhook-id"]), body, contentType: headers["content-type"], path };
    attempts.push(attempt);
    const reply = await replyTo(attempt);
    if (reply === "hangs") return;
    if (reply === "closed") return response.destroy();
    const { status, retryAfter } = typeof reply === "number" ? { status: reply } : reply;
    if (status < 300) received.push(attempt);
    response.writeHead(status, { location: "/elsewhere", ...(retryAfter && { "retry-after": retryAfter }) });
    return response.end("x".repeat(10_000));
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://:${encodeURIComponent(secret)}@127.0.0.1:${port}/hook`,
    received,
    attempts,
    bodies: async () => received.map(({ body }) => body),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      if (violations.length > 0) throw new Error(`requests violated the contract: ${violations.join("\n")}`);
    },
  };
}

function isSigned(body: string, headers: Record<string, string>): boolean {
  try {
    new Webhook(secret).verify(body, headers);
    return true;
  } catch {
    return false;
  }
}
