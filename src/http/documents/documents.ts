import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { Worker } from "node:worker_threads";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import fresh from "fresh";
import type { Place } from "../../contract/left-out.ts";
import type { Contract } from "../../contract/operations.ts";
import { toJson } from "../../values/json.ts";
import { compress, type Encoding } from "../compression.ts";
import { entityTag } from "../entity-tag.ts";
import { readTarget } from "../limits/connections.ts";
import { originOf, sendCompressed } from "../response.ts";
import { rejectOtherMethods } from "../route.ts";
import { varyBy } from "../vary.ts";
import { consolePage, type TokenClaims } from "./console-page.ts";
import { completePage, escapeHtml, htmlPage, type PageValues } from "./page.ts";
import { tablesOf } from "./tables.ts";

/** The files that a service publishes: its contracts and its console. */
export interface Publication {
  /** The contract in YAML. */
  contract: URL;
  /** Optional parameters that the forms prefill with their example, since a request with none of them is invalid. */
  prefilled?: string[];
  /** The script of its console, and the claims of tokens that it reads, if the service requires tokens. Default: none. */
  console?: { script: URL; claims?: TokenClaims | undefined };
  /** The contract of its queue: AsyncAPI in YAML, the page that renders it, and what completes the page. */
  queue?: { contract: URL; page: URL; values: PageValues };
}

interface Document {
  type: string;
  read: (base: string) => Content | Promise<Content>;
  headers?: (base: string) => Record<string, string>;
  /** True if the content has the URL of the request, whose host its sender chooses. No shared cache may keep it. */
  isOfRequest?: boolean;
}

interface Content {
  body: string | Buffer;
  etag: string;
  /** The body in an encoding, compressed once. */
  compressed: (encoding: Encoding) => Promise<Buffer>;
}

const yaml = "application/yaml; charset=utf-8";
const json = "application/json; charset=utf-8";
const html = "text/html; charset=utf-8";
const linkset = 'application/linkset+json; profile="https://www.rfc-editor.org/info/rfc9727"';
const catalogPath = "/.well-known/api-catalog";

/** Seconds for which a copy is fresh. */
const maxAgeSeconds = 300;

/** Pages load from this service only, even if a text of a contract contains HTML. */
const pagePolicy = [
  ...["default-src 'none'", "script-src 'self'", "style-src 'self'", "img-src data:", "connect-src 'self'"],
  ...["base-uri 'none'", "frame-ancestors 'none'", "form-action 'none'"],
].join("; ");

/**
 * Serves the contract, pages that render it and let a reader try it, a catalog of both (RFC 9727), and the console. A file
 * is read at its first request. The YAML is the file without the nodes that the served contract leaves out. The only server
 * of the contract is `/`, or the public URL of the service.
 */
export function publish(
  app: FastifyInstance,
  contract: Contract,
  { contract: source, prefilled = [], console, queue }: Publication,
  leftOut: Place[],
): void {
  const serverUrl = app.publicUrl;
  const file = (url: URL, type: string) => readOnce(type, () => readFile(url));
  const swaggerUi = (name: string) => new URL(import.meta.resolve(`@fastify/swagger-ui/static/${name}`));
  const ours = (name: string) => new URL(name, import.meta.url);

  const documents: Record<string, Document> = {
    "/openapi.yaml": readOnce(yaml, async () =>
      servedYaml(await readFile(source, "utf8"), leftOut, serverUrl),
    ),
    ...(queue && { "/asyncapi.yaml": file(queue.contract, yaml) }),
    "/openapi.json": readOnce(json, async () => toJson(servedFrom(contract, serverUrl))),
    "/docs": readOnce(html, async () => docsPage(contract, prefilled, { console, queue })),
    ...(queue && {
      "/docs/queue": readOnce(html, async () =>
        completePage(await readFile(queue.page, "utf8"), queue.values),
      ),
    }),
    "/docs/docs.js": file(ours("docs.js"), "text/javascript; charset=utf-8"),
    "/docs/docs.css": file(ours("docs.css"), "text/css; charset=utf-8"),
    "/docs/swagger-ui.js": file(swaggerUi("swagger-ui-bundle.js"), "text/javascript; charset=utf-8"),
    "/docs/swagger-ui.css": file(swaggerUi("swagger-ui.css"), "text/css; charset=utf-8"),
    [catalogPath]: {
      type: linkset,
      read: (base) => contentOf(catalog(base, documents)),
      headers: (base) => ({ link: `<${base}${catalogPath}>; rel="api-catalog"` }),
      isOfRequest: serverUrl === undefined,
    },
  };
  const ofConsole = console && {
    "/console": readOnce(html, async () => consolePage(contract.info.title, console.claims)),
    "/console/console.js": file(console.script, "text/javascript; charset=utf-8"),
    "/console/console.css": file(ours("../../console/console.css"), "text/css; charset=utf-8"),
  };
  for (const [path, document] of Object.entries({ ...documents, ...ofConsole })) {
    app.get(path, documentHandler(path, document));
    rejectOtherMethods(app, path, ["GET"]);
  }
  app.get("/", (request, reply) => {
    const page = console && asksForHtml(request) ? "console" : "docs";
    varyBy(reply, "accept");
    return reply.redirect(serverUrl === undefined ? page : `${serverUrl}/${page}`);
  });
  rejectOtherMethods(app, "/", ["GET"]);
}

