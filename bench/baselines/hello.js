import { fastify } from "fastify";

// JavaScript, so that Node.js has no types to strip at the start.
const app = fastify();
app.get("/", async () => ({ hello: "world" }));
await app.listen({ port: Number(process.env.PORT) });
