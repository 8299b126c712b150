import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import fc from "fast-check";
import { expect, test } from "vitest";
import { eventually } from "../../testing/eventually.ts";
import { openService } from "./openfeature.fixture.ts";
import { featureProvider } from "./openfeature.ts";

const ignore = () => {};
const logger = { error: ignore, warn: ignore, info: ignore, debug: ignore };

/** What can happen to a service with a small change log, and to a provider that follows it. */
const step = fc.oneof(
  {
    weight: 9,
    arbitrary: fc.record({
      type: fc.constantFrom("add" as const, "remove" as const),
      resource: fc.constantFrom("customer", "shop", "other"),
      id: fc.constantFrom("1", "2", "a/b"),
      feature: fc.constantFrom("a", "b", "💷"),
      expiresAt: fc.option(fc.integer({ min: 3e12, max: 3e12 + 2 }), { nil: undefined }),
    }),
  },
  fc.constantFrom("stop" as const, "restart" as const, "reopen" as const, "wait" as const),
);

test("whatever happens, a provider ends with the features of the service", async () => {
  const folder = await mkdtemp(join(tmpdir(), "copy-"));
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 60 }), async (steps) => {
      await using service = await openService("memory:?changes=10");
      const file = join(folder, `copy ${Math.random()}`);
      const open = () =>
        featureProvider({ baseUrl: service.baseUrl, resources: ["customer", "shop"], file, logger });
      let provider = open();
      await provider.initialize();
      for (const one of steps) {
        if (one === "stop") await service.stop();
        else if (one === "restart") await service.stop().then(service.start);
        else if (one === "wait") await sleep(50);
        else if (one === "reopen") {
          await provider.onClose();
          provider = open();
          await provider.initialize();
        } else if (one.type === "add") await service.add(one.id, one.feature, one);
        else await service.remove(one.id, one.feature, one.resource);
      }
      await service.stop();
      await service.start();
      const evaluate = async (resource: string, id: string, feature: string) =>
        (await provider.resolveBooleanEvaluation(feature, false, { resource, id }, logger)).value;
      await eventually(async () => {
        for (const resource of ["customer", "shop"])
          for (const id of ["1", "2", "a/b"]) {
            const features = ["a", "b", "💷"];
            const has = await Promise.all(features.map((feature) => evaluate(resource, id, feature)));
            expect(has).toEqual(await service.store.has(resource, id, features));
          }
      });
      await provider.onClose();
    }),
    { numRuns: 15 },
  );
});
