import type { FastifyReply } from "fastify";

interface Response {
  reply: FastifyReply;
  send: () => void;
}

let ready: Response[] = [];

/**
 * Sends a response together with the others of this turn of the event loop, after all requests that have arrived in it are
 * read. Otherwise each response would wake its client, and the next requests would arrive one by one. If `send` throws, the
 * error is the response.
 */
export function sendTogether(reply: FastifyReply, send: () => void): void {
  ready.push({ reply, send });
  if (ready.length === 1) setImmediate(sendAll);
}

function sendAll(): void {
  const responses = ready;
  ready = [];
  for (const { reply, send } of responses) {
    try {
      send();
    } catch (error) {
      reply.send(error);
    }
  }
}
