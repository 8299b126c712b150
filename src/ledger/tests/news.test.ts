import { expect, test, vi } from "vitest";
import { describeIfAvailable } from "../../../testing/describe-if-available.ts";
import { eventually } from "../../../testing/eventually.ts";
import { openDatabase } from "../../database/databases.ts";
import { newPostgres, postgresServer } from "../../database/new-database.fixture.ts";
import { ledgerOfFile, payment, startLedger } from "./ledger.fixture.ts";

vi.mock("../../http/streams/event-stream.ts", async (original) => ({
  ...(await original<object>()),
  lookEveryMs: 3_600_000,
}));

const ledger = await ledgerOfFile();

test("a stream sends what this process stores without a look of the clock", async () => {
  const stream = await ledger.listenToFeed("?cursor=newest");
  await expect.poll(stream.text).toBe(":\n\n");
  const seen = () => new Set(stream.events().map(({ data }) => data.resource_external_id));
  let count = 0;
  // Another transaction of the server can keep an event out of the feed for a while. A later one comes with it.
  await eventually(async () => {
    count += 1;
    await ledger.store(payment(`p${count}`));
    expect(seen().size).toBeGreaterThan(1);
  });
  stream.stop();
});

describeIfAvailable("TEST_POSTGRES_URL", postgresServer !== undefined)("processes on one PostgreSQL", () => {
  test("send each other signals, so that a stream needs no look of the clock; also after a connection broke", async () => {
    await using created = await newPostgres();
    const open = () => openDatabase(created.url);
    await using storing = await startLedger({ open });
    await using other = await startLedger({ open });
    const stream = await other.listenToFeed("?cursor=newest");
    await expect.poll(stream.text).toBe(":\n\n");
    const untilSent = (name: string) =>
      eventually(async () => {
        await storing.store(payment(`${name}${Math.random()}`));
        expect(stream.text()).toContain(`"resource_external_id":"${name}`);
      });
    await untilSent("first");
    const listening = "from pg_stat_activity where query like 'listen %' and datname = current_database()";
    const broken = await storing.database.query(`select pg_terminate_backend(pid) ${listening}`);
    expect(broken).toHaveLength(2);
    await untilSent("second");
    stream.stop();
  });
});
