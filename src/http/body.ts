import type { FastifyInstance, FastifyRequest } from "fastify";
import { parseJson } from "../values/json.ts";
import { HttpError } from "./http-error.ts";

/** Maximum bytes of a request body; `errors.ts` has the message. */
export const bodyMaxBytes = 2 ** 20;

/**
 * Accepts bodies of JSON in UTF-8 only. The framework's own parser ignores the charset and the content encoding, and
 * replaces invalid bytes by U+FFFD.
 */
export function acceptJsonOnly(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  const parse = async (request: FastifyRequest, body: Buffer) => readBody(request, body);
  app.addContentTypeParser("application/json", { parseAs: "buffer" }, parse);
}

const utf8 = new TextDecoder("utf-8", { fatal: true });

function readBody({ headers }: FastifyRequest, body: Buffer): unknown {
  const { "content-type": type = "", "content-encoding": encoding = "identity" } = headers;
  const [, charset = "utf-8"] = /;\s*charset\s*=\s*"?([^\s;"]*)/i.exec(type) ?? [];
  if (charset.toLowerCase() !== "utf-8") throw new HttpError(415, ["the charset of the body must be utf-8"]);
  if (encoding.toLowerCase() !== "identity") {
    throw new HttpError(415, ["the body must not have a content encoding"], {
      "accept-encoding": "identity",
    });
  }
  if (body.length === 0) throw new HttpError(400, ["the body is empty; it must be JSON"]);
  const value = parseJson(decode(body));
  if (value === undefined) throw new HttpError(400, ["the body is not valid JSON"]);
  return value;
}

function decode(body: Buffer): string {
  try {
    return utf8.decode(body);
  } catch {
    throw new HttpError(400, ["the body is not valid UTF-8"]);
  }
}
