import type { FastifyInstance, FastifyRequest } from "fastify";
import { parseJson } from "../values/json.ts";
import { Refusal } from "./http-error.ts";

/** What errors.ts says, too. */
export const bodyMaxBytes = 2 ** 20;

/**
 * Bodies are JSON in UTF-8 and nothing else. The framework's own parser ignores a charset and a content encoding, and
 * puts U+FFFD where bytes are no text.
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
  if (charset.toLowerCase() !== "utf-8") throw new Refusal(415, ["the charset of the body must be utf-8"]);
  if (encoding.toLowerCase() !== "identity") {
    throw new Refusal(415, ["the body must not have a content encoding"], { "accept-encoding": "identity" });
  }
  if (body.length === 0) throw new Refusal(400, ["the body is empty, JSON is expected"]);
  const value = parseJson(textOf(body));
  if (value === undefined) throw new Refusal(400, ["the body is not valid JSON"]);
  return value;
}

function textOf(body: Buffer): string {
  try {
    return utf8.decode(body);
  } catch {
    throw new Refusal(400, ["the body is not text in UTF-8"]);
  }
}
