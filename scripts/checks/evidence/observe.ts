import { type AddressInfo, connect, type Socket } from "node:net";
import { text } from "node:stream/consumers";
import { setTimeout } from "node:timers/promises";
import type { FastifyInstance } from "fastify";
import { type Dispatcher, request as httpRequest } from "undici";
import { generalResponses, type Operation, operationsOf } from "../../../src/contract/operations.ts";
import { mediaTypeOf, type ReceivedResponse, responseChecker } from "../../../src/contract/response-check.ts";
import { problemJson } from "../../../src/http/problem.ts";
import type { Subject } from "./subjects.ts";

interface TestRequest {
  operation: Operation;
  method: string;
  path: string;
  headers: Record<string, string>;
  /** Text is sent as it is, any other value as JSON. */
  body?: unknown;
  /** The expected status. Default: any declared status. */
  status?: number;
}

interface Exchange {
  request: TestRequest;
  response: ReceivedResponse;
}

/** A request, its response and how the response violates the contract, if it does. Header names are in lower case. */
export interface Observation extends Exchange {
  violation: string | undefined;
}

/** Sends every request to a service over HTTP, in every situation. */
export async function observe(subject: Subject): Promise<Observation[]> {
  const operations = operationsOf(subject.contract);
  const credentials = authorization(subject.tokens?.sufficient);
  const requests = subject.requests.map(({ method, path, headers, body, status }) => {
    const operation = operationAt(operations, method, path);
    if (!operation) throw new Error(`the contract has no operation at ${method} ${path}`);
    const unknown = Object.keys(headers ?? {}).find((name) => !isRequestHeader(operation, name));
    if (unknown !== undefined) throw new Error(`${operation.operationId} has no parameter ${unknown}`);
    const type = body !== undefined && { "content-type": "application/json" };
    return { operation, method, path, status, headers: { ...credentials, ...type, ...headers }, body };
  });
  const samples = operations.map((operation) => {
    const sample = requests.find(
      (request) => request.operation === operation && (request.status ?? 400) < 300,
    );
    if (!sample) throw new Error(`there is no successful request to ${operation.operationId}`);
    return sample;
  });
  const exchanges = [
    await inNormalOperation(subject, requests, samples),
    await inFailureSituations(subject, samples),
    await duringClose(subject, samples.flatMap(inEachFormat)),
    await tooLate(subject, samples),
  ].flat();

  const violationOf = responseChecker(subject.contract);
  const general = generalResponses(subject.contract);
  return exchanges.map(({ request, response }) => {
    const { operation, status } = request;
    const isExpected = status === undefined || status === response.status;
    const violation =
      violationOf(operation.operationId, response) ??
      undeclaredHeaders({ ...general, ...operation.responses }, response) ??
      (isExpected ? undefined : `${status} was expected`);
    return { request, response, violation };
  });
}

/** Headers that OpenAPI declares by other means than header objects, or not at all. */
const impliedHeaders = {
  request: ["accept", "authorization", "content-type"],
  response: [
    ...["connection", "content-length", "content-type", "date", "keep-alive", "transfer-encoding", "vary"],
    // They tell browsers what they may do with the response.
    ...["x-content-type-options", "content-security-policy", "referrer-policy"],
  ],
};

const isRequestHeader = ({ parameters }: Operation, header: string): boolean =>
  impliedHeaders.request.includes(header) ||
  parameters.some(({ name, in: place }) => place === "header" && name.toLowerCase() === header);

/** A violation if a response has headers that none of the responses with its status declares. */
function undeclaredHeaders(
  responses: Operation["responses"],
  { status, headers }: ReceivedResponse,
): string | undefined {
  const declared = Object.keys(responses[status]?.headers ?? {}).map((name) => name.toLowerCase());
  const known = [...impliedHeaders.response, ...declared];
  const undeclared = Object.keys(headers).filter((name) => !known.includes(name));
  return undeclared.length > 0 ? `the headers ${undeclared.join(", ")} are not declared` : undefined;
}

/** Sends every request, and to each operation the requests that it must reject. */
async function inNormalOperation(
  subject: Subject,
  requests: TestRequest[],
  samples: TestRequest[],
): Promise<Exchange[]> {
  await using app = await subject.open("normal");
  const base = await app.listen(loopback);
  const exchanges: Exchange[] = [];
  const sent = requests.flatMap((request) => ((request.status ?? 0) < 400 ? request : inEachFormat(request)));
  for (const request of sent) exchanges.push(await send(base, request));
  const unauthorized = (sample: TestRequest): TestRequest[] => [
    { ...sample, headers: {}, status: 401 },
    { ...sample, headers: authorization(subject.tokens?.insufficient), status: 403 },
  ];
  const invalid = samples.flatMap((sample): TestRequest[] => [
    { ...sample, path: `${sample.path}${sample.path.includes("?") ? "&" : "?"}surplus=1`, status: 400 },
    ...(sample.operation.security.length > 0 ? unauthorized(sample) : []),
    { ...sample, method: "PATCH", status: 405 },
    { ...sample, headers: { ...sample.headers, host: "foreign.test" }, status: 421 },
    { ...sample, headers: { ...sample.headers, host: "no host" }, status: 400 },
    { ...sample, headers: { "x-long": "x".repeat(17_000) }, status: 431 },
    ...(sample.method === "GET" ? [] : foreignChanges(sample)),
    ...(sample.operation.body ? withInvalidBodies(sample) : []),
  ]);
  const all = invalid.flatMap(inEachFormat);
  return [...exchanges, ...(await Promise.all(all.map((request) => send(base, request))))];
}

