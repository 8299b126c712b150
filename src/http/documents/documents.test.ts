import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { Registry } from "prom-client";
import { request } from "undici";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { parse } from "yaml";
import { redocly } from "../../../testing/project.ts";
import { type Contract, operationsOf } from "../../contract/operations.ts";
import { openNewDatabase } from "../../database/new-database.fixture.ts";
import { featuresApp } from "../../features/app.ts";
import { openFeatureStore } from "../../features/store/stores.ts";
import { ledgerApp } from "../../ledger/app.ts";
import { openIntake } from "../../ledger/intake/intake.ts";
import { openQueue } from "../../ledger/queue/queues.ts";
import { openLog } from "../../process/log.ts";
import { pounds } from "../../values/currency.ts";
import type { HttpOptions } from "../options.ts";
import { serve } from "../service.fixture.ts";
import { completePage, escapeHtml, htmlPage, prose } from "./page.ts";
import { tablesOf } from "./tables.ts";

const log = openLog("silent");
const readProjectFile = (path: string) => readFileSync(new URL(`../../../${path}`, import.meta.url), "utf8");

const bases: Record<string, string> = {};
const resources = new AsyncDisposableStack();
beforeAll(async () => {
  const database = resources.use(await openNewDatabase());
  const queue = resources.use(await openQueue("memory:"));
  const store = resources.use(await openFeatureStore("memory:"));
  const authenticate = async () => expect.unreachable();
  const statementTimeoutMs = 1000;
  const signIn = { issuer: "https://a.test/realm", clientId: "console", audience: "b", scope: undefined };
  const kinds: Record<string, Pick<HttpOptions, "security" | "publicUrl" | "signIn">> = {
    "": {},
    " with authentication": { security: () => authenticate },
    " with a public URL": { publicUrl: "https://api.test/pay/" },
    " with both": { security: () => authenticate, publicUrl: "https://api.test/pay/" },
    " with sign-in": { security: () => authenticate, signIn },
  };
  for (const [suffix, http] of Object.entries(kinds)) {
    const intake = http.security && openIntake(database, pounds, new Registry(), log);
    const ledger = await ledgerApp({
      cursorKey: new Uint8Array(32),
      ledgerId: "ledger",
      currency: pounds,
      database,
      queue,
      intake,
      statementTimeoutMs,
      ...http,
      log,
    });
    const features = await featuresApp({ store, ...http, log });
    const address = { port: 0, host: "127.0.0.1" };
    bases[`ledger${suffix}`] = await resources.use(ledger).listen(address);
    bases[`features${suffix}`] = await resources.use(features).listen(address);
  }
});
afterAll(() => resources.disposeAsync());

async function send(service: string, path: string, options: Parameters<typeof request>[1] = {}) {
  const { statusCode: status, headers, body } = await request(bases[service] + path, options);
  return { status, headers, text: await body.text() };
}

/** The links and files that each page must have. */
const requiredUrls: Record<string, string[]> = {
  "/console": ["console/console.css", "console/console.js", "docs"],
  "/docs": [
    ...["console", "openapi.yaml", "openapi.json", "problems"],
    ...["docs.css", "swagger-ui.css", "swagger-ui.js", "docs.js"].map((file) => `docs/${file}`),
  ],
  "/docs/queue": ["../docs", "../asyncapi.yaml", "../docs/docs.css"],
  "/problems": ["docs", "docs/docs.css", "problems/not-found"],
  "/problems/not-found": ["../problems", "../docs", "../docs/docs.css"],
};

