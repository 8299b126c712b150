import {
  createMcpHandler,
  type Tool as ListedTool,
  ProtocolError,
  ProtocolErrorCode,
  Server,
  type ServerContext,
} from "@modelcontextprotocol/server";
import type { FastifyInstance, FastifyRequest, onRequestAsyncHookHandler } from "fastify";
import type { ServedContract } from "../../contract/served-contract.ts";
import type { Logger } from "../../process/log.ts";
import { ownerOf } from "../access/owner.ts";
import type { SecurityHandler } from "../access/security.ts";
import { limitArriving, requireBody } from "../body.ts";
import { bodyFault } from "../failure.ts";
import { HttpError } from "../http-error.ts";
import { respondsTo } from "../limits/unsent.ts";
import { sendText } from "../response.ts";
import { rejectOtherMethods } from "../routes.ts";
import { callTool } from "./call.ts";
import { toolsOf } from "./tools.ts";

export const mcpPath = "/mcp";

const disconnection = new Error("the client has disconnected");

/**
 * Serves the tools of a contract to models, by the Model Context Protocol of 2026-07-28 and by those that begin with the
 * handshake of 2025. There are no sessions: each request stands alone.
 */
export function serveMcp(
  app: FastifyInstance,
  { contract, operations }: ServedContract,
  securityHandlers: Record<string, SecurityHandler>,
  log: Logger,
): void {
  const { title, version, summary } = contract.info;
  const tools = new Map(toolsOf(contract, operations).map((tool) => [tool.definition.name, tool]));
  const definitions = [...tools.values()].map(({ definition }) => definition as ListedTool);

  async function call(
    sender: FastifyRequest,
    name: string,
    given: Record<string, unknown>,
    signal: AbortSignal,
  ) {
    const tool = tools.get(name);
    if (!tool)
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, "there is no such tool; see tools/list");
    try {
      return await callTool(sender, tool, given, signal);
    } catch (err) {
      if (!signal.aborted) log.error({ err, requestId: sender.id, tool: name }, "a tool failed");
      throw new ProtocolError(
        ProtocolErrorCode.InternalError,
        "an unexpected error occurred; it is in the log",
      );
    }
  }
  function serverFor(sender: FastifyRequest) {
    const server = new Server(
      { name: title, version },
      { capabilities: { tools: {} }, ...(summary !== undefined && { instructions: summary }) },
    );
    server.setRequestHandler("tools/list", () => ({ tools: definitions }));
    server.setRequestHandler(
      "tools/call",
      ({ params: { name, arguments: given = {} } }, { mcpReq: { signal } }: ServerContext) =>
        call(sender, name, given, signal),
    );
    return server;
  }

  app.route({
    method: "POST",
    url: mcpPath,
    onRequest: authentication(contract, securityHandlers),
    preParsing: limitArriving(),
    preValidation: requireBody,
    async handler(request, reply) {
      respondsTo(request.raw.socket, ownerOf(request));
      if (Array.isArray(request.body)) throw new HttpError(400, [batch]);
      const disconnected = new AbortController();
      reply.raw.once("close", () => disconnected.abort(disconnection));
      let failure: Error | undefined;
      const { fetch } = createMcpHandler(() => serverFor(request), {
        maxSubscriptions: 0,
        keepAliveMs: 0,
        // Most of them are mistakes of clients, and quote what they sent.
        onerror: (error) => {
          failure = error;
        },
      });
      const headers = Object.entries(request.headers).flatMap(([name, value = ""]): [string, string][] =>
        typeof value === "string" ? [[name, value]] : [],
      );
      const { signal } = disconnected;
      const sent = new Request(`http://localhost${mcpPath}`, { method: "POST", headers, signal });
      const response = await fetch(sent, { parsedBody: request.body });
      const text = await response.text();
      if (response.status >= 500)
        log.error({ err: failure, requestId: request.id }, "unexpected error of MCP");
      reply.code(response.status);
      const [type = ""] = response.headers.get("content-type")?.split(";") ?? [];
      return text === "" ? reply.send() : sendText(reply, type, text);
    },
  });
  rejectOtherMethods(app, mcpPath, ["POST"]);
}

const batch = bodyFault({ type: "object" }, "the body must be one message; there are no batches");

/** Requires a valid token, with any scope. The operation of a tool requires its own. */
const authentication = (
  { components }: ServedContract["contract"],
  handlers: Record<string, SecurityHandler>,
): onRequestAsyncHookHandler[] =>
  Object.entries(components?.securitySchemes ?? {}).flatMap(([name, { type }]) => {
    const authenticate = type === "http" && handlers[name];
    return authenticate ? (request, reply) => authenticate(request, reply, []) : [];
  });
