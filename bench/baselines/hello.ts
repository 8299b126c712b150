import { fastify } from "fastify";

const app = fastify();
app.get("/", async () => ({ hello: "world" }));
await app.listen({ port: Number(process.env.PORT) });
