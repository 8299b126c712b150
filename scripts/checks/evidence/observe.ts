import { type AddressInfo, connect, type Socket } from "node:net";
import { text } from "node:stream/consumers";
import { setTimeout } from "node:timers/promises";
import type { FastifyInstance } from "fastify";
import { type Dispatcher, request } from "undici";
import { type Operation, operationsOf } from "../../../src/contract/operations.ts";
import { mediaTypeOf, type ReceivedResponse, responseChecker } from "../../../src/contract/response-check.ts";
import type { Subject } from "./subjects.ts";

/** One reply to one request, and how it strayed from the contract, if it did. */
export interface Observation {
  operation: Operation;
  method: string;
  path: string;
  /** What went along, the names of headers in lower case. */
  headers: Record<string, string>;
  sent: unknown;
  status: number;
  type: string;
  /** What came along, the names of headers in lower case. */
  replyHeaders: Record<string, unknown>;
  body: string;
  fault: string | undefined;
}

interface Question {
  operation: Operation;
  method: string;
  path: string;
  headers: Record<string, string>;
  /** A value to send as JSON, or text to send as it is. */
  sent?: unknown;
  /** The status it must be answered with; any that is declared when it is not given. */
  status?: number;
}

interface Exchange {
  question: Question;
  reply: ReceivedResponse;
}

/** Asks a service everything there is to ask, in every situation, as any client would: over HTTP. */
export async function observe(subject: Subject): Promise<Observation[]> {
  const operations = operationsOf(subject.contract);
  const good = authorization(subject.tokens?.good);
  const questions = subject.requests.map(({ method, path, headers, body, status }) => {
    const operation = operationAt(operations, method, path);
    if (!operation) throw new Error(`the contract has no operation at ${method} ${path}`);
    const odd = Object.keys(headers ?? {}).find((name) => !isSent(operation, name));
    if (odd !== undefined) throw new Error(`${operation.operationId} has no parameter ${odd}`);
    const type = body !== undefined && { "content-type": "application/json" };
    return { operation, method, path, status, headers: { ...good, ...type, ...headers }, sent: body };
  });
  const samples = operations.map((operation) => {
    const sample = questions.find((one) => one.operation === operation && one.status < 300);
    if (!sample) throw new Error(`nothing is asked of ${operation.operationId}`);
    return sample;
  });
  const exchanges = [
    await whenAllIsWell(subject, questions, samples),
    await inEachOtherSituation(subject, samples),
    await whenClosing(subject, samples),
  ].flat();

  const faultOf = responseChecker(subject.contract);
  return exchanges.map(({ question, reply }) => {
    const { operation, method, path, headers: sentHeaders, sent, status: expected } = question;
    const { status, headers, body = "" } = reply;
    const unexpected = expected === undefined || expected === status ? undefined : `${expected} was expected`;
    const fault = faultOf(operation.operationId, reply) ?? surplusOf(operation, reply) ?? unexpected;
    const type = mediaTypeOf(headers);
    return {
      operation,
      method,
      path,
      headers: sentHeaders,
      sent,
      status,
      type,
      replyHeaders: headers,
      body,
      fault,
    };
  });
}

/** Headers that OpenAPI has other words for, or none, on the way there and on the way back. */
const undeclared = {
  there: ["accept", "authorization", "content-type"],
  back: ["connection", "content-length", "content-type", "date", "keep-alive", "transfer-encoding", "vary"],
};

/** Whether a request may be sent with this header. */
const isSent = ({ parameters }: Operation, header: string): boolean =>
  undeclared.there.includes(header) ||
  parameters.some(({ name, in: place }) => place === "header" && name.toLowerCase() === header);

/** The headers that a reply has and its operation does not declare. */
function surplusOf({ responses }: Operation, { status, headers }: ReceivedResponse): string | undefined {
  const declared = Object.keys(responses[status]?.headers ?? {}).map((name) => name.toLowerCase());
  const known = [...undeclared.back, ...declared];
  const surplus = Object.keys(headers).filter((name) => !known.includes(name));
  return surplus.length > 0 ? `the headers ${surplus.join(", ")} are not declared` : undefined;
}

