import { fileURLToPath } from "node:url";
import { openDatabase } from "../../src/database/databases.ts";
import { ingest } from "../../src/ledger/intake/ingest.ts";
import { readMessage } from "../../src/ledger/intake/message.ts";
import { pounds } from "../../src/values/currency.ts";
import { startPostgres } from "../../testing/servers/postgres.ts";
import type { ProgramOptions } from "../../testing/services.ts";
import type { MemoryUse } from "../memory-probe.ts";
import { messagesOf } from "../payments.ts";
import { type Server, startService } from "../programs.ts";
import type { Comparison, Row, Scale } from "../row.ts";
import { sendRequests, writeRequests } from "../wrk.ts";

const probe = fileURLToPath(new URL("../memory-probe.ts", import.meta.url));
const withProbe: ProgramOptions = { options: ["--expose-gc", "--import", probe] };

const warmUpShare = 0.01;

/** Both comparisons use one measurement of the process before the load, and one after it. */
function memoryOf(name: string, server: Server, requests: string, scale: Scale): Comparison[] {
  const load = { requests, connections: 16, seconds: scale.seconds };
  async function measure() {
    await sendRequests(server.url, load, scale.requests * warmUpShare);
    const before = await server.call<MemoryUse>("memory");
    await sendRequests(server.url, load, scale.requests);
    return { before, after: await server.call<MemoryUse>("memory") };
  }
  let measurement: ReturnType<typeof measure> | undefined;
  const measureOnce = () => (measurement ??= measure());
  const comparison = (kind: keyof MemoryUse): Comparison => ({
    name: `${name}, ${kind}`,
    unit: "MiB",
    rounds: 1,
    ours: async () => (await measureOnce()).after[kind],
    baseline: { name: "after the warm-up", measure: async () => (await measureOnce()).before[kind] },
    // The engine decides how much resident memory it keeps, so that value has no target.
    ...(kind === "objects" && { target: { atMost: 1.1 } }),
  });
  return [comparison("objects"), comparison("resident")];
}

/** A change log this short is full after the warm-up. */
const store = "memory:?changes=1000";
const resources = Array.from({ length: 500 }, (_, id) => `/features/customer/${id}`);
const featureLines = resources.flatMap((resource, id) => [
  `POST ${resource}/dark-mode`,
  `GET ${resource}/dark-mode`,
  `GET ${resource}`,
  `DELETE ${resources[(id + 250) % 500]}/dark-mode`,
]);

/** Adds transactions to the ledger. Returns a request for each. */
async function lookupLines(databaseUrl: string): Promise<string[]> {
  const messages = messagesOf({ payments: 50, order: "adjacent" }).map((body) => readMessage(body, pounds));
  const events = messages.flatMap((message) => (message.kind === "event" ? [message.event] : []));
  await using database = await openDatabase(databaseUrl);
  await ingest(database, { events, rebuilds: [], deadLetters: [] });
  const ids = new Set(events.map(({ resource_external_id }) => resource_external_id));
  return [...ids].map((id) => `GET /v1/transaction/${id}?override_account_id_restriction=true`);
}

export const memory: Row = {
  title: "memory",
  async open(scale, opened) {
    const env = { FEATURES_STORE_URL: store };
    const features = opened.use(await startService("features", { ...withProbe, env }));
    const { url } = opened.use(await startPostgres());
    const ledger = opened.use(
      await startService("ledger", { ...withProbe, env: { DATABASE_URL: url, QUEUE_URL: "memory:" } }),
    );
    return [
      ...memoryOf("features", features, await writeRequests(opened, featureLines), scale),
      ...memoryOf("ledger", ledger, await writeRequests(opened, await lookupLines(url)), scale),
    ];
  },
};