/** A document that is the same for every request. A failed read is tried again. */
function readOnce(type: string, read: () => Promise<string | Buffer>): Document {
  let content: Promise<Content> | undefined;
  const forget = (error: unknown) => {
    content = undefined;
    throw error;
  };
  return { type, read: () => (content ??= read().then(contentOf, forget)) };
}

/** The contract with the URL under which callers reach the service, if it is known. A written contract has `/`. */
const servedFrom = (contract: Contract, serverUrl: string | undefined): Contract =>
  serverUrl === undefined
    ? contract
    : { ...contract, servers: contract.servers?.map((server) => ({ ...server, url: serverUrl })) };

async function servedYaml(text: string, leftOut: Place[], serverUrl: string | undefined): Promise<string> {
  if (leftOut.length === 0 && serverUrl === undefined) return text;
  const options = { workerData: { text, leftOut, serverUrl }, execArgv: [] };
  const [yaml] = await once(new Worker(new URL("./yaml-worker.ts", import.meta.url), options), "message");
  return yaml;
}

function contentOf(body: string | Buffer): Content {
  const made = new Map<Encoding, Promise<Buffer>>();
  return {
    body,
    etag: entityTag(body),
    compressed(encoding) {
      const known = made.get(encoding) ?? compress("purpose documents", encoding, body);
      made.set(encoding, known);
      return known;
    },
  };
}

/** True for a browser. Other clients send no media type, or one of data. */
const asksForHtml = ({ headers: { accept = "" } }: FastifyRequest) => accept.includes("text/html");

function documentHandler(path: string, { type, read, headers, isOfRequest = false }: Document) {
  return async (request: FastifyRequest, reply: FastifyReply) => {
    const elsewhere = type === html && wayTo(path, request);
    if (elsewhere) return reply.redirect(elsewhere);
    const base = originOf(request);
    const { body, etag, compressed } = await read(base);
    reply.headers({
      etag,
      "cache-control": `${isOfRequest ? "private" : "public"}, max-age=${maxAgeSeconds}`,
      ...(type === html && { "content-security-policy": pagePolicy }),
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

/** Links from the service to its descriptions, as a link set (RFC 9264). */
function catalog(base: string, documents: Record<string, Document>): string {
  const links = (...types: string[]) =>
    Object.entries(documents)
      .filter(([, { type }]) => types.includes(type))
      .map(([path, { type }]) => ({ href: base + path, type: type.split(";")[0] }));
  const linkset = [
    {
      anchor: `${base}/`,
      "service-desc": links(yaml, json),
      "service-doc": links(html),
    },
  ];
  return toJson({ linkset });
}

const docsPage = (
  contract: Contract,
  prefilled: string[],
  { console, queue }: Pick<Publication, "console" | "queue">,
): string =>
  htmlPage({
    title: `${contract.info.title} ${contract.info.version}`,
    links: [
      ...(console ? [["console", "Console"] as [string, string]] : []),
      ["openapi.yaml", "OpenAPI as YAML"],
      ["openapi.json", "OpenAPI as JSON"],
      ...(queue ? [["docs/queue", "Contract of the queue"] as [string, string]] : []),
    ],
    head: `
    <link rel="stylesheet" href="docs/swagger-ui.css">
    <script src="docs/swagger-ui.js" defer></script>
    <script type="module" src="docs/docs.js"></script>`,
    content: `<div id="contract" data-prefilled="${escapeHtml(prefilled.join(" "))}"></div>
${tablesOf(contract)}`,
  });