/** Every request, and for each operation those that it must refuse. */
async function whenAllIsWell(
  subject: Subject,
  questions: Question[],
  samples: Question[],
): Promise<Exchange[]> {
  await using app = await subject.open("all is well");
  const base = await app.listen(anywhere);
  const exchanges: Exchange[] = [];
  for (const question of questions) exchanges.push(await ask(base, question));
  const poor = authorization(subject.tokens?.poor);
  const refused = samples.flatMap((sample): Question[] => [
    { ...sample, path: `${sample.path}${sample.path.includes("?") ? "&" : "?"}surplus=1`, status: 400 },
    ...(sample.operation.security.length === 0
      ? []
      : [
          { ...sample, headers: {}, status: 401 },
          { ...sample, headers: poor, status: 403 },
        ]),
    { ...sample, method: "PATCH", status: 405 },
    { ...sample, headers: { "x-long": "x".repeat(17_000) }, status: 431 },
    ...(sample.operation.body === undefined
      ? []
      : [
          ...(sample.operation.body.required ? [withoutBody(sample)] : []),
          { ...sample, sent: "{", status: 400 },
          { ...sample, sent: " ".repeat(2 ** 20 + 1), status: 413 },
          { ...sample, headers: { ...sample.headers, "content-type": "text/plain" }, status: 415 },
          { ...sample, headers: { ...sample.headers, "content-encoding": "gzip" }, status: 415 },
        ]),
  ]);
  return [...exchanges, ...(await Promise.all(refused.map((question) => ask(base, question))))];
}

function withoutBody(sample: Question): Question {
  const { "content-type": _, ...headers } = sample.headers;
  return { ...sample, headers, sent: undefined, status: 400 };
}

async function inEachOtherSituation(subject: Subject, samples: Question[]): Promise<Exchange[]> {
  const exchanges: Exchange[] = [];
  for (const situation of [
    "a handler has a bug",
    "what it depends on is away",
    "its database is busy",
  ] as const) {
    await using app = await subject.open(situation);
    const base = await app.listen(anywhere);
    const asked = samples.map((sample) => ask(base, { ...sample, status: undefined }));
    exchanges.push(...(await Promise.all(asked)));
  }
  return exchanges;
}

/** Requests that began before the service began to close, and ended after. */
async function whenClosing(subject: Subject, samples: Question[]): Promise<Exchange[]> {
  const app = await subject.open("all is well");
  await app.listen(anywhere);
  const finish = await begin(app, samples);
  const closed = app.close();
  const replies = await finish();
  await closed;
  return replies.map((reply, index) => ({
    question: { ...(samples[index] as Question), status: 503 },
    reply,
  }));
}

const authorization = (token: string | undefined): Record<string, string> =>
  token === undefined ? {} : { authorization: `Bearer ${token}` };

const anywhere = { host: "127.0.0.1", port: 0 };

/** The operation a request is for: that whose path has the fewest parameters of those that fit. */
function operationAt(operations: Operation[], method: string, path: string): Operation | undefined {
  const [address = ""] = path.split("?");
  const form = (path: string) => new RegExp(`^${path.replaceAll(/\{\w+\}/g, "[^/]+")}$`);
  return operations
    .filter((operation) => operation.method === method && form(operation.path).test(address))
    .sort((a, b) => a.path.split("{").length - b.path.split("{").length)[0];
}

async function ask(base: string, question: Question): Promise<Exchange> {
  const { path, headers } = question;
  const method = question.method as Dispatcher.HttpMethod;
  const reply = await request(base + path, { method, headers, body: textOf(question) });
  const isStream = mediaTypeOf(reply.headers) === "text/event-stream";
  const body = isStream ? await firstEvent(reply.body) : await reply.body.text();
  return { question, reply: { status: reply.statusCode, headers: reply.headers, body } };
}

const textOf = ({ sent }: Question): string | null =>
  sent === undefined ? null : typeof sent === "string" ? sent : JSON.stringify(sent);

/** What a stream that never ends has said when it has told an event. */
async function firstEvent(pieces: AsyncIterable<Buffer>): Promise<string> {
  let text = "";
  for await (const piece of pieces) {
    text += piece;
    if (text.includes("data:")) break;
  }
  return text;
}

/**
 * Sends the first half of each request, so that their connections are busy; what it resolves to sends the second halves
 * and reads the replies.
 */
async function begin(app: FastifyInstance, questions: Question[]) {
  const arrived: Socket[] = [];
  app.server.on("connection", (socket) => arrived.push(socket));
  const { port } = app.server.address() as AddressInfo;
  const sockets = questions.map(({ method, path, headers }) => {
    const socket = connect(port, "127.0.0.1");
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
    socket.write(`${method} ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\n${lines.join("")}`);
    return socket;
  });
  const isThere = () => arrived.length === sockets.length && arrived.every(({ bytesRead }) => bytesRead > 0);
  while (!isThere()) await setTimeout(1);
  return async () => {
    for (const socket of sockets) socket.write("\r\n");
    return (await Promise.all(sockets.map((socket) => text(socket)))).map(readReply);
  };
}

function readReply(text: string): ReceivedResponse {
  const [head = "", body = ""] = text.split("\r\n\r\n");
  const [statusLine = "", ...lines] = head.split("\r\n");
  const headers = lines
    .map((line) => line.split(/: */, 2))
    .map(([name = "", value]) => [name.toLowerCase(), value]);
  return { status: Number(statusLine.split(" ")[1]), headers: Object.fromEntries(headers), body };
}
