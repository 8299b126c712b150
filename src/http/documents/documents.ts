import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { Worker } from "node:worker_threads";
import type { FastifyInstance, FastifyRequest } from "fastify";
import type { Contract } from "../../contract/operations.ts";
import { type Place, type ServedContract, withValues } from "../../contract/served-contract.ts";
import type { Currency } from "../../values/currency.ts";
import { toJson } from "../../values/json.ts";
import type { SignIn } from "../access/sign-in.ts";
import { unknownPath } from "../http-error.ts";
import type { HttpOptions } from "../options.ts";
import { problemsPath } from "../problem.ts";
import { rejectOtherMethods } from "../routes.ts";
import { varyBy } from "../vary.ts";
import { contentOf, type Document, documentHandler, html, page, pagePolicy, readOnce } from "./document.ts";
import { contractMarkdown, llmsText, problemListMarkdown, problemMarkdown } from "./markdown.ts";
import { completePage, escapeHtml, htmlDocument, htmlPage, type PageValues } from "./page.ts";
import { problemList, problemNames, problemPage } from "./problem-pages.ts";
import { tablesOf } from "./tables.ts";
import type { YamlEdits } from "./yaml-worker.ts";

/** What a service publishes besides its responses: its contracts, their pages and its console. */
export interface Documents {
  /** The contract in YAML. */
  contract: URL;
  /** Values of the contract that the settings of the service decide, besides its public URL. */
  values?: [Place, unknown][];
  /** Optional parameters that the forms prefill with their example, since a request with none of them is invalid. */
  prefilled?: string[];
  /** Its console. Default: none. */
  console?: {
    script: URL;
    /** What its style sheet has after that of both consoles. */
    style: URL;
    /** Default: the service requires no tokens. */
    authentication?: ConsoleAuthentication | undefined;
    /** The currency of amounts. */
    currency?: Currency;
  };
  /** The contract of its queue: AsyncAPI in YAML, the page that renders it, as HTML and Markdown, and what completes the page. */
  queue?: { contract: URL; page: URL; markdown: URL; values: PageValues };
}

/**
 * What a console needs if the service requires tokens: the claims that it reads to know what it can offer, and how its
 * readers sign in.
 */
interface ConsoleAuthentication {
  scopeClaim: string;
  /** The claim with the accounts of the caller, if the service has accounts. */
  accountsClaim?: string;
  signIn?: SignIn | undefined;
}

/** The authentication of a console that uses these scopes. Undefined if the service requires no tokens. */
export const consoleAuthentication = (
  { security, scopeClaim = "scope", signIn }: HttpOptions,
  scopes: string[],
  accountsClaim?: string,
): ConsoleAuthentication | undefined =>
  security && {
    scopeClaim,
    ...(accountsClaim && { accountsClaim }),
    // With the scope `openid` the issuer says for whom the token is, in a second one that it signs for the page.
    signIn: signIn && { ...signIn, scope: signIn.scope ?? ["openid", ...scopes].join(" ") },
  };

const yaml = "application/yaml; charset=utf-8";
const json = "application/json; charset=utf-8";
const javaScript = "text/javascript; charset=utf-8";
const css = "text/css; charset=utf-8";
const linkset = 'application/linkset+json; profile="https://www.rfc-editor.org/info/rfc9727"';
const plain = "text/plain; charset=utf-8";
const llmsPath = "/llms.txt";
const catalogPath = "/.well-known/api-catalog";

/**
 * Serves the contract, pages that render it and let a reader try it, a catalog of both (RFC 9727), and the console. A file
 * is read at its first request. The YAML is the file without the nodes that the served contract leaves out. The only server
 * of the contract is `/`, or the public URL of the service.
 */
export function serveDocuments(
  app: FastifyInstance,
  { contract: written, operations, leftOut }: ServedContract,
  given: Documents,
  hasMcp: boolean,
) {
  const { publicUrl } = app;
  const url: [Place, unknown][] = publicUrl === undefined ? [] : [[["servers", "0", "url"], publicUrl]];
  const { contract } = withValues(written, url);
  const values = [...url, ...(given.values ?? [])];
  const { console, queue } = given;
  const edition = (isOpenApi32: boolean) =>
    readOnce(yaml, () => servedYaml(given.contract, { leftOut, values, isOpenApi32 }));
  const described: Record<string, Document> = {
    "/openapi.yaml": edition(false),
    "/openapi-3.2.yaml": edition(true),
    ...(queue && { "/asyncapi.yaml": file(queue.contract, yaml) }),
    "/openapi.json": readOnce(json, async () => toJson(contract)),
    "/docs": page(
      async () => docsPage(contract, given),
      async () => contractMarkdown(contract, operations),
    ),
    ...(queue && {
      "/docs/queue": page(
        () => queuePage(queue),
        () => queueMarkdown(queue),
      ),
    }),
    "/problems": page(
      async () => problemList(contract),
      async () => problemListMarkdown(contract),
    ),
    [llmsPath]: readOnce(plain, async () => llmsText(contract, { hasQueue: queue !== undefined, hasMcp })),
    "/docs/docs.js": file(ours("docs.js"), javaScript),
    "/docs/docs.css": styleSheet("docs.css"),
    "/docs/swagger-ui.js": file(swaggerUi("swagger-ui-bundle.js"), javaScript),
    "/docs/swagger-ui.css": file(swaggerUi("swagger-ui.css"), css),
  };
  const documents = {
    ...described,
    [catalogPath]: {
      type: linkset,
      read: (base: string) => contentOf(catalog(base, described)),
      headers: (base: string) => ({ link: `<${base}${catalogPath}>; rel="api-catalog"` }),
      isOfRequest: publicUrl === undefined,
    },
    ...(console && {
      "/console": consoleDocument(contract, console),
      "/console/console.js": file(console.script, javaScript),
      "/console/sign-in.js": file(signInScript, javaScript),
      "/console/console.css": styleSheet("../../console/console.css", console.style),
    }),
  };
  for (const [path, document] of Object.entries(documents)) {
    app.get(path, documentHandler(path, document));
    rejectOtherMethods(app, path, ["GET"]);
  }
  serveProblems(app, contract);
  app.get("/", (request, reply) => {
    const page = console && asksForHtml(request) ? "console" : "docs";
    varyBy(reply, "accept");
    return reply.redirect(publicUrl === undefined ? page : `${publicUrl}/${page}`);
  });
  rejectOtherMethods(app, "/", ["GET"]);
}

