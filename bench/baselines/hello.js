import { fastify } from "fastify";

// In JavaScript: nothing has to be stripped of its types before it starts.
const app = fastify();
app.get("/", async () => ({ hello: "world" }));
await app.listen({ port: Number(process.env.PORT) });
