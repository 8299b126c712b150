import type { FastifyReply, FastifyRequest } from "fastify";
import { toJson } from "./json.ts";

/** A handler whose operation is not known any more. */
export type AnyHandler = (request: object) => Promise<{ status: number; type?: string; body?: unknown }>;

/** Binds a handler to its route: the only place where a handler meets the framework. */
export const answerWith = (handler: AnyHandler) =>
  async function answer(request: FastifyRequest, reply: FastifyReply) {
    const {
      status,
      type = "application/json",
      body,
    } = await handler({
      path: request.params,
      query: request.query,
      body: request.body,
      log: request.log,
      get origin() {
        const { localAddress, localPort } = request.socket;
        return `${request.protocol}://${request.host || `${localAddress}:${localPort}`}`;
      },
    });
    return sendReply(reply.code(status), type, body);
  };

/** Sends a body as its media type wants it: JSON is written with every member it has, text goes as it is. */
export function sendReply(reply: FastifyReply, type: string, body: unknown): FastifyReply {
  if (body === undefined) return reply.send();
  return reply.type(`${type}; charset=utf-8`).send(type.endsWith("json") ? toJson(body) : body);
}
