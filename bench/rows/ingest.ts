import { startPostgres } from "../../testing/servers/postgres.ts";
import { createDatabase } from "../create-database.ts";
import type { EventOrder } from "../payments.ts";
import { startProgram } from "../programs.ts";
import type { Row } from "../row.ts";

export const ingest: Row = {
  number: 6,
  title: "ingest, queue in memory",
  async open({ payments }, opened) {
    const postgres = opened.use(await startPostgres());
    const ours = opened.use(
      await startProgram("programs/ingest.ts", {
        DATABASE_URL: await createDatabase(postgres, "ours"),
        QUEUE_URL: "memory:",
      }),
    );
    const insert = opened.use(
      await startProgram("baselines/insert-events.ts", {
        DATABASE_URL: await createDatabase(postgres, "baseline"),
      }),
    );
    return orders.map((order) => ({
      name: `events of a payment ${order}`,
      unit: "events/s",
      ours: () => ours.call({ payments, order }),
      baseline: { name: "only the insert of the events", measure: () => insert.call({ payments, order }) },
      target: { atLeast: 0.35 },
    }));
  },
};

const orders: EventOrder[] = ["adjacent", "interleaved"];
