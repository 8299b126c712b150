import type { FastifyReply, FastifyRequest } from "fastify";
import fresh from "fresh";
import { onDemand } from "../../waiting/on-demand.ts";
import { acceptMax, preferredType } from "../accept.ts";
import { compress, type Encoding } from "../compression.ts";
import { entityTag } from "../entity-tag.ts";
import { readTarget } from "../limits/connections.ts";
import { originOf } from "../request.ts";
import { sendCompressed } from "../response.ts";
import { varyBy } from "../vary.ts";

/** A document that a service publishes at a path. */
export interface Document {
  type: string;
  /** The same as Markdown, for those who prefer it. */
  markdown?: Document;
  read: (base: string) => Content | Promise<Content>;
  headers?: (base: string) => Record<string, string>;
  /** True if the content has the URL of the request, whose host its sender chooses. No shared cache may keep it. */
  isOfRequest?: boolean;
}

type Content = ReturnType<typeof contentOf>;

export const html = "text/html; charset=utf-8";
const markdown = "text/markdown; charset=utf-8";

/** Seconds for which a copy is fresh. */
const maxAgeSeconds = 300;

/**
 * The policy of a page: it loads from this service only, even if a text of a contract contains HTML. Its script may also
 * fetch from these origins.
 */
export const pagePolicy = (origins: string[] = []): string =>
  [
    ...["default-src 'none'", "script-src 'self'", "style-src 'self'", "img-src data:"],
    `connect-src ${["'self'", ...origins].join(" ")}`,
    ...["base-uri 'none'", "frame-ancestors 'none'", "form-action 'none'"],
  ].join("; ");

/** A document that is the same for every request. A failed read is tried again. */
export function readOnce(type: string, read: () => Promise<string | Buffer>): Document {
  const content = onDemand(async () => contentOf(await read()));
  return { type, read: content.open };
}

/** A page in HTML that is also Markdown. */
export const page = (readHtml: () => Promise<string>, readMarkdown: () => Promise<string>): Document => ({
  ...readOnce(html, readHtml),
  markdown: readOnce(markdown, readMarkdown),
});

/** True for a request that prefers Markdown to HTML. Without a preference it is HTML. */
const prefersMarkdown = ({ headers: { accept = "*/*" } }: FastifyRequest): boolean =>
  accept.length <= acceptMax && preferredType(accept, ["text/html", "text/markdown"]) === "text/markdown";

export function contentOf(body: string | Buffer) {
  const made = new Map<Encoding, Promise<Buffer>>();
  return {
    body,
    etag: entityTag(body),
    /** The body in an encoding, compressed once. */
    compressed(encoding: Encoding): Promise<Buffer> {
      const known = made.get(encoding) ?? compress("purpose documents", encoding, body);
      made.set(encoding, known);
      return known;
    },
  };
}

export function documentHandler(path: string, document: Document) {
  return async (request: FastifyRequest, reply: FastifyReply) => {
    const elsewhere = document.type === html && wayTo(path, request);
    if (elsewhere) return reply.redirect(elsewhere);
    if (document.markdown) varyBy(reply, "accept");
    const chosen = document.markdown && prefersMarkdown(request) ? document.markdown : document;
    const { type, read, headers, isOfRequest = false } = chosen;
    const base = originOf(request);
    const { body, etag, compressed } = await read(base);
    reply.headers({
      etag,
      "cache-control": `${isOfRequest ? "private" : "public"}, max-age=${maxAgeSeconds}`,
      ...(type === html && { "content-security-policy": pagePolicy() }),
      ...headers?.(base),
    });
    if (fresh(request.headers, { etag })) {
      varyBy(reply, "accept-encoding");
      return reply.code(304).send();
    }
    return sendCompressed(reply.type(type), body, compressed);
  };
}

/**
 * The way from the URL of a request to a path of the service, or undefined if the request has this path. A page with a
 * further slash in its URL would load its files, whose URLs are relative, from other paths.
 */
function wayTo(path: string, { originalUrl: url, method }: FastifyRequest): string | undefined {
  const [given = ""] = readTarget({ url, method, headers: {} }).split("?", 1);
  if (given === path) return undefined;
  const folders = given.split("/").length - 2;
  return "../".repeat(folders) + path.slice(1);
}
