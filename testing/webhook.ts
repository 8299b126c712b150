import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { Webhook } from "standardwebhooks";

const secret = `whsec_${Buffer.from("a secret of twenty-four bytes").toString("base64")}`;

export interface Received {
  id: string;
  body: string;
  contentType: string | undefined;
}

/** The resource of a published event and the second in which it happened. */
export function nameOf(body: string): string {
  const { resource_external_id, timestamp } = JSON.parse(body);
  return `${resource_external_id} ${Number(timestamp.slice(17, 19))}`;
}

/**
 * A receiver of webhooks on loopback that verifies them with the library of Standard Webhooks. `statusOf` chooses the status of
 * each response; 0 closes the connection instead. Default: 200.
 */
export async function openWebhook(statusOf: (received: Received) => number = () => 200) {
  /** Those that were confirmed, in order of arrival. */
  const received: Received[] = [];
  /** All attempts. */
  const attempts: Received[] = [];
  const server = createServer(async (request, response) => {
    const body = await text(request).catch(() => undefined);
    if (body === undefined) return;
    const { headers } = request;
    new Webhook(secret).verify(body, headers as Record<string, string>);
    const attempt = { id: String(headers["webhook-id"]), body, contentType: headers["content-type"] };
    const status = statusOf(attempt);
    attempts.push(attempt);
    if (status === 0) return response.destroy();
    if (status < 300) received.push(attempt);
    return response.writeHead(status, { location: "/elsewhere" }).end("x".repeat(10_000));
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
    },
  };
}
