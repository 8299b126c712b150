import { request } from "undici";
import { expect } from "vitest";
import { demoEvents } from "../../../scripts/demo/demo-events.ts";
import { freePort } from "../../../testing/free-port.ts";
import { newFolder, run } from "../../../testing/run.ts";
import { openDatabase } from "../../database/databases.ts";
import { newPostgres } from "../../database/new-database.fixture.ts";
import { pounds } from "../../values/currency.ts";
import { ingest } from "../intake/ingest.ts";
import { readMessage } from "../intake/message.ts";
import { clientUrl } from "../queue/address.ts";
import { openQueue } from "../queue/queues.ts";
import type { NewEvent } from "../tables/event.ts";
import { migrate } from "../tables/migrate.ts";
import { savedRows } from "../tables/saved-rows.fixture.ts";

/** Starts a process of the ledger with these settings at a free port, by default with a queue in its memory. */
export async function launchLedger(settings: Record<string, string>) {
  const port = await freePort();
  const env = { QUEUE_URL: "memory:", LEDGER_PORT: String(port), ...settings };
  const started = run("src/main.ts", { args: ["ledger"], env });
  const url = `http://127.0.0.1:${port}`;
  return {
    ...started,
    url,
    ready: () => started.waitForOutput("Server listening"),
    async get(path: string, headers: Record<string, string> = {}) {
      const { statusCode, body } = await request(url + path, { headers });
      return { status: statusCode, text: await body.text() };
    },
    /** Ends it with SIGTERM. It exits without an error. */
    async stop() {
      started.child.kill("SIGTERM");
      expect(await started.exit).toMatchObject({ code: 0, errors: "" });
    },
  };
}

/** Opens a queue of the embedded server, and the URL for other processes. */
export async function openSharedQueue() {
  const url = `sqs+embedded:${newFolder()}?port=${await freePort()}`;
  return { queue: await openQueue(url), queueUrl: clientUrl(url) };
}

/** Copies of the demonstration's events as messages, each copy with its own ids. */
export const demoCopies = (copies: number): string[] =>
  Array.from({ length: copies }, (_, copy) =>
    demoEvents().map((event) =>
      JSON.stringify(event).replaceAll(/"demo-[a-z]+"/g, (id) => `${id.slice(0, -1)}-${copy}"`),
    ),
  ).flat();

/** The rows that the events give when they are stored in one batch, in a new database of this server. */
export async function expectedRows(server: string, bodies: string[]) {
  await using created = await newPostgres(server);
  await using database = await openDatabase(created.url);
  await migrate(database);
  const events = bodies.map((body) => (readMessage(body, pounds) as { event: NewEvent }).event);
  await ingest(database, { events, rebuilds: [], deadLetters: [] });
  return await savedRows(database);
}
