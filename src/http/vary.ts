import type { FastifyReply } from "fastify";

/** Adds a header of requests to those on which the response depends, for caches. */
export function varyBy(reply: FastifyReply, name: string): void {
  const varied = reply.getHeader("vary");
  reply.header("vary", varied === undefined ? name : `${varied}, ${name}`);
}
