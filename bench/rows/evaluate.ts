import { request } from "undici";
import type { Way } from "../programs/evaluate.ts";
import { startProgram, startService } from "../programs.ts";
import type { Row } from "../row.ts";

const resources = 100_000;
const perRequest = 1000;

async function addFeatures(url: string): Promise<void> {
  for (let first = 0; first < resources; first += perRequest) {
    const changes = Array.from({ length: perRequest }, (_, index) => ({
      type: "add",
      resource: "customer",
      id: String(first + index),
      feature: "dark-mode",
    }));
    const headers = { "content-type": "application/json" };
    const body = JSON.stringify({ changes });
    const response = await request(`${url}/changes`, { method: "POST", headers, body });
    await response.body.dump();
    if (response.statusCode !== 200) throw new Error(`POST /changes returned ${response.statusCode}`);
  }
}

export const evaluate: Row = {
  number: 12,
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
