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
import { Refusal } from "../../src/http/http-error.ts";
import { sendReply } from "../../src/http/reply.ts";
import { createService } from "../../src/http/service.ts";
import { ledgerService } from "../../src/ledger/app.ts";
import { settings as ledgerSettings } from "../../src/ledger/settings.ts";
import { refuseUnknown, runCommand, say } from "../../src/process/command.ts";
import { openLog } from "../../src/process/log.ts";
import { readSettings } from "../../src/process/settings.ts";
import { stopOnSignals, untilStopped } from "../../src/process/stop.ts";

const usage = `Usage: npm run mock [-- SERVICE...]

Serves the examples of the contracts, both unless some are named, without a database, a queue or a store, until SIGINT
or SIGTERM. Requests are checked as the services check them. Where an operation has several examples, that one answers
that holds the identifier of the path, otherwise the first; a header asks for another answer:

  Prefer: code=404            the example of this status
  Prefer: example=refund      the example of this name, in the media type that Accept asks for if there are several

  ledger     payment ledger, port LEDGER_PORT (8081)
  features   feature storage, port FEATURES_PORT (8080)
  --help     print this text
`;

const services = {
  ledger: { ...ledgerService, port: "LEDGER_PORT" },
  features: { ...featuresService, port: "FEATURES_PORT" },
} as const;

const log = openLog("warn");

interface Answer {
  status: number;
  type?: string;
  headers: Record<string, string>;
  body?: unknown;
  /** The name of the example. */
  name?: string;
}

/** Every example of an operation's replies, by status and media type, in the order of the contract; also of no body. */
function answersOf(contract: Contract, { responses }: Operation): Answer[] {
  return Object.entries(responses).flatMap(([code, response]): Answer[] => {
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
      .filter(([, { required }]) => required)
      .map(([name, { example = "" }]) => [name, example]),
  );

/** What a request prefers (RFC 7240), such as `code=404, example=refund`: names in any letter case, the first of each. */
function preferenceOf(header: string): { code: number | undefined; example: string | undefined } {
  const wishes = header.split(/[,;]/).map((wish) => /^\s*(\w+)\s*=\s*"?([^"]*?)"?\s*$/.exec(wish));
  const wished = (name: string) => wishes.find((wish) => wish?.[1]?.toLowerCase() === name)?.[2];
  const code = wished("code");
  return { code: code === undefined ? undefined : Number(code), example: wished("example") };
}

/** Answers as the header Prefer asks. */
function preferred(
  answers: Answer[],
  request: FastifyRequest,
  reply: FastifyReply,
): FastifyReply | undefined {
  const { code, example } = preferenceOf(String(request.headers.prefer ?? ""));
  if (code === undefined && example === undefined) return undefined;
  const fitting = answers.filter(
    ({ status, name }) => (code ?? status) === status && (example ?? name) === name,
  );
  const accepted = new Negotiator(request.raw).mediaType(fitting.flatMap(({ type }) => type ?? []));
  const answer = fitting.find(({ type }) => type === accepted) ?? fitting[0];
  if (answer === undefined) {
    const known = answers.map(({ status, name }) => `code=${status}${name ? `, example=${name}` : ""}`);
    throw new Refusal(400, [`the contract has no such example; it has ${known.join("; ")}`]);
  }
  const { status, type = "", headers, body } = answer;
  return sendReply(reply.code(status).headers(headers), type, body, log);
}

/** A service that answers with the examples of its contract. */
async function mock({ contract, renderError, publication }: (typeof services)[keyof typeof services]) {
  const operations = operationsOf(contract).map((operation) => ({
    ...operation,
    answers: answersOf(contract, operation),
  }));
  const handlers = operations.map(({ operationId, answers }) => [
    operationId,
    async ({ path, mediaType }: { path: object; mediaType: string }) => {
      const successes = answers.filter(({ status, type }) => status < 300 && type === mediaType);
      const identifiers = Object.values(path).map(String);
      return successes.find(({ body }) => holds(body, identifiers)) ?? successes[0];
    },
  ]);
  const app = await createService({
    contract,
    renderError,
    publication,
    handlers: Object.fromEntries(handlers),
    log,
  });
  app.addHook("preHandler", async (request, reply) => {
    const operation = operationFor(request, operations);
    return operation && preferred(operation.answers, request, reply);
  });
  return app;
}

const holds = (body: unknown, identifiers: string[]): boolean =>
  Object.entries(body ?? {}).some(
    ([name, member]) => name.endsWith("_id") && identifiers.includes(String(member)),
  );

await runCommand("mock", usage, async (args) => {
  refuseUnknown(args, Object.keys(services));
  const { HOST, LEDGER_PORT } = ledgerSettings;
  const { FEATURES_PORT } = featuresSettings;
  const settings = readSettings(process.env, { HOST, LEDGER_PORT, FEATURES_PORT });
  const stop = stopOnSignals();
  await using opened = new AsyncDisposableStack();
  for (const [name, service] of Object.entries(services)) {
    if (args.length > 0 && !args.includes(name)) continue;
    const app = opened.use(await mock(service));
    const address = await app.listen({ host: settings.HOST, port: settings[service.port] });
    say(
      `the examples of ${service.contract.info.title} are served at ${address}, its contract at ${address}/docs`,
    );
  }
  await untilStopped(stop.signal);
});
