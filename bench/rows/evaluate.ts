import { featuresClient } from "../../src/client/client.ts";
import type { Way } from "../programs/evaluate.ts";
import { startProgram, startService } from "../programs.ts";
import type { Row } from "../row.ts";

const resources = 100_000;
const perRequest = 1000;

async function addFeatures(baseUrl: string): Promise<void> {
  const features = featuresClient({ baseUrl });
  for (let first = 0; first < resources; first += perRequest) {
    const changes = Array.from({ length: perRequest }, (_, index) => {
      const id = String(first + index);
      return { type: "add" as const, resource: "customer", id, feature: "dark-mode" };
    });
    await features.changeFeatures({ body: { changes } });
  }
}

export const evaluate: Row = {
  title: "evaluations in process",
  async open({ seconds }, opened) {
    const service = opened.use(await startService("features", { env: { FEATURES_STORE_URL: "memory:" } }));
    await addFeatures(service.url);
    const env = { FEATURES_URL: service.url, RESOURCES: String(resources) };
    const program = opened.use(await startProgram("programs/evaluate.ts", env));
    const by = (way: Way) => () => program.call<number>({ way, seconds });
    const unit = "evaluations/s";
    return [
      { name: "the provider", unit, ours: by("provider"), target: { atLeast: 1_000_000 } },
      {
        name: "the provider, ratio to a Map",
        unit,
        ours: by("provider"),
        baseline: { name: "a Map behind a promise", measure: by("map") },
        target: { atLeast: 0.1 },
      },
      {
        name: "the provider in the SDK",
        unit,
        ours: by("provider and SDK"),
        baseline: { name: "the OFREP provider in the SDK", measure: by("OFREP and SDK") },
      },
    ];
  },
};
