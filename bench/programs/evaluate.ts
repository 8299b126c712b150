import { OFREPProvider } from "@openfeature/ofrep-provider";
import { DefaultLogger, OpenFeature } from "@openfeature/server-sdk";
import { featureProvider } from "../../src/client/openfeature.ts";
import { handleCalls } from "../handle-calls.ts";

/**
 * Evaluates a flag of the resources in `FEATURES_URL`, whose identifiers are the numbers below `RESOURCES`, in one of these
 * ways, for a time in seconds. Returns evaluations per second.
 */
export type Way = "provider" | "map" | "provider and SDK" | "OFREP and SDK";

const { FEATURES_URL: baseUrl = "", RESOURCES = "" } = process.env;
const flag = "dark-mode";
const resources = Number(RESOURCES);
/** Spread over all resources, more than a processor keeps near. */
const contexts = Array.from({ length: 10_000 }, (_, index) => {
  const id = String((index * 7_919) % resources);
  return { targetingKey: `customer/${id}`, key: `customer/${id}/${flag}` };
});
/** Evaluations between two looks at the clock. */
const perLook = 100;

const provider = featureProvider({ baseUrl, resources: ["customer"] });
await OpenFeature.setProviderAndWait("copy", provider);
await OpenFeature.setProviderAndWait("ofrep", new OFREPProvider({ baseUrl }));
const logger = new DefaultLogger();
const map = new Map(Array.from({ length: resources }, (_, id) => [`customer/${id}/${flag}`, true]));

type Context = (typeof contexts)[number];
/** Number of the resources that have the feature. Each kind has a loop of its own, which costs as little as its caller's would. */
const ways: Record<Way, (batch: Context[]) => Promise<number>> = {
  async provider(batch) {
    let found = 0;
    for (const context of batch) {
      const { value } = await provider.resolveBooleanEvaluation(flag, false, context, logger);
      if (value) found += 1;
    }
    return found;
  },
  async map(batch) {
    let found = 0;
    for (const { key } of batch) if (await Promise.resolve(map.get(key))) found += 1;
    return found;
  },
  "provider and SDK": inSdk("copy"),
  "OFREP and SDK": inSdk("ofrep"),
};

function inSdk(domain: string) {
  const client = OpenFeature.getClient(domain);
  return async (batch: Context[]) => {
    let found = 0;
    for (const context of batch) if (await client.getBooleanValue(flag, false, context)) found += 1;
    return found;
  };
}

const batches = Array.from({ length: contexts.length / perLook }, (_, index) =>
  contexts.slice(index * perLook, (index + 1) * perLook),
);

handleCalls(async ({ way, seconds }: { way: Way; seconds: number }) => {
  const start = performance.now();
  for (let evaluations = 0; ; evaluations += perLook) {
    const elapsedMs = performance.now() - start;
    if (elapsedMs >= seconds * 1000) return (evaluations / elapsedMs) * 1000;
    const batch = batches[(evaluations / perLook) % batches.length] as Context[];
    if ((await ways[way](batch)) < perLook) throw new Error(`a resource has not ${flag}`);
  }
});
