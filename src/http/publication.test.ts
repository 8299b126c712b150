import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { request } from "undici";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { parse } from "yaml";
import { type Contract, operationsOf } from "../contract/operations.ts";
import { featuresApp } from "../features/app.ts";
import { openFeatureStore } from "../features/store/store.ts";
import { ledgerApp } from "../ledger/app.ts";
import { openNewDatabase } from "../ledger/database/new-database.fixture.ts";
import { openQueue } from "../ledger/queue/queue.ts";
import { openLog } from "../process/log.ts";
import { htmlPage } from "./docs/page.ts";
import { tablesOf } from "./docs/tables.ts";
import { createService } from "./service.ts";

const log = openLog("silent");
const written = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), "utf8");

const bases: Record<string, string> = {};
const kept = new AsyncDisposableStack();
beforeAll(async () => {
  const database = kept.use(await openNewDatabase());
  const queue = kept.use(await openQueue("memory:"));
  const store = kept.use(await openFeatureStore("memory:"));
  const bearer = async () => expect.unreachable();
  for (const [suffix, security] of [
    ["", undefined] as const,
    [" that asks for tokens", { bearer }] as const,
  ]) {
    const ledger = kept.use(await ledgerApp({ database, queue, statementTimeoutMs: 1000, security, log }));
    const features = kept.use(await featuresApp({ store, security, log }));
    bases[`ledger${suffix}`] = await ledger.listen({ host: "127.0.0.1", port: 0 });
    bases[`features${suffix}`] = await features.listen({ host: "127.0.0.1", port: 0 });
  }
});
afterAll(() => kept.disposeAsync());

async function ask(service: string, path: string, options: Parameters<typeof request>[1] = {}) {
  const { statusCode: status, headers, body } = await request(bases[service] + path, options);
  return { status, headers, text: await body.text() };
}

/** What each page cannot do without. */
const needs: Record<string, string[]> = {
  "/docs": [
    "/openapi.yaml",
    "/openapi.json",
    "/docs/docs.css",
    "/docs/swagger-ui.css",
    "/docs/swagger-ui.js",
    "/docs/docs.js",
  ],
  "/docs/queue": ["/docs", "/asyncapi.yaml", "/docs/docs.css"],
};

