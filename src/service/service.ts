import { METHODS } from "node:http";
import type { Ajv2020 } from "ajv/dist/2020.js";
import {
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  fastify,
  LogController,
  type RouteOptions,
} from "fastify";
import { fastifyOpenapiGlue } from "fastify-openapi-glue";
import { closeGracefully } from "./closing.ts";
import { answerBrokenRequests } from "./connections.ts";
import { type Contract, follow, type Handlers, type Operation, operationsOf } from "./contract.ts";
import { type ErrorReply, explain, type RenderError } from "./errors.ts";
import { toJson } from "./json.ts";
import type { Logger } from "./log.ts";
import { parametersReader, parametersSchema } from "./parameters.ts";
import { Refusal } from "./refusal.ts";
import { checkReplies } from "./reply-check.ts";
import { describeFaults, openAjv } from "./validation.ts";

/** Looks at a request's credentials before anything else is; throws to turn it away. */
export type Authenticate = (request: FastifyRequest) => Promise<void>;

export interface ServiceParts<Operations> {
  contract: Contract;
  handlers: Handlers<Operations>;
  /** One for each security scheme of the contract, and no other. */
  security?: Record<string, Authenticate>;
  renderError: RenderError;
  log: Logger;
  /** When given, every reply is held against the contract, and this is told of each that strays. For tests. */
  onStrayReply?: (fault: string) => void;
}

/**
 * A service that answers what its contract declares, ready to listen. Method, path and schema come from the contract
 * alone. Throws when contract and handlers do not match, so that a mismatch is seen at the start and not by a caller.
 */
export async function createService<Operations>(parts: ServiceParts<Operations>): Promise<FastifyInstance> {
  const { contract, renderError, log } = parts;
  const handlers = parts.handlers as Record<string, AnyHandler>;
  const operations = operationsOf(contract);
  const handled = Object.keys(handlers).filter((name) => typeof handlers[name] === "function");
  match("operations without a handler", names(operations), handled);
  match("handlers without an operation", Object.keys(handlers), names(operations));
  const security = Object.assign(Object.create(null), parts.security);
  const schemes = Object.keys(contract.components?.securitySchemes ?? {});
  match("security schemes without a handler", schemes, Object.keys(security));
  match("security handlers without a scheme", Object.keys(security), schemes);

  const app = fastify({
    loggerInstance: log,
    logController: new LogController({ disableRequestLogging: true }),
    return503OnClosing: false,
    requestTimeout: 30_000,
    routerOptions: { ignoreTrailingSlash: true, maxParamLength: 16_384 },
    clientErrorHandler: answerBrokenRequests(renderError),
    frameworkErrors: (error, request, reply) => sendError(error, request, reply),
  }) as unknown as FastifyInstance;

  function sendError(error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
    const { status, messages, headers } = explain(error);
    if (status >= 500 && !(error instanceof Refusal)) {
      request.log.error(
        { err: error, method: request.method, url: request.url },
        "request failed unexpectedly",
      );
    }
    return sendReply(reply.code(status).headers(headers), renderError(status, messages));
  }

  closeGracefully(app);
  if (parts.onStrayReply) checkReplies(app, contract, parts.onStrayReply);
  app.removeContentTypeParser("text/plain");
  app.setErrorHandler(sendError);
  app.setNotFoundHandler((request, reply) =>
    sendError(new Refusal(404, ["nothing is served at this path"]), request, reply),
  );

  const ajv = openAjv();
  app.setValidatorCompiler(({ schema, httpPart }) =>
    httpPart === "params" || httpPart === "querystring"
      ? parametersReader(ajv, schema as Parameters<typeof parametersReader>[1], httpPart)
      : bodyReader(ajv, schema as object),
  );
  app.setSerializerCompiler(() => toJson);

  const byId = new Map(operations.map((operation) => [operation.operationId, operation]));
  app.addHook("onRoute", (route) => {
    const operation = byId.get((route.schema as { operationId?: string } | undefined)?.operationId ?? "");
    if (operation) harden(route, operation, (schema) => follow(contract, schema));
  });
  await app.register(fastifyOpenapiGlue, {
    specification: withoutReplies(contract, operations),
    operationResolver: (operationId: string) => bind(handlers[operationId] as AnyHandler),
    securityHandlers: security,
  });
  for (const method of METHODS) {
    if (method !== "CONNECT" && !app.supportedMethods.includes(method)) app.addHttpMethod(method);
  }
  for (const path of new Set(operations.map((operation) => operation.path))) {
    refuseOtherMethods(app, path, operations);
  }
  return app;
}

type AnyHandler = (request: object) => Promise<{ status: number; type?: string; body?: unknown }>;

const names = (operations: Operation[]) => operations.map(({ operationId }) => operationId);

