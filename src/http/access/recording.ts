import type { FastifyReply, FastifyRequest, onSendHookHandler, preHandlerHookHandler } from "fastify";
import type { Operation } from "../../contract/operations.ts";
import { idCollector, recordedOperations } from "../../contract/recorded.ts";
import type { ServedContract } from "../../contract/served-contract.ts";
import { parseJson } from "../../values/json.ts";
import { failureText, type RenderError } from "../errors.ts";
import { HttpError } from "../http-error.ts";
import { json } from "../response.ts";
import type { Access, AccessLog } from "./access-log.ts";
import { identityOf, storable } from "./identity.ts";
import type { Caller } from "./security.ts";

interface Answer {
  /** Default: JSON. */
  type?: string;
  body?: unknown;
}

declare module "fastify" {
  interface FastifyRequest {
    /** The caller with a valid token, also one that lacks the scopes. */
    identified?: Caller | undefined;
    /** What the handler has returned. */
    answer?: Answer | undefined;
    isRecorded?: boolean;
  }
}

/** The header with the reason of an access, and its form in the contract. */
const reasonHeader = "access-reason";
const reasonForm = /^[!-~][ -~]{0,199}$/;

const ndjson = "application/x-ndjson";
const idsMax = 20;
/** What can be an id: no name with a space, and no address of email. */
const idForm = /^[\w.:/-]{1,600}$/;

/** The hooks of a route whose accesses are recorded. */
export interface Recording {
  onSend: onSendHookHandler;
  /** Undefined if a request needs no reason. */
  preHandler: preHandlerHookHandler | undefined;
}

interface Options {
  accessLog: AccessLog;
  name?: string;
  renderError: RenderError;
  isReasonRequired?: boolean | undefined;
}

/** The recording of an operation; undefined for one whose accesses are not recorded. */
export type RecordingOf = (operation: Operation) => Recording | undefined;

/**
 * Records the accesses of each operation that can return personal data or that changes something. Each response to a caller
 * with a valid token is sent when its record outlives the process, and withheld if there is none.
 */
export function openRecording({ contract, operations }: ServedContract, options: Options): RecordingOf {
  const recorded = new Set(recordedOperations(contract, operations));
  return (operation) => {
    if (!recorded.has(operation)) return undefined;
    const { accessLog, name = "", renderError, isReasonRequired } = options;
    const resourcesOf = resourcesIn(contract, operation);
    const accessOf = (request: FastifyRequest, caller: Caller, status: number): Access => ({
      service: name,
      operation: operation.operationId,
      ...identityOf(caller),
      gateway_account_ids: accountsOf(request),
      ...resourcesOf(request, status),
      status,
      request_id: request.id,
      reason: reasonOf(request),
    });
    return {
      onSend(request, reply, payload, done) {
        const { identified } = request;
        if (!identified || request.isRecorded) return done(null, payload);
        request.isRecorded = true;
        const { statusCode } = reply;
        accessLog.record(accessOf(request, identified, statusCode), (error) => {
          // A response that has failed anyway has no personal data.
          const isSent = error === undefined || statusCode >= 500;
          done(null, isSent ? payload : withhold(reply, payload, renderError));
        });
      },
      preHandler: isReasonRequired ? requireReason : undefined,
    };
  };
}

const requireReason: preHandlerHookHandler = ({ headers }, _reply, done) => {
  if (headers[reasonHeader]) return done();
  const detail = "the header Access-Reason is required: why the access is needed, without personal data";
  done(new HttpError(400, [{ header: "Access-Reason", rule: { required: true }, detail }]));
};

/** Headers that belong to a response that is withheld. */
const ownHeaders = [
  ...["content-encoding", "content-length", "etag", "link", "ledger-position", "accept-query"],
  ...["www-authenticate", "x-accel-buffering"],
];

/** Makes a response a 503. Returns the payload of that. */
function withhold(reply: FastifyReply, payload: unknown, renderError: RenderError): string {
  if (typeof payload === "object" && payload !== null && "destroy" in payload)
    (payload as { destroy(): void }).destroy();
  for (const name of ownHeaders) reply.removeHeader(name);
  const details = [
    "the access could not be recorded, so the response is withheld; a change can have been made; try again later",
  ];
  return failureText(reply, renderError, { status: 503, details, headers: { "retry-after": "1" } });
}

function reasonOf({ headers }: FastifyRequest): string | null {
  const given = headers[reasonHeader];
  return typeof given === "string" && reasonForm.test(given) ? given : null;
}

/** The accounts that a request names. They need not exist, so only those are recorded that can be ids. */
function accountsOf({ query }: FastifyRequest): string[] {
  const { account_id, gateway_account_id } = (query ?? {}) as Record<string, unknown>;
  const named: unknown[] = [account_id ?? [], gateway_account_id ?? []].flat();
  return named
    .filter((account): account is string => typeof account === "string" && idForm.test(account))
    .slice(0, idsMax);
}

/** Finds the resources of a request or, if it names none, of its response. Those of a request that has failed need not exist. */
function resourcesIn(contract: ServedContract["contract"], operation: Operation) {
  const inPath = operation.parameters.filter((one) => one.in === "path");
  const ofPath = idCollector(contract, {
    properties: Object.fromEntries(inPath.map(({ name, schema }) => [name, schema])),
  });
  const ofBody = idCollector(contract, operation.method === "QUERY" ? {} : (operation.body?.schema ?? {}));
  const { content = {} } = operation.responses[200] ?? {};
  const ofJson = idCollector(contract, content[json]?.schema ?? {});
  const lines = content[ndjson] as { "x-item-schema"?: object } | undefined;
  const ofLine = idCollector(contract, lines?.["x-item-schema"] ?? {});

  return ({ params, body, answer }: FastifyRequest, status: number) => {
    const ids = new Set<string>();
    ofPath(params, ids);
    ofBody(typeof body === "string" ? parseJson(body) : body, ids);
    const isSuccess = status < 400;
    // A resource in the path is what is read.
    const values = isSuccess && answer && ids.size === 0 ? valuesIn(answer) : [];
    const collect = answer?.type === ndjson ? ofLine : ofJson;
    for (const value of values ?? []) collect(value, ids);
    const all = isSuccess ? [...ids] : [...ids].filter((id) => idForm.test(id));
    return { resource_ids: all.slice(0, idsMax).map(storable), resource_count: values ? all.length : null };
  };
}

/** The JSON values of a response; undefined for a stream and a CSV. */
function valuesIn({ type = json, body }: Answer): unknown[] | undefined {
  if (type === json && Buffer.isBuffer(body)) return [parseJson(body.toString())];
  if (type === ndjson && Buffer.isBuffer(body))
    return body
      .toString()
      .split("\n")
      .map((line) => parseJson(line));
  const isStream = typeof body === "object" && body !== null && Symbol.asyncIterator in body;
  return type === json && !isStream ? [body] : undefined;
}
