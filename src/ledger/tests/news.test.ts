import { expect, test, vi } from "vitest";
import { eventually } from "../../../testing/eventually.ts";
import { ledgerOfFile, payment } from "./ledger.fixture.ts";

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