describe("links behind a proxy", () => {
  const forwarded = { "x-forwarded-proto": "https", "x-forwarded-host": "features.test" };

  const loopback = { trustedProxies: ["loopback"] };
  const two = { "x-forwarded-proto": "http, https", "x-forwarded-host": "forged.test, features.test:8443" };
  const invalid = { "x-forwarded-proto": "javascript", "x-forwarded-host": 'a">,<b' };
  const network = { trustedProxies: ["10.0.0.1", "127.0.0.0/8"] };
  const others = { trustedProxies: ["10.0.0.0/8", "::1"] };
  const publicUrl = "https://api.test/flags/";
  test.each<[string, HttpOptions, headers: object, anchor: string]>([
    ["nobody is trusted by default", {}, forwarded, "http://host/"],
    ["a proxy that is trusted", loopback, forwarded, "https://features.test/"],
    ["a network that is trusted", network, forwarded, "https://features.test/"],
    ["others are not trusted", others, forwarded, "http://host/"],
    ["a trusted proxy without headers", loopback, {}, "http://host/"],
    ["the last proxy decides", loopback, two, "https://features.test:8443/"],
    ["invalid headers have no effect", loopback, invalid, "http://host/"],
    ["PUBLIC_URL decides", { publicUrl }, forwarded, publicUrl],
  ])("%s", async (_name, parts, headers, anchor) => {
    await using store = await openFeatureStore("memory:");
    await using app = await featuresApp({ store, log, ...parts });
    const url = "/.well-known/api-catalog";
    const response = await app.inject({ url, headers: { host: "host", ...headers } });
    expect(response.json().linkset).toMatchObject([{ anchor }]);
  });
});