describe.each(["ledger", "features"])("the %s service", (service) => {
  test("that asks for tokens publishes its contract as it is written, and as JSON", async () => {
    const asking = `${service} that asks for tokens`;
    const yaml = await ask(asking, "/openapi.yaml");
    expect([yaml.status, yaml.headers["content-type"]]).toEqual([200, "application/yaml; charset=utf-8"]);
    expect(yaml.text).toBe(written(`generated/${service}.yaml`));
    const json = await ask(asking, "/openapi.json");
    expect([json.status, json.headers["content-type"]]).toEqual([200, "application/json; charset=utf-8"]);
    expect(JSON.parse(json.text)).toEqual(JSON.parse(written(`generated/${service}.json`)));
    expect(JSON.parse(json.text).servers[0].url).toBe("/");
  });

  test("that asks for none publishes it without tokens, the same as YAML and as JSON", async () => {
    const [yaml, json] = [await ask(service, "/openapi.yaml"), await ask(service, "/openapi.json")];
    expect(yaml.headers["content-type"]).toBe("application/yaml; charset=utf-8");
    const served = JSON.parse(json.text) as Contract;
    expect(parse(yaml.text)).toEqual(served);
    for (const { security, responses } of operationsOf(served)) {
      expect([security, responses[401], responses[403]]).toEqual([[], undefined, undefined]);
    }
    expect(served.components).not.toHaveProperty("securitySchemes");
    expect(json.text).not.toMatch(/bearer|token|WWW-Authenticate/i);
    const references = [...json.text.matchAll(/"#\/components\/(\w+)\/(\w+)"/g)];
    expect(references.length).toBeGreaterThan(10);
    for (const [, kind = "", name = ""] of references) expect(served.components?.[kind]).toHaveProperty(name);
  });

  test.each(["/openapi.yaml", "/openapi.json", "/docs", "/docs/swagger-ui.js", "/.well-known/api-catalog"])(
    "lets %s be kept, and asked for again for little",
    async (path) => {
      const first = await ask(service, path);
      const etag = first.headers.etag as string;
      expect(etag).toMatch(/^"[\w-]{43}"$/);
      expect(first.headers["cache-control"]).toBe("public, max-age=300");
      for (const known of [etag, `W/${etag}`, `"other", ${etag}`, "*"]) {
        const again = await ask(service, path, { headers: { "if-none-match": known } });
        expect([again.status, again.text, again.headers.etag]).toEqual([304, "", etag]);
      }
      expect((await ask(service, path, { headers: { "if-none-match": '"other"' } })).status).toBe(200);
      const head = await ask(service, path, { method: "HEAD" });
      expect(head).toMatchObject({
        status: 200,
        text: "",
        headers: { etag, "content-length": String(Buffer.byteLength(first.text)) },
      });
      const post = await ask(service, path, { method: "POST" });
      expect([post.status, post.headers.allow]).toEqual([405, "GET, HEAD"]);
    },
  );

  test("shows it on pages that load what they need from this service, and may load nothing else", async () => {
    const pages = ["/docs", "/docs/", ...(service === "ledger" ? ["/docs/queue"] : [])];
    for (const path of pages) {
      const page = await ask(service, path);
      expect([page.status, page.headers["content-type"]]).toEqual([200, "text/html; charset=utf-8"]);
      expect(page.headers["content-security-policy"]).toBe(
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src data:; connect-src 'self'; " +
          "base-uri 'none'; frame-ancestors 'none'; form-action 'none'",
      );
      expect(page.headers["x-content-type-options"]).toBe("nosniff");
      const needed = [...page.text.matchAll(/(?:src|href)="([^"#]+)"/g)].map(([, url = ""]) => url);
      expect(needed).toEqual(expect.arrayContaining(needs[path.replace(/\/$/, "")] ?? []));
      expect(needed.includes("/docs/queue")).toBe(
        path.startsWith("/docs") && path !== "/docs/queue" && service === "ledger",
      );
      for (const url of needed.filter((one) => one !== "data:,")) {
        expect([url, (await ask(service, url)).status]).toEqual([url, 200]);
      }
    }
  });

  test("lists all of it in a catalog of links, by the name it was asked by", async () => {
    const host = "ledger.test:99";
    const { headers, text } = await ask(service, "/.well-known/api-catalog", { headers: { host } });
    expect(headers["content-type"]).toContain("application/linkset+json");
    expect(headers["content-type"]).toContain('profile="https://www.rfc-editor.org/info/rfc9727"');
    const head = await ask(service, "/.well-known/api-catalog", { method: "HEAD", headers: { host } });
    expect([head.headers.link, head.text]).toEqual([headers.link, ""]);
    expect(headers.link).toBe('<http://ledger.test:99/.well-known/api-catalog>; rel="api-catalog"');
    const { linkset } = JSON.parse(text) as { linkset: Record<string, { href: string; type: string }[]>[] };
    expect(linkset).toMatchObject([{ anchor: "http://ledger.test:99/" }]);
    const links = [linkset[0]?.["service-desc"] ?? [], linkset[0]?.["service-doc"] ?? []].flat();
    expect(links.map(({ href }) => new URL(href).pathname)).toEqual(
      service === "ledger"
        ? ["/openapi.yaml", "/asyncapi.yaml", "/openapi.json", "/docs", "/docs/queue"]
        : ["/openapi.yaml", "/openapi.json", "/docs"],
    );
    for (const { href, type } of links) {
      const linked = await ask(service, new URL(href).pathname);
      expect([linked.status, linked.headers["content-type"]?.toString().split(";")[0]]).toEqual([200, type]);
    }
  });
});

test("the ledger publishes its queue's contract in one piece, the message schema included", async () => {
  const { status, text } = await ask("ledger", "/asyncapi.yaml");
  expect(status).toBe(200);
  expect(text).toContain("asyncapi: 3.0.0");
  expect(text).toContain("$ref: '#/components/schemas/EventMessage'");
  expect(text).not.toContain("ledger.yaml#");
  expect((await ask("ledger", "/docs/queue")).text).toContain('<h3 id="EventMessage">');
  expect((await ask("features", "/asyncapi.yaml")).status).toBe(404);
});

test("what the YAML leaves out takes no comment and no other text along", async () => {
  const folder = mkdtempSync(join(tmpdir(), "contract-"));
  const source = join(folder, "contract.yaml");
  const text = (asks: string) => `# of the whole
openapi: 3.1.0
info: { title: Odd, version: 1.0.0 } # of a title
security: []
paths:
  /odd:
    # of an operation
    get:
      operationId: getOdd
${asks}      description: |
        Long ${"x".repeat(200)}

        # no comment
      responses:
        "204": { description: Nothing }
        # of what comes after
        "500": { description: A bug }
`;
  writeFileSync(source, text("      security: [{ bearer: [] }] # of security\n"));
  const contract = parse(readFileSync(source, "utf8"));
  contract.components = {};
  await using app = await createService<{ getOdd: unknown }>({
    contract,
    handlers: { getOdd: async () => ({ status: 204 }) as never },
    renderError: () => expect.unreachable(),
    publication: { contract: pathToFileURL(source) },
    log,
  });
  const { body } = await request(`${await app.listen({ host: "127.0.0.1", port: 0 })}/openapi.yaml`);
  expect(await body.text()).toBe(text(""));
  rmSync(folder, { recursive: true });
});

test("the page to try fills no form with what can be left out, and asks its own service only", async () => {
  const code = written("src/http/docs/docs.js");
  const page = (await ask("ledger", "/docs")).text;
  const shown: { spec: Contract; dom_id: string }[] = [];
  const window = {
    SwaggerUIBundle: Object.assign((options: (typeof shown)[number]) => shown.push(options), { presets: {} }),
  };
  const load = async (path: string) => {
    const { text } = await ask("ledger", path);
    return { json: async () => JSON.parse(text) };
  };
  const AsyncFunction = (async () => {}).constructor as new (
    ...code: string[]
  ) => (...given: unknown[]) => Promise<void>;
  await new AsyncFunction("fetch", "window", code)(load, window);
  const [{ spec, dom_id } = expect.unreachable()] = shown;
  expect(page).toContain(`id="${dom_id.slice(1)}"`);
  expect(spec.servers).toEqual([expect.objectContaining({ url: "/" })]);
  const parameters = operationsOf(spec).flatMap((operation) => operation.parameters) as unknown as {
    required?: boolean;
    example?: unknown;
    description: string;
  }[];
  expect(parameters.length).toBeGreaterThan(30);
  for (const { required, example, description } of parameters) {
    expect([required ?? false, example !== undefined]).toEqual([required ?? false, required ?? false]);
    if (!required) expect(description).toMatch(/\n\nFor example `[^`]+`\.$/);
  }
});

test("the page shows the tables that a contract has under names of its own", async () => {
  const { text } = await ask("ledger", "/docs");
  expect(text).toContain('<article id="x-state-machine">');
  expect(text).toContain("<tr><td>PAYMENT_CREATED</td><td>CREATED</td></tr>");
  expect(text).toContain("<tr><th>column</th><th>payment</th><th>refund</th><th>dispute</th></tr>");
  expect((await ask("features", "/docs")).text).not.toContain("<article");
});

test("texts of a contract are texts on its page", () => {
  const odd = `<&">`;
  const told = "&lt;&amp;&quot;&gt;";
  const page = htmlPage({ title: odd, links: [["/a", odd]], head: "<!--head-->", content: "<!--content-->" });
  expect(page).toContain(`<title>${told}</title>`);
  expect(page).toContain(`<a href="/a">${told}</a>`);
  expect(page).toMatch(/<!--head-->\n {2}<\/head>.*<!--content-->/s);
  expect(page).not.toContain(odd);
  const rows = [{ [odd]: odd }, { other: `\`${odd}\`` }];
  const tables = tablesOf({ [`x-${odd}`]: { description: odd, [odd]: { description: odd, rows } } } as never);
  expect(tables).not.toContain(odd);
  expect(tables).toContain(`<tr><th>${told}</th><th>other</th></tr>`);
  expect(tables).toContain(`<tr><td></td><td><code>${told}</code></td></tr>`);
});
