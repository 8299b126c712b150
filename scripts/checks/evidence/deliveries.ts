import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import type { Contract, Parameter } from "../../../src/contract/operations.ts";
import type { Database } from "../../../src/database/database.ts";
import { defaultSource } from "../../../src/ledger/publishing/body.ts";
import { startPublishing } from "../../../src/ledger/publishing/publisher.ts";
import { targetSettingOf } from "../../../src/ledger/publishing/targets.ts";
import { openLog } from "../../../src/process/log.ts";
import { retry } from "../../../src/waiting/retry.ts";
import { deliveryViolation } from "../../../testing/delivery-check.ts";
import { testWaitMaxMs } from "../../../testing/test-wait-max.ts";
import { compiled, itemsCoveredBy, itemsOf } from "./coverage.ts";

/** A request that a webhook has received. */
export interface Delivery {
  headers: IncomingHttpHeaders;
  body: string;
}

const secret = encodeURIComponent(`whsec_${Buffer.alloc(24).toString("base64")}`);

/** Publishes this number of stored events to two webhooks, signed as events, and not signed as CloudEvents. */
export async function publishToWebhooks(
  database: Database,
  ledgerId: string,
  count: number,
): Promise<Delivery[]> {
  const deliveries: Delivery[] = [];
  const server = createServer(async (request, response) => {
    deliveries.push({ headers: request.headers, body: await text(request) });
    response.end();
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  const { port } = server.address() as AddressInfo;
  const urls = [
    `http://:${secret}@127.0.0.1:${port}/events?from=beginning`,
    `http://127.0.0.1:${port}/cloudevents?from=beginning&format=cloudevents`,
  ];
  const origin = { ledgerId, source: defaultSource(ledgerId) };
  await using published = new AsyncDisposableStack();
  published.defer(() => void server.close());
  for (const url of urls)
    published.use(
      startPublishing({ database, setting: targetSettingOf(url), origin, log: openLog("silent") }),
    );
  await retry(
    async () => {
      if (deliveries.length < urls.length * count)
        throw new Error(`webhooks got ${deliveries.length} of ${urls.length * count} deliveries`);
    },
    { forMs: testWaitMaxMs },
  );
  return deliveries;
}

interface Webhook {
  post: {
    parameters: Parameter[];
    requestBody: { required?: boolean; content: Record<string, { schema: object }> };
  };
}

/** How deliveries violate the contract, and what it declares of webhooks that none of them shows. */
export function deliveryFaults(contract: Contract, deliveries: Delivery[]): string[] {
  const { eventStored } = contract["x-webhooks"] as { eventStored: Webhook };
  const { parameters, requestBody } = eventStored.post;
  const compiledContract = compiled(contract);
  const items = new Set(requestBody.required ? [] : ["webhook body: absent"]);
  const covered = new Set<string>();
  for (const { name, required } of parameters) {
    items.add(`webhook ${name}: present`);
    if (!required) items.add(`webhook ${name}: absent`);
  }
  for (const [type, { schema }] of Object.entries(requestBody.content))
    itemsOf(compiledContract, `webhook ${type}`, schema, items);
  for (const { headers, body } of deliveries) {
    for (const { name } of parameters)
      covered.add(`webhook ${name}: ${headers[name] === undefined ? "absent" : "present"}`);
    const type = headers["content-type"] ?? "";
    const { schema = {} } = requestBody.content[type] ?? {};
    itemsCoveredBy(compiledContract, `webhook ${type}`, schema, JSON.parse(body), covered);
  }
  const violations = deliveries.flatMap(({ headers, body }) => deliveryViolation(headers, body) ?? []);
  return [
    ...new Set(violations.map((violation) => `a webhook got: ${violation}`)),
    ...[...items].filter((item) => !covered.has(item)).map((item) => `not covered: ${item}`),
  ];
}
