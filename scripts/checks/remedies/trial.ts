import { isDeepStrictEqual } from "node:util";
import { applyPatch, type Operation as PatchOperation } from "rfc6902";
import { Client } from "undici";
import { type Operation, operationsOf } from "../../../src/contract/operations.ts";
import { problemJson } from "../../../src/http/problem.ts";
import { readInstant } from "../../../src/values/instant.ts";
import { type Random, seeded } from "../../../testing/random.ts";
import { operationAt } from "../evidence/observe.ts";
import type { Subject } from "../evidence/subjects.ts";
import { type Request, readTarget, type SpoiledRequest, spoiledRequests, targetOf } from "./requests.ts";

/** What became of the requests with one mistake. */
export interface Outcome {
  /** The number of requests that could be mended, and of those that were. */
  mendable: number;
  mended: number;
  /** The number of requests that nobody can mend, by the reason. */
  unclear: Map<string, number>;
  /** Requests that could be mended and were not, by their mistake and place. */
  missed: string[];
  /** Remedies that changed a part that was right, or that were given where no correction is safe. */
  wrong: string[];
}

interface Problem {
  errors?: { parameter?: string; header?: string; pointer?: string; remedy?: PatchOperation[] }[];
}

/** After this number of requests the progress is reported. */
const progressStep = 1000;

/** Sends requests with one mistake each to a service, applies the remedies of the responses, and sends them again. */
export async function tryRemedies(
  subject: Subject,
  count: number,
  seed: number,
  onProgress: (done: number) => void,
): Promise<Outcome> {
  await using app = await subject.open("normal");
  const client = new Client(await app.listen({ host: "127.0.0.1", port: 0 }));
  const send = async ({ operation, headers, body, ...request }: Request) => {
    const response = await client.request({
      method: operation.method as "GET",
      path: targetOf({ operation, headers, ...request }),
      headers: {
        accept: "application/json, application/problem+json;q=0.9, */*;q=0.1",
        ...(subject.tokens && { authorization: `Bearer ${subject.tokens.sufficient}` }),
        ...(body !== undefined && { "content-type": "application/json" }),
        ...headers,
      },
      body: body === undefined ? null : JSON.stringify(body),
    });
    return { status: response.statusCode, text: await response.body.text() };
  };
  try {
    const random = seeded(seed);
    const outcome: Outcome = { mendable: 0, mended: 0, unclear: new Map(), missed: [], wrong: [] };
    const valid = await validRequests(subject, send);
    let tried = 0;
    while (tried < count) {
      const request = combined(valid, random);
      if ((await send(request)).status >= 300) continue;
      const mistakes = Object.values(
        Object.groupBy(spoiledRequests(subject.contract, request, random), ({ mistake }) => mistake),
      );
      const spoiled = random.pick(random.pick(mistakes) as SpoiledRequest[]);
      const { status, text } = await send(spoiled.request);
      if (status >= 500) throw new Error(`${nameOf(spoiled)} got ${status}`);
      if (status !== 400) continue;
      tried += 1;
      if (tried % progressStep === 0) onProgress(tried);
      await judge(outcome, request, spoiled, JSON.parse(text), send);
    }
    return outcome;
  } finally {
    await client.close();
  }
}

type Send = (request: Request) => Promise<{ status: number; text: string }>;

/** The errors of OFREP have the form of OFREP, without faults. */
const hasProblems = ({ responses }: Operation) => responses["400"]?.content?.[problemJson] !== undefined;

/** The requests of a subject that succeed, and succeed again. */
async function validRequests({ contract, requests }: Subject, send: Send): Promise<Request[]> {
  const operations = operationsOf(contract);
  const valid: Request[] = [];
  for (const { method, path, headers = {}, body, status = 200 } of requests) {
    const operation = operationAt(operations, method, path);
    if (!operation || status >= 300 || "accept" in headers || !hasProblems(operation)) continue;
    const request: Request = { operation, headers, body, ...readTarget(path) };
    const responses = [await send(request), await send(request)];
    if (responses.every((response) => response.status < 300)) valid.push(request);
  }
  return valid;
}

/** A valid request with parameters of another one, which can make it invalid. */
function combined(valid: Request[], random: Random): Request {
  const one = random.pick(valid);
  const others = valid.filter(({ operation, path }) => operation === one.operation && path === one.path);
  const { query, headers } = random.pick(others);
  return { ...one, query: { ...query, ...one.query }, headers: { ...headers, ...one.headers } };
}

async function judge(
  outcome: Outcome,
  request: Request,
  spoiled: SpoiledRequest,
  problem: Problem,
  send: Send,
): Promise<void> {
  const { unclear } = spoiled;
  const errors = problem.errors ?? [];
  const mended = errors.length > 0 ? apply(spoiled.request, errors) : undefined;
  const name = nameOf(spoiled);
  if (unclear !== undefined) {
    outcome.unclear.set(unclear, (outcome.unclear.get(unclear) ?? 0) + 1);
    if (mended) outcome.wrong.push(`${name}: ${JSON.stringify(problem.errors)}`);
    return;
  }
  outcome.mendable += 1;
  if (!mended) {
    outcome.missed.push(`${name}: ${JSON.stringify(problem)}`.slice(0, 600));
    return;
  }
  if (!spoiled.isChanged && !isSame(mended, request)) {
    outcome.wrong.push(`${name}: ${JSON.stringify(problem.errors)}`);
  } else if ((await send(mended)).status >= 300) {
    outcome.missed.push(`${name}: not valid after ${JSON.stringify(problem.errors)}`);
  } else outcome.mended += 1;
}

const nameOf = ({ request: { operation, ...request }, place, mistake }: SpoiledRequest) =>
  `${operation.operationId}, ${mistake} in ${place}: ${targetOf({ operation, ...request })} ${JSON.stringify(request.body) ?? ""}`;

/** The request with all remedies, as a program applies them. Undefined if a fault has no remedy. */
function apply(request: Request, errors: NonNullable<Problem["errors"]>): Request | undefined {
  const mended = structuredClone({ query: request.query, headers: request.headers, body: request.body });
  for (const { parameter, header, remedy } of errors) {
    if (!remedy) return undefined;
    const document = parameter !== undefined ? mended.query : header !== undefined ? mended.headers : mended;
    const patch =
      document === mended
        ? remedy.map((operation) => ({
            ...operation,
            path: `/body${operation.path}`,
            ...("from" in operation && { from: `/body${operation.from}` }),
          }))
        : remedy;
    const failures = applyPatch(document, patch as PatchOperation[]).filter((error) => error !== null);
    if (failures.length > 0) throw new Error(`${JSON.stringify(remedy)} cannot be applied: ${failures}`);
  }
  return { ...request, ...mended };
}

/** True if two requests mean the same. An instant, and a text with one value, can be written differently. */
function isSame(one: Request, other: Request): boolean {
  const plain = ({ query, headers, body }: Request) => ({
    query: Object.fromEntries(
      Object.entries(query).map(([name, texts]) => [name, [texts].flat().join(",").split(",").map(meaning)]),
    ),
    headers,
    body: JSON.parse(JSON.stringify(body ?? null), (_, value) =>
      typeof value === "string" ? meaning(value) : value,
    ),
  });
  return isDeepStrictEqual(plain(one), plain(other));
}

function meaning(text: string): string {
  const instant = readInstant(text.replace(/ (\d\d:\d\d)$/, "+$1"));
  return instant === undefined ? text : new Date(text.replace(/ (\d\d:\d\d)$/, "+$1")).toISOString();
}
