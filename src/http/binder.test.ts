import Fastify from "fastify";
import { expect, test } from "vitest";
import { fastifyOpenapiGlue } from "./binder.ts";

test("the binder does not validate a contract a second time", async () => {
  await using app = Fastify();
  // A contract without `info` is not valid.
  app.register(fastifyOpenapiGlue, { specification: { openapi: "3.1.0", paths: {} }, serviceHandlers: {} });
  await expect(app.ready()).resolves.toBe(app);
});