/** One route, since a route of its own for each page would slow down the start. */
function serveProblems(app: FastifyInstance, contract: Contract): void {
  const handlers = new Map(
    problemNames(contract).map((name) => {
      const document = page(
        async () => problemPage(contract, name),
        async () => problemMarkdown(contract, name),
      );
      return [name, documentHandler(problemsPath + name, document)];
    }),
  );
  const path = `${problemsPath}:name`;
  app.get<{ Params: { name: string } }>(path, (request, reply) => {
    const handle = handlers.get(request.params.name);
    if (!handle) throw unknownPath();
    return handle(request, reply);
  });
  rejectOtherMethods(app, path, ["GET"]);
}

const file = (url: URL, type: string) => readOnce(type, () => readFile(url));
const swaggerUi = (name: string) => new URL(import.meta.resolve(`@fastify/swagger-ui/static/${name}`));
const signInScript = new URL("../../../generated/sign-in.js", import.meta.url);
const ours = (name: string) => new URL(name, import.meta.url);

/** A style sheet of several files, which begins with the one that all pages have. */
const styleSheet = (name: string, ...others: URL[]) =>
  readOnce(css, async () => {
    const files = [ours("page.css"), ours(name), ...others].map((url) => readFile(url));
    return Buffer.concat(await Promise.all(files));
  });

const queuePage = async ({ page, values }: NonNullable<Documents["queue"]>) =>
  completePage(await readFile(page, "utf8"), values);

const queueMarkdown = async ({ markdown, values }: NonNullable<Documents["queue"]>) =>
  completePage(await readFile(markdown, "utf8"), values, String);

/** True for a browser. Other clients send no media type, or one of data. */
const asksForHtml = ({ headers: { accept = "" } }: FastifyRequest) => accept.includes("text/html");

/** The text of a contract with these edits. */
async function servedYaml(contract: URL, edits: YamlEdits): Promise<string> {
  const text = await readFile(contract, "utf8");
  if (!edits.isOpenApi32 && edits.leftOut.length === 0 && edits.values.length === 0) return text;
  const options = { workerData: { text, ...edits }, execArgv: [] };
  const [yaml] = await once(new Worker(new URL("./yaml-worker.ts", import.meta.url), options), "message");
  return yaml;
}

/** Links from the service to its descriptions, as a link set (RFC 9264). */
function catalog(base: string, documents: Record<string, Document>): string {
  const links = (...types: string[]) =>
    Object.entries(documents)
      .filter(([, { type }]) => types.includes(type))
      .map(([path, { type }]) => ({ href: base + path, type: type.split(";")[0] }));
  const descriptions = {
    "service-desc": links(yaml, json),
    "service-doc": links(html),
    "service-meta": links(plain),
  };
  return toJson({ linkset: [{ anchor: `${base}/`, ...descriptions }] });
}

const docsPage = (contract: Contract, { prefilled = [], console, queue }: Documents): string =>
  htmlPage({
    title: `${contract.info.title} ${contract.info.version}`,
    links: [
      console && ["console", "Console"],
      ["openapi.yaml", "OpenAPI as YAML"],
      ["openapi.json", "OpenAPI as JSON"],
      ["openapi-3.2.yaml", "OpenAPI 3.2"],
      queue && ["docs/queue", "Contract of the queue"],
      ["problems", "Problems"],
    ],
    head: `
    <link rel="stylesheet" href="docs/swagger-ui.css">
    <script src="docs/swagger-ui.js" defer></script>
    <script type="module" src="docs/docs.js"></script>`,
    content: `<div id="contract" data-prefilled="${escapeHtml(prefilled.join(" "))}"></div>
${tablesOf(contract)}`,
  });

/** The page of the console, which may fetch from the issuer of its tokens, too. */
function consoleDocument(contract: Contract, console: NonNullable<Documents["console"]>): Document {
  const issuer = console.authentication?.signIn?.issuer;
  const policy = pagePolicy(issuer ? [new URL(issuer).origin] : []);
  return {
    ...readOnce(html, async () => consolePage(contract, console)),
    headers: () => ({ "content-security-policy": policy }),
  };
}

/**
 * The page into which the script of the console renders; until then it shows its frame. With `authentication` the console
 * requires a token from the reader.
 */
const consolePage = (
  { info: { title } }: Contract,
  { authentication, currency }: NonNullable<Documents["console"]>,
): string =>
  htmlDocument(
    title,
    `
    <link rel="stylesheet" href="console/console.css">
    <script type="module" src="console/console.js"></script>`,
    `    <div id="console"${dataOf("authentication", authentication)}${dataOf("currency", currency)}>
      <header><p>${escapeHtml(title)}</p></header>
    </div>
    <noscript>The console needs JavaScript. The API is described at <a href="docs">docs</a>.</noscript>`,
  );

const dataOf = (name: string, value: object | undefined): string =>
  value === undefined ? "" : ` data-${name}="${escapeHtml(JSON.stringify(value))}"`;
