import { createServer, type IncomingMessage } from "node:http";
import { text } from "node:stream/consumers";
import { Webhook } from "standardwebhooks";

const { PORT, WEBHOOK_SECRET = "" } = process.env;
const webhook = new Webhook(WEBHOOK_SECRET);
const bodyBytesMax = 2 ** 21;
/** The ids of the events that were handled. */
const handled = new Set<string>();

async function handle(request: IncomingMessage): Promise<number> {
  const headers = request.headers as Record<string, string>;
  if (!(Number(headers["content-length"]) <= bodyBytesMax)) return 413;
  const body = await text(request);
  try {
    webhook.verify(body, headers, { jsonParse: false });
  } catch {
    return 401;
  }
  const id = headers["webhook-id"] ?? "";
  if (handled.has(id)) return 204;
  const { event_type, resource_type, resource_external_id } = JSON.parse(body);
  process.stdout.write(`${event_type} ${resource_type}/${resource_external_id}\n`);
  handled.add(id);
  return 204;
}

const server = createServer(async (request, response) => {
  const status = await handle(request).catch(() => 500);
  response.writeHead(status).end();
});
server.listen(Number(PORT), "127.0.0.1");
