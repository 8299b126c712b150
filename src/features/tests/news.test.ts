import { expect, test, vi } from "vitest";
import { listen } from "../../../testing/event-stream.ts";
import { startFeatures } from "./features.fixture.ts";

vi.mock("../../http/streams/event-stream.ts", async (original) => ({
  ...(await original<object>()),
  lookEveryMs: 3_600_000,
}));

test("streams send the changes by this process without a look of the clock", async () => {
  await using service = await startFeatures();
  const changes = await listen(service.base, "/changes");
  const flags = await listen(service.base, "/ofrep/v1/events?resource=kind&id=1");
  const count = ({ text }: typeof flags) => text().split("data:").length - 1;
  await expect.poll(() => count(flags)).toBe(1);
  for (const round of [1, 2, 3]) {
    await service.request("POST", `/features/kind/1/feature-${round}`);
    await expect.poll(() => [count(changes), count(flags)]).toEqual([round, 1 + round]);
  }
  changes.stop();
  flags.stop();
});
