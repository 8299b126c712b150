import { type AddressInfo, connect, type Socket } from "node:net";
import { text } from "node:stream/consumers";
import { setTimeout } from "node:timers/promises";
import type { FastifyInstance } from "fastify";
import { request } from "undici";
import { type Operation, operationsOf } from "../../src/service/operations.ts";
import { mediaTypeOf, replyChecker, type SeenReply } from "../../src/service/reply-check.ts";
import type { Asked } from "./requests.ts";
import type { Subject } from "./subjects.ts";

/** One reply to one request, and how it strayed from the contract, if it did. */
export interface Observation {
  operation: Operation;
  method: string;
  path: string;
  status: number;
  type: string;
  body: string;
  fault: string | undefined;
}

type Question = Omit<Asked, "status" | "method"> & {
  method: string;
  status?: number;
  headers?: Record<string, string>;
};

/** Asks a service everything there is to ask, in every situation, as any client would: over HTTP. */
export async function observe(subject: Subject): Promise<Observation[]> {
  const { contract, requests } = subject;
  const operations = operationsOf(contract);
  const faultOf = replyChecker(contract);
  const observations: Observation[] = [];

  const note = ({ method, path, status: expected }: Question, operation: Operation, reply: SeenReply) => {
    const { status, body = "" } = reply;
    const type = mediaTypeOf(reply.headers);
    const asExpected = expected === undefined || expected === status;
    const fault =
      faultOf(operation.operationId, reply) ?? (asExpected ? undefined : `${expected} was expected`);
    observations.push({ operation, method, path, status, type, body, fault });
  };

  /** A request that succeeds, for each operation. */
  const samples = operations.map((operation) => {
    const sample = requests.find((one) => one.status < 300 && operationAt(operations, one) === operation);
    if (!sample) throw new Error(`nothing is asked of ${operation.operationId}`);
    return { operation, method: sample.method as string, path: sample.path };
  });
  const askEach = async (base: string, change: (question: Question) => Question = (same) => same) => {
    const asked = samples.map(async ({ operation, ...question }) => {
      const changed = change(question);
      note(changed, operation, await ask(base, changed));
    });
    await Promise.all(asked);
  };

  {
    await using app = await subject.open("all is well");
    const base = await app.listen({ host: "127.0.0.1", port: 0 });
    for (const question of requests) {
      const operation = operationAt(operations, question);
      if (!operation) throw new Error(`the contract has no operation at ${question.method} ${question.path}`);
      note(question, operation, await ask(base, question));
    }
    await askEach(base, ({ path, ...rest }) => ({
      ...rest,
      path: `${path}${path.includes("?") ? "&" : "?"}surplus=1`,
      status: 400,
    }));
    await askEach(base, (question) => ({ ...question, method: "DELETE", status: 405 }));
    const headers = { "x-long": "x".repeat(17_000) };
    await askEach(base, (question) => ({ ...question, headers, status: 431 }));
  }
  for (const situation of [
    "a handler has a bug",
    "what it depends on is away",
    "its database is busy",
  ] as const) {
    await using app = await subject.open(situation);
    await askEach(await app.listen({ host: "127.0.0.1", port: 0 }));
  }
  const closing = await subject.open("all is well");
  await closing.listen({ host: "127.0.0.1", port: 0 });
  const finish = await begin(closing, samples);
  const closed = closing.close();
  const replies = await finish();
  replies.forEach((reply, index) => {
    const { operation, ...question } = samples[index] as (typeof samples)[number];
    note({ ...question, status: 503 }, operation, reply);
  });
  await closed;
  return observations;
}

/** The operation a request is for: that whose path has the fewest parameters of those that fit. */
function operationAt(operations: Operation[], { method, path }: { method: string; path: string }) {
  const [address = ""] = path.split("?");
  return operations
    .filter((operation) => operation.method === method)
    .filter(({ path }) => new RegExp(`^${path.replaceAll(/\{\w+\}/g, "[^/]+")}$`).test(address))
    .sort((a, b) => a.path.split("{").length - b.path.split("{").length)[0];
}

async function ask(base: string, { method, path, accept, headers }: Question): Promise<SeenReply> {
  const reply = await request(base + path, {
    method: method as Asked["method"],
    headers: { ...headers, ...(accept && { accept }) },
  });
  return { status: reply.statusCode, headers: reply.headers, body: await reply.body.text() };
}

/**
 * Sends the first half of each request, so that their connections are busy; what it resolves to sends the second halves
 * and reads the replies.
 */
async function begin(app: FastifyInstance, questions: { method: string; path: string }[]) {
  const arrived: Socket[] = [];
  app.server.on("connection", (socket) => arrived.push(socket));
  const { port } = app.server.address() as AddressInfo;
  const sockets = questions.map(({ method, path }) => {
    const socket = connect(port, "127.0.0.1");
    socket.write(`${method} ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\n`);
    return socket;
  });
  const isThere = () => arrived.length === sockets.length && arrived.every(({ bytesRead }) => bytesRead > 0);
  while (!isThere()) await setTimeout(1);
  return async () => {
    for (const socket of sockets) socket.write("\r\n");
    return (await Promise.all(sockets.map((socket) => text(socket)))).map(readReply);
  };
}

function readReply(text: string): SeenReply {
  const [head = "", body = ""] = text.split("\r\n\r\n");
  const [statusLine = "", ...lines] = head.split("\r\n");
  const headers = lines
    .map((line) => line.split(/: */, 2))
    .map(([name = "", value]) => [name.toLowerCase(), value]);
  return { status: Number(statusLine.split(" ")[1]), headers: Object.fromEntries(headers), body };
}
