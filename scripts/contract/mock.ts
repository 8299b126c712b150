import type { FastifyReply, FastifyRequest } from "fastify";
import Negotiator from "negotiator";
import {
  type Contract,
  type DeclaredResponse,
  follow,
  type Operation,
  operationsOf,
} from "../../src/contract/operations.ts";
import { operationFor } from "../../src/contract/response-check.ts";
import { featuresService } from "../../src/features/app.ts";
import { settings as featuresSettings } from "../../src/features/start.ts";
import { HttpError } from "../../src/http/http-error.ts";
import { requestIdHeader } from "../../src/http/request-id.ts";
import { sendBody } from "../../src/http/response.ts";
import { createService } from "../../src/http/service.ts";
import { ledgerService } from "../../src/ledger/app.ts";
import { settings as ledgerSettings } from "../../src/ledger/settings.ts";
import { rejectUnknown, runCommand, say } from "../../src/process/command.ts";
import { openLog } from "../../src/process/log.ts";
import { readSettings } from "../../src/process/settings.ts";
import { stopOnSignals, untilStopped } from "../../src/process/stop.ts";

const usage = `Usage: npm run mock [-- SERVICE...]

Serves the examples of the contracts until SIGINT or SIGTERM, without a database, queue or store. Default: both services.
Validates requests as the services do. Answers with the example that has the identifier in the path. Default: the first
example. A header selects another one:

  Prefer: code=404            the example of this status
  Prefer: example=refund      the example of this name, in the media type that Accept prefers

  ledger     payment ledger, port LEDGER_PORT (8081)
  features   feature storage, port FEATURES_PORT (8080)
  --help     print this text
`;

const services = {
  ledger: { ...ledgerService, port: "LEDGER_PORT" },
  features: { ...featuresService, port: "FEATURES_PORT" },
} as const;

const log = openLog("warn");

interface ExampleResponse {
  status: number;
  type?: string;
  headers: Record<string, string>;
  body?: unknown;
  /** The name of the example. */
  name?: string;
}

/** The examples of an operation, in the order of the contract. A response without a body is one of them. */
function examplesOf(contract: Contract, { responses }: Operation): ExampleResponse[] {
  return Object.entries(responses).flatMap(([code, response]): ExampleResponse[] => {
    const [status, headers] = [Number(code), headersOf(response)];
    if (response.content === undefined) return [{ status, headers }];
    return Object.entries(response.content).flatMap(([type, { examples = {} }]) =>
      Object.entries(examples).map(([name, example]) => {
        const { value } = follow(contract, example) as { value: unknown };
        return { status, type, headers, body: value, name };
      }),
    );
  });
}

const headersOf = ({ headers = {} }: DeclaredResponse): Record<string, string> =>
  Object.fromEntries(
    Object.entries(headers)
      .filter(([name, { required }]) => required && name.toLowerCase() !== requestIdHeader)
      .map(([name, { example = "" }]) => [name, example]),
  );

/** Parses a header such as `code=404, example=refund` (RFC 7240). Names are case-insensitive; the first one counts. */
function preferenceOf(header: string): { code: number | undefined; example: string | undefined } {
  const preferences = header.split(/[,;]/).map((text) => /^\s*(\w+)\s*=\s*"?([^"]*?)"?\s*$/.exec(text));
  const preference = (name: string) => preferences.find((pair) => pair?.[1]?.toLowerCase() === name)?.[2];
  const code = preference("code");
  return { code: code === undefined ? undefined : Number(code), example: preference("example") };
}

/** Sends the example that the header Prefer selects. Returns undefined if it selects none. */
function sendPreferred(
  examples: ExampleResponse[],
  request: FastifyRequest,
  reply: FastifyReply,
): FastifyReply | undefined {
  const { code, example } = preferenceOf(String(request.headers.prefer ?? ""));
  if (code === undefined && example === undefined) return undefined;
  const matching = examples.filter(
    ({ status, name }) => (code ?? status) === status && (example ?? name) === name,
  );
  const accepted = new Negotiator(request.raw).mediaType(matching.flatMap(({ type }) => type ?? []));
  const selected = matching.find(({ type }) => type === accepted) ?? matching[0];
  if (selected === undefined) {
    const available = examples.map(({ status, name }) => `code=${status}${name ? `, example=${name}` : ""}`);
    throw new HttpError(400, [`the contract has no such example; available: ${available.join("; ")}`]);
  }
  const { status, type = "", headers, body } = selected;
  return sendBody(reply.code(status).headers(headers), type, body, log);
}

/** A service whose responses are the examples of its contract. */
async function mock({ contract, renderError, documents }: (typeof services)[keyof typeof services]) {
  const operations = operationsOf(contract).map((operation) => ({
    ...operation,
    examples: examplesOf(contract, operation),
  }));
  // An operation with the method QUERY has no handler of its own.
  const own = operations.filter(({ queryOf }) => queryOf === undefined);
  const handlers = own.map(({ operationId, examples }) => [
    operationId,
    async ({ path, mediaType }: { path: object; mediaType: string }) => {
      const successes = examples.filter(({ status, type }) => status < 300 && type === mediaType);
      const identifiers = Object.values(path).map(String);
      return successes.find(({ body }) => hasIdentifier(body, identifiers)) ?? successes[0];
    },
  ]);
  const app = await createService({
    contract,
    renderError,
    documents,
    handlers: Object.fromEntries(handlers),
    log,
  });
  app.addHook("preHandler", async (request, reply) => {
    const operation = operationFor(request, operations);
    return operation && sendPreferred(operation.examples, request, reply);
  });
  return app;
}

const hasIdentifier = (body: unknown, identifiers: string[]): boolean =>
  Object.entries(body ?? {}).some(
    ([name, member]) => name.endsWith("_id") && identifiers.includes(String(member)),
  );

await runCommand("mock", usage, async (args) => {
  rejectUnknown(args, Object.keys(services));
  const { HOST, LEDGER_PORT } = ledgerSettings;
  const { FEATURES_PORT } = featuresSettings;
  const settings = readSettings(process.env, { HOST, LEDGER_PORT, FEATURES_PORT });
  const stop = stopOnSignals();
  await using opened = new AsyncDisposableStack();
  for (const [name, service] of Object.entries(services)) {
    if (args.length > 0 && !args.includes(name)) continue;
    const app = opened.use(await mock(service));
    const address = await app.listen({ host: settings.HOST, port: settings[service.port] });
    say(`${service.contract.info.title}: examples at ${address}, contract at ${address}/docs`);
  }
  await untilStopped(stop.signal);
});