describe.each(["ledger", "features"])("the %s service", (service) => {
  const pages = ["/console", "/docs", "/problems", "/problems/not-found"];
  if (service === "ledger") pages.push("/docs/queue");

  test("with authentication and all operations publishes its contract unchanged as YAML, and as JSON", async () => {
    const authenticated = `${service} with authentication`;
    const yaml = await send(authenticated, "/openapi.yaml");
    const json = await send(authenticated, "/openapi.json");
    expect([yaml.status, yaml.headers["content-type"]]).toEqual([200, "application/yaml; charset=utf-8"]);
    expect([json.status, json.headers["content-type"]]).toEqual([200, "application/json; charset=utf-8"]);
    expect(yaml.text).toBe(readProjectFile(`generated/${service}.yaml`));
    expect(JSON.parse(json.text)).toEqual(JSON.parse(readProjectFile(`generated/${service}.json`)));
    expect(JSON.parse(json.text).servers[0].url).toBe("/");
  });

  test("publishes one server, which is the public URL if there is one", async () => {
    for (const [name, url] of [
      [service, "/"],
      [`${service} with authentication`, "/"],
      [`${service} with a public URL`, "https://api.test/pay"],
    ] as const) {
      const yaml = parse((await send(name, "/openapi.yaml")).text);
      const json = JSON.parse((await send(name, "/openapi.json")).text);
      expect(json).toEqual(yaml);
      expect(json.servers).toEqual([{ url, description: expect.any(String) }]);
    }
  });

  test("without authentication publishes its contract without tokens, the same as YAML and as JSON", async () => {
    const [yaml, json] = [await send(service, "/openapi.yaml"), await send(service, "/openapi.json")];
    expect(yaml.headers["content-type"]).toBe("application/yaml; charset=utf-8");
    const served = JSON.parse(json.text) as Contract;
    expect(parse(yaml.text)).toEqual(served);
    for (const { method, security, responses } of operationsOf(served)) {
      expect([security, responses[401]]).toEqual([[], undefined]);
      // A page of another origin can read, but not change anything.
      expect(Object.hasOwn(responses, 403)).toBe(method !== "GET");
    }
    expect(served.components).not.toHaveProperty("securitySchemes");
    expect(json.text).not.toMatch(/bearer|token|WWW-Authenticate/i);
    const references = [...json.text.matchAll(/"#\/components\/(\w+)\/(\w+)"/g)];
    expect(references.length).toBeGreaterThan(10);
    for (const [, kind = "", name = ""] of references) expect(served.components?.[kind]).toHaveProperty(name);
  });

  test("publishes an edition in OpenAPI 3.2, with QUERY, items of streams and webhooks, that a linter accepts", async () => {
    for (const name of [service, `${service} with authentication`]) {
      const { text } = await send(name, "/openapi-3.2.yaml");
      const edition = parse(text);
      const first = parse((await send(name, "/openapi.yaml")).text);
      const [path, operationId] =
        service === "ledger" ? ["/v1/transaction/", "queryTransactions"] : ["/query", "queryFeatures"];
      expect([edition.openapi, edition.paths[path].query.operationId]).toEqual(["3.2.0", operationId]);
      expect(edition.webhooks).toEqual(first["x-webhooks"]);
      const { content } = edition.paths[service === "ledger" ? "/v1/event" : "/changes"].get.responses[200];
      const item = expect.objectContaining({ itemSchema: expect.any(Object) });
      expect(content).toMatchObject({ "application/x-ndjson": item, "text/event-stream": item });
      expect(content["text/event-stream"]).not.toHaveProperty("schema");
      expect(text).not.toMatch(/x-(query|webhooks|item-schema):/);
      const file = join(mkdtempSync(join(tmpdir(), "openapi-")), "openapi.yaml");
      writeFileSync(file, text);
      expect(await redocly(["lint", file, "--extends", "spec"])).toMatchObject({ code: 0 });
    }
  });

  test.each([
    ...[
      "/openapi.yaml",
      "/openapi.json",
      "/openapi-3.2.yaml",
      "/docs",
      "/docs/swagger-ui.js",
      "/.well-known/api-catalog",
    ],
    ...["/problems", "/problems/not-found", "/llms.txt"],
  ])("serves %s with cache headers and answers a conditional request with 304", async (path) => {
    const first = await send(service, path);
    const etag = first.headers.etag as string;
    expect(etag).toMatch(/^"[\w-]{43}"$/);
    const ofAll = path === "/.well-known/api-catalog" ? "private" : "public";
    expect(first.headers["cache-control"]).toBe(`${ofAll}, max-age=300`);
    for (const known of [etag, `W/${etag}`, `"other", ${etag}`, "*"]) {
      const cached = await send(service, path, { headers: { "if-none-match": known } });
      expect([cached.status, cached.text, cached.headers.etag]).toEqual([304, "", etag]);
    }
    expect((await send(service, path, { headers: { "if-none-match": '"other"' } })).status).toBe(200);
    const head = await send(service, path, { method: "HEAD" });
    const headers = { etag, "content-length": String(Buffer.byteLength(first.text)) };
    expect(head).toMatchObject({ status: 200, text: "", headers });
    const post = await send(service, path, { method: "POST" });
    expect([post.status, post.headers.allow]).toEqual([405, "GET, HEAD"]);
  });

  test("renders its contract on pages that load files from this service only", async () => {
    for (const path of pages) {
      const page = await send(service, path);
      expect([page.status, page.headers["content-type"]]).toEqual([200, "text/html; charset=utf-8"]);
      expect(page.headers["content-security-policy"]).toBe(
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src data:; connect-src 'self'; " +
          "base-uri 'none'; frame-ancestors 'none'; form-action 'none'",
      );
      expect(page.headers["x-content-type-options"]).toBe("nosniff");
      const urls = [...page.text.matchAll(/(?:src|href)="([^"#]+)"/g)].map(([, url = ""]) => url);
      expect(urls).toEqual(expect.arrayContaining(requiredUrls[path] ?? []));
      expect(urls.includes("docs/queue")).toBe(service === "ledger" && path === "/docs");
      for (const url of urls.filter((loaded) => !loaded.startsWith("data:"))) {
        // Below the path of a proxy, too.
        const { pathname } = new URL(url, `http://proxy.test/pay${path}`);
        expect([url, (await send(service, pathname.replace(/^\/pay/, ""))).status]).toEqual([url, 200]);
      }
    }
  });

  test("only the console may fetch from an issuer, and only if readers sign in there", async () => {
    const connectIn = async (name: string, path: string) => {
      const { headers } = await send(name, path);
      return /connect-src ([^;]*)/.exec(String(headers["content-security-policy"]))?.[1];
    };
    expect(await connectIn(`${service} with sign-in`, "/console")).toBe("'self' https://a.test");
    expect(await connectIn(`${service} with sign-in`, "/docs")).toBe("'self'");
    expect(await connectIn(`${service} with authentication`, "/console")).toBe("'self'");
    const authenticationIn = async (name: string) => {
      const [, given] = /data-authentication="([^"]*)"/.exec((await send(name, "/console")).text) ?? [];
      return given && JSON.parse(given.replaceAll("&quot;", '"'));
    };
    const ofLedger = service === "ledger";
    const claims = { scopeClaim: "scope", ...(ofLedger && { accountsClaim: "accounts" }) };
    const read = ofLedger ? "ledger:read ledger:read:all ledger:operate" : "features:read features:write";
    const scope = `openid ${read}`;
    const signIn = { issuer: "https://a.test/realm", clientId: "console", audience: "b", scope };
    expect(await authenticationIn(`${service} with sign-in`)).toEqual({ ...claims, signIn });
    expect(await authenticationIn(`${service} with authentication`)).toEqual(claims);
    expect(await authenticationIn(service)).toBeUndefined();
  });

  const documentation = pages.filter((path) => path !== "/console");

  test.each([
    ["text/markdown", "text/markdown"],
    ["text/markdown, text/html;q=0.9, */*;q=0.1", "text/markdown"],
    ["text/markdown;q=0.5, text/html", "text/html"],
    ["text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", "text/html"],
    ["*/*", "text/html"],
    ["text/*", "text/html"],
    ["application/json", "text/html"],
    [`text/markdown${", a/b".repeat(1000)}`, "text/html"],
  ])("for Accept %.70s the pages are %s", async (accept, type) => {
    for (const path of documentation) {
      const { status, headers } = await send(service, path, { headers: { accept } });
      expect([path, status, headers["content-type"]]).toEqual([path, 200, `${type}; charset=utf-8`]);
      expect(String(headers.vary).split(", ")).toContain("accept");
    }
  });

  test("its pages as Markdown have entity tags of their own, links that lead to a document, and closed blocks of code", async () => {
    const asMarkdown = { accept: "text/markdown" };
    for (const path of documentation) {
      const { text, headers } = await send(service, path, { headers: asMarkdown });
      const etag = String(headers.etag);
      expect(etag).not.toBe((await send(service, path)).headers.etag);
      const known = { ...asMarkdown, "if-none-match": etag };
      const cached = await send(service, path, { headers: known });
      expect([cached.status, cached.headers.etag, cached.headers.vary]).toEqual([
        304,
        etag,
        "accept, accept-encoding",
      ]);
      expect((await send(service, path, { headers: { "if-none-match": etag } })).status).toBe(200);
      expect(text).toMatch(/^# \S/);
      expect(text).not.toMatch(/[:(] undefined|\[object|\{\{/);
      expect((text.match(/^````/gm)?.length ?? 0) % 2).toBe(0);
      expect(Buffer.byteLength(text)).toBeLessThan(75_000);
      for (const [, url = ""] of text.matchAll(/\]\(([^):]+)\)/g)) {
        const { pathname } = new URL(url, `http://proxy.test${path}`);
        expect([url, (await send(service, pathname)).status]).toEqual([url, 200]);
      }
    }
  });

  test("the contract as Markdown has each operation that is served, with its parameters and statuses", async () => {
    for (const name of [service, `${service} with authentication`]) {
      const { text } = await send(name, "/docs", { headers: { accept: "text/markdown" } });
      const served = JSON.parse((await send(name, "/openapi.json")).text) as Contract;
      const sections = text.split("\n### ");
      for (const { method, path, parameters, responses, security } of operationsOf(served)) {
        const section = sections.find((one) => one.startsWith(`${method} ${path}\n`)) ?? "";
        for (const { name, in: place } of parameters) expect(section).toContain(`- \`${name}\` (${place}`);
        for (const status of Object.keys(responses))
          expect(section).toMatch(new RegExp(`^- .*${status}\\b.*:`, "m"));
        for (const scope of security.flatMap((one) => Object.values(one).flat()))
          expect(section).toContain(scope);
      }
      expect(text.includes("POST /v1/event\n")).toBe(name === "ledger with authentication");
    }
  });

  test("llms.txt leads to the contract, the pages and, if there are any, the tools for models", async () => {
    const { status, headers, text } = await send(service, "/llms.txt");
    expect([status, headers["content-type"]]).toEqual([200, "text/plain; charset=utf-8"]);
    expect(text).toMatch(/^# .+\n\n> .+\.\n\n/);
    const urls = [...text.matchAll(/\]\(([^)]+)\)/g)].map(([, url = ""]) => url);
    const all = ["docs", "openapi.json", "openapi.yaml", "problems", "docs/queue", "asyncapi.yaml"];
    expect(urls).toEqual(service === "ledger" ? all : all.slice(0, 4));
    for (const url of urls) expect([url, (await send(service, `/${url}`)).status]).toEqual([url, 200]);
    const { text: catalog } = await send(service, "/.well-known/api-catalog");
    expect(JSON.parse(catalog).linkset[0]["service-meta"]).toEqual([
      { href: `${bases[service]}/llms.txt`, type: "text/plain" },
    ]);
  });

  test("leads from the root to its documentation, and a browser to its console", async () => {
    const accept = "text/html,application/xhtml+xml,*/*;q=0.8";
    for (const [name, base] of [
      [service, ""],
      [`${service} with a public URL`, "https://api.test/pay/"],
    ] as const) {
      const { status, headers, text } = await send(name, "/");
      expect([status, headers.location, headers.vary, text]).toEqual([302, `${base}docs`, "accept", ""]);
      const ofBrowser = await send(name, "/", { headers: { accept } });
      expect([ofBrowser.status, ofBrowser.headers.location]).toEqual([302, `${base}console`]);
      expect(await send(name, "/", { method: "HEAD" })).toMatchObject({ status: 302, text: "" });
    }
    const post = await send(service, "/", { method: "POST" });
    expect([post.status, post.headers.allow]).toEqual([405, "GET, HEAD"]);
  });

  test("leads from other forms of the URL of a page to the page, whose URLs are relative", async () => {
    for (const path of pages) {
      const doubled = path.replaceAll("/", "//");
      // A doubled slash beside a name would be another name.
      const more = path.startsWith("/problems/") ? [`/${path}/?a=/b/`] : [doubled, `${doubled}//?a=/b/`];
      for (const form of [`${path}/`, path.replace("o", "%6f"), ...more]) {
        const { status, headers } = await send(service, form);
        expect([form, status]).toEqual([form, 302]);
        const { pathname } = new URL(String(headers.location), `http://proxy.test/pay${form}`);
        expect([form, pathname]).toEqual([form, `/pay${path}`]);
      }
    }
  });

  test("publishes to shared caches nothing that has the host of a request", async () => {
    const headers = { host: "forged.test", "x-forwarded-host": "proxy.test", "x-forwarded-proto": "https" };
    const catalogPath = "/.well-known/api-catalog";
    const [links] = JSON.parse((await send(service, catalogPath)).text).linkset;
    const documents = [...links["service-desc"], ...links["service-doc"]].map(
      ({ href }) => new URL(href).pathname,
    );
    const withHost: string[] = [];
    for (const path of ["/", "/console", "/console/", "/docs/", "/unknown", catalogPath, ...documents]) {
      for (const name of [`${service} with authentication`, `${service} with both`]) {
        const { text, headers: received } = await send(name, path, { headers });
        const whole = JSON.stringify(received) + text;
        expect([path, whole.includes("proxy.test")]).toEqual([path, false]);
        if (!whole.includes("forged.test")) continue;
        withHost.push(name + path);
        expect(received["cache-control"]).toBe("private, max-age=300");
      }
    }
    expect(withHost).toEqual([`${service} with authentication${catalogPath}`]);
    const { headers: received } = await send(`${service} with both`, catalogPath);
    expect(received["cache-control"]).toBe("public, max-age=300");
  });

  test("lists its contracts and pages in an API catalog, with the host of the request", async () => {
    const host = "ledger.test:99";
    const { headers, text } = await send(service, "/.well-known/api-catalog", { headers: { host } });
    expect(headers["content-type"]).toContain("application/linkset+json");
    expect(headers["content-type"]).toContain('profile="https://www.rfc-editor.org/info/rfc9727"');
    const head = await send(service, "/.well-known/api-catalog", { method: "HEAD", headers: { host } });
    expect([head.headers.link, head.text]).toEqual([headers.link, ""]);
    expect(headers.link).toBe('<http://ledger.test:99/.well-known/api-catalog>; rel="api-catalog"');
    const { linkset } = JSON.parse(text) as { linkset: Record<string, { href: string; type: string }[]>[] };
    expect(linkset).toMatchObject([{ anchor: "http://ledger.test:99/" }]);
    const links = [linkset[0]?.["service-desc"] ?? [], linkset[0]?.["service-doc"] ?? []].flat();
    const paths = links.map(({ href }) => new URL(href).pathname);
    const all = [
      "/openapi.yaml",
      "/openapi-3.2.yaml",
      "/asyncapi.yaml",
      "/openapi.json",
      "/docs",
      "/docs/queue",
      "/problems",
    ];
    expect(paths).toEqual(service === "ledger" ? all : all.filter((path) => !/async|queue/.test(path)));
    for (const [index, path] of paths.entries()) {
      const linked = await send(service, path);
      const type = String(linked.headers["content-type"]).split(";")[0];
      expect([linked.status, type]).toEqual([200, links[index]?.type]);
    }
  });

  test("has a page for each kind of problem of its contract, and one that lists them", async () => {
    for (const name of [service, `${service} with authentication`]) {
      const served = JSON.parse((await send(name, "/openapi.json")).text);
      const kinds = Object.entries<Record<string, string>>(served["x-problems"]);
      expect(kinds.length).toBeGreaterThan(10);
      const list = await send(name, "/problems");
      expect(list.text.match(/<tr><td>/g)).toHaveLength(kinds.length);
      for (const [kind, { status, title, description, advice, example }] of kinds) {
        const path = `/problems/${kind}`;
        const link = `<a href="problems/${kind}"><code>${path}</code></a>`;
        expect(list.text).toContain(
          `<tr><td>${status}</td><td>${link}</td><td>${escapeHtml(title)}</td></tr>`,
        );
        const page = await send(name, path);
        const headers = { "content-type": "text/html; charset=utf-8" };
        expect([path, page]).toMatchObject([path, { status: 200, headers }]);
        expect(page.text).toContain(`<h1>${escapeHtml(title)}</h1>`);
        expect(page.text).toContain(`<p>${prose(description)}</p>`);
        expect(page.text).toContain(`<p>${prose(advice)}</p>`);
        expect(page.text).toContain(escapeHtml(JSON.stringify(example, null, 2)));
        expect(example).toMatchObject({ type: path, title, status });
        expect(await send(name, path, { method: "HEAD" })).toMatchObject({ status: 200, headers, text: "" });
      }
    }
    for (const name of ["unknown", "constructor", "Not-Found", "not-found/more"])
      expect([name, (await send(service, `/problems/${name}`)).status]).toEqual([name, 404]);
    const post = await send(service, "/problems/not-found", { method: "POST" });
    expect([post.status, post.headers.allow]).toEqual([405, "GET, HEAD"]);
  });

  test("names the page of a problem by its path, or by its URL if it is known", async () => {
    const headers = { accept: "application/json" };
    for (const [name, base] of [
      [service, ""],
      [`${service} with a public URL`, "https://api.test/pay"],
    ] as const) {
      const { text } = await send(name, "/unknown", { headers });
      expect(JSON.parse(text)).toMatchObject({ type: `${base}/problems/not-found`, status: 404 });
    }
  });
});

test("the ledger publishes the contract of its queue as one file, with the message schema", async () => {
  const { status, text } = await send("ledger", "/asyncapi.yaml");
  expect(status).toBe(200);
  expect(text).toContain("asyncapi: 3.1.0");
  expect(text).toContain("$ref: '#/components/schemas/EventMessage'");
  expect(text).not.toContain("ledger.yaml#");
  expect((await send("ledger", "/docs/queue")).text).toContain('<h3 id="EventMessage">');
});

test("the contract of the queue and its page list what each event type sets", async () => {
  const { "x-event-types": tables } = parse((await send("ledger", "/asyncapi.yaml")).text);
  const { description: _, ...resourceTypes } = tables;
  const types = ["payment", "refund", "dispute", "payout", "agreement", "payment_instrument"];
  expect(Object.keys(resourceTypes)).toEqual(types);
  type Row = { event_type: string; description: string; state?: string };
  const rows = Object.values<{ rows: Row[] }>(resourceTypes).flatMap((table) => table.rows);
  expect(rows.filter(({ state }) => state !== undefined)).toHaveLength(52);
  const { text } = await send("ledger", "/docs/queue");
  for (const { event_type, description, state = "none" } of rows) {
    expect(text).toContain(`<tr><td>${event_type}</td><td>${description}</td><td>${state}</td>`);
  }
  expect(text).toContain(
    "<td>FEE_INCURRED</td><td>The payment provider charged a fee.</td><td>none</td><td><code>fee</code>, <code>net_amount</code>, <code>fee_breakdown</code></td>",
  );
  expect((await send("features", "/asyncapi.yaml")).status).toBe(404);
});

test("a generated page is completed for one kind of service, with values as text and as JSON", () => {
  const section = (kind: string) => `<section data-kind="${kind}">\n${kind}\n</section>\n`;
  const page = `${section("one")}${section("two")}{{name}} {{&quot;name&quot;}} {{ name }}`;
  expect(completePage(page, { kind: "two", name: `<"\\>` })).toBe(
    `${section("two")}&lt;&quot;\\&gt; &quot;&lt;\\&quot;\\\\&gt;&quot; {{ name }}`,
  );
});

test("nodes are removed from the YAML without a change to comments and other text", async () => {
  const folder = mkdtempSync(join(tmpdir(), "contract-"));
  const source = join(folder, "contract.yaml");
  const yamlWith = (security: string) => `# about the contract
openapi: 3.1.0
info: { title: Things, version: 1.0.0 } # about the title
security: []
x-problems: {}
paths:
  /things:
    # about an operation
    get:
      operationId: getThing
${security}      description: |
        Long ${"x".repeat(200)}

        # not a comment
      responses:
        "204": { description: Nothing }
        # about the next response
        "500": { description: A bug }
`;
  writeFileSync(source, yamlWith("      security: [{ bearer: [] }] # about security\n"));
  const contract = { ...parse(readFileSync(source, "utf8")), components: {} };
  const documents = { contract: pathToFileURL(source) };
  await using service = await serve(contract, { getThing: async () => ({ status: 204 }) }, { documents });
  expect((await service.send("/openapi.yaml")).text).toBe(yamlWith(""));
});

test("the page of the queue shows its address, unless the service requires tokens", async () => {
  const address = "<code>http://127.0.0.1:4566/000000000000/payment-events</code>";
  expect((await send("ledger", "/docs/queue")).text).toContain(address);
  const { text } = await send("ledger with authentication", "/docs/queue");
  expect(text).not.toContain(address);
  expect(text).toContain("<code>URL</code>");
});

test("the page shows the tables of the extensions of a contract", async () => {
  const { text } = await send("ledger", "/docs");
  expect(text).toContain('<article id="x-state-machine">');
  expect(text).toContain(
    "<tr><td>PAYMENT_STARTED</td><td>The payer opened the payment page.</td><td>STARTED</td><td></td></tr>",
  );
  expect(text).toContain('<tr><th scope="col">column</th><th scope="col">payment</th>');
  const ofFeatures = (await send("features", "/docs")).text;
  expect(ofFeatures.match(/<article id="[^"]+">/g)).toEqual([
    '<article id="x-query">',
    '<article id="x-keywords">',
  ]);
  expect(ofFeatures).toContain("<td>/query</td><td>queryFeatures</td><td>hasFeatures</td>");
  expect(ofFeatures).toContain("<td><code>x-unique-items</code></td><td>No element is twice in the list.");
});

test("texts of a contract are escaped on its page", () => {
  const special = `<&">`;
  const escaped = "&lt;&amp;&quot;&gt;";
  const [head, content] = ["<!--head-->", "<!--content-->"];
  const page = htmlPage({ title: special, links: [["/a", special]], head, content });
  expect(page).toContain(`<title>${escaped}</title>`);
  expect(page).toContain(`<a href="/a">${escaped}</a>`);
  expect(page).toMatch(/<!--head-->.*<\/head>.*<main>\n<!--content-->\n {4}<\/main>/s);
  expect(page).not.toContain(special);
  const rows = [{ [special]: special }, { other: `\`${special}\`` }];
  const tables = tablesOf({
    paths: {},
    [`x-${special}`]: { description: special, [special]: { description: special, rows } },
  } as never);
  expect(tables).not.toContain(special);
  expect(tables).toContain(`<tr><th scope="col">${escaped}</th><th scope="col">other</th></tr>`);
  expect(tables).toContain(`<tr><td></td><td><code>${escaped}</code></td></tr>`);
});
