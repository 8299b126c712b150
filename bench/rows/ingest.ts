import { startPostgres } from "../../testing/servers/postgres.ts";
import { makeDatabase } from "../databases.ts";
import type { Order } from "../payments.ts";
import { startProgram } from "../programs.ts";
import type { Row } from "../row.ts";

export const ingest: Row = {
  number: 6,
  work: "ingest, queue in memory",
  async open({ payments }, opened) {
    const postgres = opened.use(await startPostgres());
    const ours = opened.use(
      await startProgram("programs/ingest.ts", {
        DATABASE_URL: await makeDatabase(postgres, "ours"),
        QUEUE_URL: "memory:",
      }),
    );
    const insert = opened.use(
      await startProgram("baselines/insert-events.ts", {
        DATABASE_URL: await makeDatabase(postgres, "baseline"),
      }),
    );
    return orders.map((order) => ({
      name: `a payment's events ${order}`,
      unit: "events/s",
      ours: () => ours.ask({ payments, order }),
      baseline: { name: "the insert of the events alone", measure: () => insert.ask({ payments, order }) },
      target: { atLeast: 0.35 },
    }));
  },
};

const orders: Order[] = ["together", "apart"];