/** What a page of another origin can send: its request, and the types of bodies that need no preflight. */
const foreignChanges = ({ headers, ...sample }: TestRequest): TestRequest[] => {
  const json = { ...headers, "content-type": "application/json" };
  return [
    { ...sample, headers: { ...headers, origin: "https://foreign.test" }, status: 403 },
    { ...sample, headers: { ...headers, "content-type": "text/plain" }, body: "text", status: 415 },
    { ...sample, headers: { ...json, "content-encoding": "gzip" }, body: "{}", status: 415 },
  ];
};

function withInvalidBodies({ headers, ...sample }: TestRequest): TestRequest[] {
  const { "content-type": _, ...withoutType } = headers;
  return [
    ...(sample.operation.body?.required
      ? [{ ...sample, headers: withoutType, body: undefined, status: 400 }]
      : []),
    { ...sample, headers, body: "{", status: 400 },
    { ...sample, headers, body: " ".repeat(2 ** 20 + 1), status: 413 },
  ];
}

async function inFailureSituations(subject: Subject, samples: TestRequest[]): Promise<Exchange[]> {
  const exchanges: Exchange[] = [];
  for (const situation of ["handlers throw", "dependency down", "database busy"] as const) {
    await using app = await subject.open(situation);
    const base = await app.listen(loopback);
    const all = samples.flatMap(inEachFormat);
    const sent = all.map((sample) => send(base, { ...sample, status: undefined }));
    exchanges.push(...(await Promise.all(sent)));
  }
  return exchanges;
}

/** Sends requests that begin before the service closes and end afterwards. */
async function duringClose(subject: Subject, samples: TestRequest[]): Promise<Exchange[]> {
  const app = await subject.open("normal");
  await app.listen(loopback);
  const { complete, read } = await begin(app, samples);
  const closed = app.close();
  complete();
  const responses = await read();
  await closed;
  return responses.map((response, index) => ({
    request: { ...(samples[index] as TestRequest), status: 503 },
    response,
  }));
}

/** Sends the first half of a request that the service does not await any longer. */
async function tooLate(subject: Subject, [sample]: TestRequest[]): Promise<Exchange[]> {
  await using app = await subject.open("normal");
  await app.listen(loopback);
  const request = { ...(sample as TestRequest), status: 408 };
  const { read } = await begin(app, [request]);
  app.server.headersTimeout = app.server.requestTimeout = 1;
  return (await read()).map((response) => ({ request, response }));
}

/** The request, and the request of a caller who prefers problem documents, if its errors have another form by default. */
function inEachFormat(request: TestRequest): TestRequest[] {
  const types = Object.keys(request.operation.responses["400"]?.content ?? {});
  return types.length > 1 && types.includes(problemJson)
    ? [request, { ...request, headers: { ...request.headers, accept: problemJson } }]
    : [request];
}

const authorization = (token: string | undefined): Record<string, string> =>
  token === undefined ? {} : { authorization: `Bearer ${token}` };

const loopback = { host: "127.0.0.1", port: 0 };

/** The operation of a request. If several paths match, the one with the fewest parameters. */
export function operationAt(operations: Operation[], method: string, path: string): Operation | undefined {
  const [address = ""] = path.split("?");
  const pattern = (path: string) => new RegExp(`^${path.replaceAll(/\{\w+\}/g, "[^/]+")}$`);
  return operations
    .filter((operation) => operation.method === method && pattern(operation.path).test(address))
    .sort((a, b) => a.path.split("{").length - b.path.split("{").length)[0];
}

async function send(base: string, request: TestRequest): Promise<Exchange> {
  const { path, headers } = request;
  const method = request.method as Dispatcher.HttpMethod;
  const received = await httpRequest(base + path, { method, headers, body: textOf(request) });
  const isStream = mediaTypeOf(received.headers) === "text/event-stream";
  const body = isStream ? await firstEvent(received.body) : await received.body.text();
  return { request, response: { status: received.statusCode, headers: received.headers, body } };
}

const textOf = ({ body }: TestRequest): string | null =>
  body === undefined ? null : typeof body === "string" ? body : JSON.stringify(body);

/** The start of an endless event stream, up to its first event. */
async function firstEvent(chunks: AsyncIterable<Buffer>): Promise<string> {
  let text = "";
  for await (const chunk of chunks) {
    text += chunk;
    if (text.includes("data:")) break;
  }
  return text;
}

/** Sends the first half of each request, which keeps the connections busy. Then the second halves can be sent. */
async function begin(app: FastifyInstance, requests: TestRequest[]) {
  const accepted: Socket[] = [];
  app.server.on("connection", (socket) => accepted.push(socket));
  const { port } = app.server.address() as AddressInfo;
  const sockets = requests.map(({ method, path, headers }) => {
    const socket = connect(port, "127.0.0.1");
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
    socket.write(`${method} ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\n${lines.join("")}`);
    return socket;
  });
  const haveArrived = () =>
    accepted.length === sockets.length && accepted.every(({ bytesRead }) => bytesRead > 0);
  while (!haveArrived()) await setTimeout(1);
  return {
    complete() {
      for (const socket of sockets) socket.write("\r\n");
    },
    read: async () => (await Promise.all(sockets.map((socket) => text(socket)))).map(parseResponse),
  };
}

function parseResponse(text: string): ReceivedResponse {
  const [head = "", body = ""] = text.split("\r\n\r\n");
  const [statusLine = "", ...lines] = head.split("\r\n");
  const headers = lines
    .map((line) => line.split(/: */, 2))
    .map(([name = "", value]) => [name.toLowerCase(), value]);
  return { status: Number(statusLine.split(" ")[1]), headers: Object.fromEntries(headers), body };
}
