import { fastify } from "fastify";
import { openFeatureStore } from "../../src/features/store/stores.ts";

/** One route of Fastify with the same store call. It has no contract, no limits and no metrics. */
const store = await openFeatureStore(process.env.FEATURES_STORE_URL as string);
await store.change("customer", "42", [{ type: "add", feature: "dark-mode" }]);

const app = fastify();
app.get<{ Params: { resource: string; id: string; feature: string } }>(
  "/features/:resource/:id/:feature",
  async ({ params: { resource, id, feature } }) => {
    const [result = false] = await store.has(resource, id, [feature]);
    return { result };
  },
);
await app.listen({ port: Number(process.env.PORT), host: "127.0.0.1" });
