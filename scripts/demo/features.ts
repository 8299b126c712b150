import { featuresClient } from "../../src/client/client.ts";
import { settings } from "../../src/features/settings.ts";
import { say } from "../../src/process/command.ts";
import { readSettings } from "../../src/process/settings.ts";

const dayMs = 86_400_000;

/** The features of each kind, and of how many of 40 resources each is. */
const shares = {
  customer: { "dark-mode": 25, "beta search": 8, "new-checkout": 15, invoices: 3 },
  organisation: { "single sign-on": 12, "audit-log": 30 },
};
const ids = Array.from({ length: 40 }, (_, index) => String(index + 1));

/** Gives some customers and organisations features, some of which expire, if a feature storage runs. */
export async function fillFeatures(): Promise<void> {
  const { HOST, FEATURES_PORT } = readSettings(process.env, settings);
  const base = `http://${HOST.includes(":") ? `[${HOST}]` : HOST}:${FEATURES_PORT}`;
  const client = featuresClient({ baseUrl: base, retries: 0 });
  const expires_at = new Date(Date.now() + 14 * dayMs).toISOString();
  const changes = Object.entries(shares).flatMap(([resource, features]) =>
    Object.entries(features).flatMap(([feature, share]) =>
      ids
        .filter((_, index) => (index * 7) % ids.length < share)
        .map((id) => ({
          ...{ type: "add" as const, resource, id, feature },
          ...(feature === "beta search" && { expires_at }),
        })),
    ),
  );
  try {
    await client.changeFeatures({ body: { changes } });
    await client.removeFeature({ resource: "customer", id: "2", feature: "dark-mode" });
  } catch (error) {
    say(`\nno feature storage got features: ${(error as Error).message}`);
    return;
  }
  say(`\ngave ${ids.length} customers, and as many organisations, features; try:\n`);
  for (const [description, path] of [
    ["the features in use for customers, with their numbers", "/resources/customer"],
    ["the features of a customer, with their expiry times", "/resources/customer/1"],
    ["the customers with a feature", "/features/customer?feature=dark-mode&count=true"],
    ["the change feed", "/changes?limit=5"],
  ]) {
    say(`# ${description}\ncurl '${base}${path}'`);
  }
  say(`\nthe console of the feature storage is ${base}/console`);
}
