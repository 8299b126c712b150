import { fileURLToPath } from "node:url";
import { openDatabase } from "../../src/ledger/database/database.ts";
import { ingest } from "../../src/ledger/intake/ingest.ts";
import { readMessage } from "../../src/ledger/intake/message.ts";
import { startPostgres } from "../../testing/servers/postgres.ts";
import type { Held } from "../memory-probe.ts";
import { messagesOf } from "../payments.ts";
import { type Server, type Settings, startService } from "../programs.ts";
import type { Comparison, Row, Scale } from "../row.ts";
import { requestsFile, untilAnswered } from "../wrk.ts";

const probe = fileURLToPath(new URL("../memory-probe.ts", import.meta.url));
const probed: Settings = { options: ["--expose-gc", "--import", probe] };

const warmUpShare = 0.01;

/** Both comparisons look at the same process, before and after the same load. */
function heldBy(name: string, server: Server, requests: string, scale: Scale): Comparison[] {
  const load = { requests, connections: 16, seconds: scale.seconds };
  async function look() {
    await untilAnswered(server.url, load, scale.requests * warmUpShare);
    const atRest = await server.ask<Held>("held");
    await untilAnswered(server.url, load, scale.requests);
    return { atRest, after: await server.ask<Held>("held") };
  }
  let looked: ReturnType<typeof look> | undefined;
  const held = () => (looked ??= look());
  const comparison = (kind: keyof Held): Comparison => ({
    name: `${name}, ${kind}`,
    unit: "MiB",
    rounds: 1,
    ours: async () => (await held()).after[kind],
    baseline: { name: "at rest, after a warm-up", measure: async () => (await held()).atRest[kind] },
    // How much of the machine's memory the engine keeps for later is its own choice: that is only told.
    ...(kind === "objects" && { target: { atMost: 1.1 } }),
  });
  return [comparison("objects"), comparison("resident")];
}

/** What changes is forgotten soon, so that the change log is full after the warm-up. */
const store = "memory:?changes=1000";
const resources = Array.from({ length: 500 }, (_, id) => `/features/customer/${id}`);
const featureLines = resources.flatMap((resource, id) => [
  `POST ${resource}/dark-mode`,
  `GET ${resource}/dark-mode`,
  `GET ${resource}`,
  `DELETE ${resources[(id + 250) % 500]}/dark-mode`,
]);

/** Looks up transactions of which each is there. */
async function lookUpLines(databaseUrl: string): Promise<string[]> {
  const messages = messagesOf({ payments: 50, order: "together" }).map(readMessage);
  const events = messages.flatMap((message) => (message.kind === "event" ? [message.event] : []));
  await using database = await openDatabase(databaseUrl);
  await ingest(database, { events, rebuilds: [], deadLetters: [] });
  const ids = new Set(events.map(({ resource_external_id }) => resource_external_id));
  return [...ids].map((id) => `GET /v1/transaction/${id}?override_account_id_restriction=true`);
}

export const memory: Row = {
  number: 11,
  work: "memory",
  async open(scale, opened) {
    const env = { FEATURES_STORE_URL: store };
    const features = opened.use(await startService("features", { ...probed, env }));
    const { url } = opened.use(await startPostgres());
    const ledger = opened.use(
      await startService("ledger", { ...probed, env: { DATABASE_URL: url, QUEUE_URL: "memory:" } }),
    );
    return [
      ...heldBy("features", features, await requestsFile(opened, featureLines), scale),
      ...heldBy("ledger", ledger, await requestsFile(opened, await lookUpLines(url)), scale),
    ];
  },
};
