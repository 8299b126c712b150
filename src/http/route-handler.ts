import type { FastifyReply, FastifyRequest } from "fastify";
import fresh from "fresh";
import type { Operation } from "../contract/operations.ts";
import type { Logger } from "../process/log.ts";
import { isJson } from "../values/json.ts";
import type { Owner } from "../waiting/owner.ts";
import { inTurnsOf } from "../waiting/turns.ts";
import { ownerOf } from "./access/owner.ts";
import type { RecordingOf } from "./access/recording.ts";
import { compressedMin } from "./compression.ts";
import { entityTag, type TaggedParts } from "./entity-tag.ts";
import type { SendFailure } from "./errors.ts";
import type { ErrorDetail, Failure } from "./failure.ts";
import { overloaded } from "./http-error.ts";
import type { InFlight } from "./limits/overload.ts";
import { respondsTo } from "./limits/unsent.ts";
import type { Outages } from "./outages.ts";
import { type Endpoint, endpointOf, HandlerRequest } from "./request.ts";
import { isLongArray, json, jsonOf, longArrayAsJson, sendBody, sendText } from "./response.ts";
import { sendTogether } from "./send-together.ts";
import { varyBy } from "./vary.ts";

/** A handler without the types of its operation. */
export type AnyHandler = (request: object) => Promise<AnyResponse | (Failure & Pick<AnyResponse, "headers">)>;

interface AnyResponse {
  status: number;
  type?: string;
  headers?: Record<string, string>;
  body?: unknown;
  tagged?: TaggedParts;
}

export interface RouteContext {
  log: Logger;
  closing: AbortSignal;
  inFlight: InFlight;
  outages: Outages;
  sendFailure: SendFailure;
  /** Undefined if no access is recorded. */
  recording: RecordingOf | undefined;
}

/** Makes a handler a route handler. This is the only place where a handler meets the framework. */
export function routeHandler(
  handler: AnyHandler,
  operation: Operation,
  { log, closing, inFlight, outages, sendFailure, recording }: RouteContext,
) {
  const endpoint = endpointOf(operation, log, closing);
  // Health and metrics are needed most when the service is overloaded, and succeed in an outage too.
  const isOfHealth = operation.tags.includes("health");
  const send = responseSender(operation, endpoint);
  const placed =
    operation.method === "QUERY" ? placedIn(operation.body?.schema) : (failed: Failure) => failed;

  async function respond(reply: FastifyReply, owner: Owner): Promise<void> {
    respondsTo(reply.request.raw.socket, owner);
    if (!isOfHealth && !inFlight.enter(owner)) return void reply.send(tooMany());
    try {
      const response = await handler(new HandlerRequest(reply, endpoint, owner));
      if (!isOfHealth) outages.succeeded();
      if (recording) reply.request.answer = response as AnyResponse;
      sendTogether(reply, () =>
        "details" in response ? sendFailure(reply, placed(response)) : send(reply, response),
      );
    } catch (error) {
      sendTogether(reply, () => reply.send(error));
    } finally {
      if (!isOfHealth) inFlight.leave(owner);
    }
  }

  // The framework would wait for a promise, and send what it resolves with.
  return (_request: FastifyRequest, reply: FastifyReply): void => {
    const owner = ownerOf(reply.request);
    void inTurnsOf(owner, () => respond(reply, owner));
  };
}

/** A failure of a handler that takes the members of a body for parameters. */
function placedIn({ properties = {} }: { properties?: object } = {}) {
  const inBody = (detail: ErrorDetail): ErrorDetail => {
    if (typeof detail === "string" || !Object.hasOwn(properties, detail.parameter ?? "")) return detail;
    const { parameter, detail: sentence, ...fault } = detail;
    return { pointer: `/${parameter}`, ...fault, detail: sentence.replace(/^query parameter /, "body/") };
  };
  return (failed: Failure): Failure => ({ ...failed, details: failed.details.map(inBody) });
}

const tooMany = () =>
  overloaded("too many requests are in flight, of this caller or of all; try again later");

/** A link cannot have the body of a QUERY. */
const withoutLink = ({ Link: _, ...others }: Record<string, string>) => others;

/** By this header a path says that it takes the method QUERY, with a body of this media type. */
const acceptQuery = "Accept-Query";

/** Sends what a handler returns, with `Vary`, `ETag` and the status 304 where the operation declares them. */
function responseSender({ method, responses }: Operation, { mediaTypes, log }: Endpoint) {
  const hasMediaTypes = mediaTypes.length > 1;
  const hasEntityTag = responses[200]?.headers?.ETag !== undefined;
  const isConditional = responses[304] !== undefined;
  const acceptsQuery = responses[200]?.headers?.[acceptQuery] !== undefined;

  function addHeaders(reply: FastifyReply, headers: AnyResponse["headers"]): void {
    if (acceptsQuery) reply.header(acceptQuery, json);
    if (headers) reply.headers(method === "QUERY" ? withoutLink(headers) : headers);
  }

  function sendTagged(
    reply: FastifyReply,
    text: string | Buffer,
    { type = json, headers, tagged }: AnyResponse,
  ) {
    const etag = entityTag(...(tagged ?? [text]));
    reply.header("etag", etag);
    if (!isConditional || !fresh(reply.request.headers, { etag })) {
      addHeaders(reply, headers);
      return void sendText(reply, type, text);
    }
    // A cache keeps the Vary of the response that the 304 stands for (RFC 9110, section 15.4.5).
    if (text.length >= compressedMin) varyBy(reply, "accept-encoding");
    reply.code(304).send();
  }

  return (reply: FastifyReply, response: AnyResponse): void => {
    const { status, type = json, headers, body } = response;
    if (hasMediaTypes) varyBy(reply, "accept");
    reply.code(status);
    if (!hasEntityTag || status !== 200 || !isJson(type)) {
      addHeaders(reply, headers);
      return void sendBody(reply, type, body, log);
    }
    const send = (text: string | Buffer) => sendTagged(reply, text, response);
    if (!isLongArray(body)) send(jsonOf(body));
    else longArrayAsJson(ownerOf(reply.request), body).then(send, (error) => reply.send(error));
  };
}