function match(complaint: string, wanted: string[], given: string[]): void {
  const missing = wanted.filter((name) => !given.includes(name));
  if (missing.length > 0) throw new Error(`${complaint}: ${missing.join(", ")}`);
}

/**
 * What is left to bind. Replies are written from what handlers answer, with nothing dropped or mended on the way, so
 * the binder need not look at their schemas.
 */
function withoutReplies(contract: Contract, operations: Operation[]): Contract {
  const paths: Contract["paths"] = {};
  for (const { path, method } of operations) {
    const operation = contract.paths[path]?.[method.toLowerCase()] as object;
    const responses = { default: { description: "as the contract says" } };
    paths[path] = { ...paths[path], [method.toLowerCase()]: { ...operation, responses } };
  }
  return { ...contract, paths };
}

/** The only place where a handler meets the framework. */
const bind = (handler: AnyHandler) =>
  async function answer(request: FastifyRequest, reply: FastifyReply) {
    const { status, type, body } = await handler({
      path: request.params,
      query: request.query,
      body: request.body,
      log: request.log,
      get origin() {
        const { localAddress, localPort } = request.socket;
        return `${request.protocol}://${request.host || `${localAddress}:${localPort}`}`;
      },
    });
    reply.code(status);
    if (type === undefined) {
      return body === undefined
        ? reply.send()
        : reply.type("application/json; charset=utf-8").send(toJson(body));
    }
    return sendReply(reply, { type, body });
  };

function sendReply(reply: FastifyReply, { type, body }: ErrorReply): FastifyReply {
  const isJson = type.endsWith("json");
  return reply.type(`${type}; charset=utf-8`).send(isJson ? toJson(body) : body);
}

/** Bodies are taken as they are, or the request is refused with every fault named. */
function bodyReader(ajv: Ajv2020, schema: object) {
  const validate = ajv.compile(schema);
  return (body: unknown) =>
    validate(body)
      ? { value: body }
      : {
          error: new Refusal(
            400,
            describeFaults(validate.errors ?? [], (path) => `body${path}`),
          ),
        };
}

/** What the binder and the framework leave open for a route is closed here. */
function harden(route: RouteOptions, operation: Operation, resolve: (schema: unknown) => unknown): void {
  const { parameters } = operation;
  route.schema = {
    ...route.schema,
    params: parametersSchema(
      parameters.filter((parameter) => parameter.in === "path"),
      resolve,
    ),
    querystring: parametersSchema(
      parameters.filter((parameter) => parameter.in === "query"),
      resolve,
    ),
  };
  // The binder looks at credentials after validation, which would tell a stranger about the contract.
  const { preHandler, ...rest } = route;
  route.onRequest = [...asList(rest.onRequest), ...asList(preHandler)] as NonNullable<
    RouteOptions["onRequest"]
  >;
  delete route.preHandler;
  if (!operation.hasBody) (route.onRequest as unknown[]).push(ignoreBody);
  route.preValidation = (request, _reply, done) => {
    if (operation.bodyRequired && request.body === undefined) done(new Refusal(400, ["a body is required"]));
    else if (!isWellFormedQuery(request.url))
      done(new Refusal(400, ["malformed percent-encoding in the query"]));
    else done();
  };
}

const asList = (hooks: unknown): unknown[] =>
  hooks === undefined ? [] : Array.isArray(hooks) ? hooks : [hooks];

/** An operation without a body takes any that comes along: unread, untyped, unparsed. */
function ignoreBody(request: FastifyRequest, _reply: FastifyReply, done: () => void): void {
  delete request.headers["content-type"];
  delete request.headers["content-length"];
  delete request.headers["transfer-encoding"];
  done();
}

function isWellFormedQuery(url: string): boolean {
  const query = url.indexOf("?");
  if (query === -1 || !url.includes("%", query)) return true;
  try {
    decodeURIComponent(url.slice(query));
    return true;
  } catch {
    return false;
  }
}

function refuseOtherMethods(app: FastifyInstance, path: string, operations: Operation[]): void {
  const declared = operations.filter((operation) => operation.path === path).map(({ method }) => method);
  const allowed = declared.includes("GET")
    ? ["GET", "HEAD", ...declared.filter((m) => m !== "GET")]
    : declared;
  const allow = allowed.join(", ");
  app.route({
    method: app.supportedMethods.filter((method) => !allowed.includes(method)),
    url: path.replaceAll(/\{(\w+)\}/g, ":$1"),
    exposeHeadRoute: false,
    onRequest: (request, _reply, done) =>
      done(new Refusal(405, [`${request.method} is not allowed here; allowed: ${allow}`], { allow })),
    handler: () => undefined,
  });
}
