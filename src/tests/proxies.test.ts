import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { request } from "undici";
import { afterAll, beforeAll, expect, test } from "vitest";
import { parseAllDocuments } from "yaml";
import { describeInBrowser, launchBrowser, openPage, pageMaxMs } from "../../testing/browser.ts";
import { describeIfAvailable } from "../../testing/describe-if-available.ts";
import { listen } from "../../testing/event-stream.ts";
import { eventually } from "../../testing/eventually.ts";
import { freePort } from "../../testing/free-port.ts";
import { root } from "../../testing/project.ts";
import { exampleOf, proxies, startProxy } from "../../testing/servers/proxies.ts";
import { exchangeBytes } from "../../testing/servers/server.ts";
import { startService } from "../../testing/services.ts";
import { featuresClient, ledgerClient } from "../client/client.ts";
import { type Contract, operationsOf } from "../contract/operations.ts";

const embedded = { DATABASE_URL: "pglite:memory", QUEUE_URL: "memory:", FEATURES_STORE_URL: "memory:" };

const startLedger = (env = {}) =>
  startService("ledger", { env: { ...embedded, EVENT_WRITES: "true", ...env } });
const startFeatures = (env = {}) => startService("features", { env: { ...embedded, ...env } });

/**
 * Expects that a stream through a proxy shows that it is open, and then a change, before the service has to send something
 * to keep it open, as it does every 15 seconds. A proxy that holds events back sends them when there are some kilobytes.
 */
async function expectLiveStream(serviceUrl: string, proxiedUrl: string, id: string): Promise<void> {
  const direct = await listen(serviceUrl, "/changes?cursor=newest");
  const heartbeat = eventually(() => expect(direct.text()).toMatch(/^:\n\n.*:\n\n/s)).then(() => "late");
  const beforeHeartbeat = async <Value>(value: Promise<Value>) => {
    const first = await Promise.race([value, heartbeat]);
    expect(first).not.toBe("late");
    return first as Value;
  };
  const proxied = await beforeHeartbeat(listen(proxiedUrl, "/changes?cursor=newest"));
  await beforeHeartbeat(eventually(() => expect(proxied.text()).toBe(":\n\n")));
  await featuresClient({ baseUrl: serviceUrl }).addFeature({ resource: "stream", id, feature: "a" });
  await beforeHeartbeat(eventually(() => expect(proxied.events()).toMatchObject([{ data: { id } }])));
  for (const stream of [proxied, direct]) stream.stop();
}

/** Expects that a resource whose id has a slash is changed, and not the feature of another one that the path could mean. */
async function expectSlashKept(baseUrl: string): Promise<void> {
  const client = featuresClient({ baseUrl });
  const slashed = { resource: "kind", id: "a/b" };
  const victim = { resource: "kind", id: "a", feature: "b" };
  await client.addFeature(victim);
  await client.addFeature({ ...slashed, feature: "c/d" });
  expect(await client.listFeatures(slashed)).toEqual(["c/d"]);
  await client.removeFeatures(slashed);
  expect(await client.listFeatures(slashed)).toEqual([]);
  expect(await client.hasFeature(victim)).toEqual({ result: true });
}

/** Adds payments to the account. */
async function addPayments(ledgerUrl: string, account: string, ids: string[]): Promise<void> {
  const events = ids.map((id, index) => ({
    ...{ event_type: "PAYMENT_CREATED", resource_type: "payment", resource_external_id: id },
    timestamp: `2024-03-05T09:14:2${index}.000Z`,
    event_details: { gateway_account_id: account, amount: 100 },
  }));
  await ledgerClient({ baseUrl: ledgerUrl }).addEvents({ body: events as never });
}

for (const kind of proxies) {
  const { name } = kind;
  const describeProxy = describeIfAvailable(name, kind.isInstalled());

  describeProxy(`both services below paths of one host, by the example for ${name}`, () => {
    const resources = new AsyncDisposableStack();
    let [ledger, features, ledgerService, featuresService] = ["", "", "", ""];
    beforeAll(async () => {
      const port = await freePort();
      [ledger, features] = [`http://127.0.0.1:${port}/ledger`, `http://127.0.0.1:${port}/flags`];
      const services = [
        resources.use(await startLedger({ PUBLIC_URL: ledger })),
        resources.use(await startFeatures({ PUBLIC_URL: features })),
      ];
      [ledgerService, featuresService] = services.map(({ url }) => url) as [string, string];
      const example = exampleOf(kind, ledgerService, featuresService);
      resources.use(await startProxy(kind, example, port));
    });
    afterAll(() => resources.disposeAsync());

    test("a stream shows each change when it happens", () =>
      expectLiveStream(featuresService, features, "1"));

    test("pages of a search, the contract and the catalogue lead on below the path", async () => {
      const ids = ["p1", "p2", "p3"];
      await addPayments(ledger, "57", ids);
      const pages = ledgerClient({ baseUrl: ledger }).eachTransaction({
        account_id: ["57"],
        display_size: 1,
      });
      const found = await Array.fromAsync(pages, ({ transaction_id }) => transaction_id);
      expect(found).toEqual(ids.toReversed());
      // No URL can name them, so this search has the method QUERY.
      const account_id = [...Array.from({ length: 999 }, (_, n) => `account-with-a-long-name-${n}`), "57"];
      const queried = ledgerClient({ baseUrl: ledger }).eachTransaction({ account_id, display_size: 2 });
      expect(await Array.fromAsync(queried, ({ transaction_id }) => transaction_id)).toEqual(found);
      for (const base of [ledger, features]) {
        const { servers } = (await (await request(`${base}/openapi.json`)).body.json()) as {
          servers: { url: string }[];
        };
        expect(servers.map(({ url }) => url)).toEqual([base]);
        const catalogue = await (await request(`${base}/.well-known/api-catalog`)).body.text();
        for (const [, href = ""] of catalogue.matchAll(/"href":"([^"]*)"/g)) {
          const { statusCode, body } = await request(href);
          await body.dump();
          expect([href, statusCode]).toEqual([href, 200]);
          expect(href).toMatch(`${base}/`);
        }
      }
    });

    test("a name with a slash stays a name: no other resource changes", () => expectSlashKept(features));

    test("a service gets the address of the client, whatever the client states", async () => {
      const received: unknown[] = [];
      const server = createServer(({ url, headers }, response) => {
        if (url === "/changes") received.push(headers["x-forwarded-for"]);
        response.end();
      });
      await once(server.listen(0, "127.0.0.1"), "listening");
      resources.defer(() => void server.close());
      const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
      const port = await freePort();
      resources.use(await startProxy(kind, exampleOf(kind, url, url), port));
      const headers = { "x-forwarded-for": "192.0.2.9" };
      const { body } = await request(`http://127.0.0.1:${port}/flags/changes`, { headers });
      await body.dump();
      // A service that trusts the proxy takes the last address.
      expect(received).toEqual([expect.stringMatching(/(^|, )127\.0\.0\.1$/)]);
    });

    test("a list can be replaced with the ETag that was read", async () => {
      const headers = { "accept-encoding": "gzip, br, zstd", "content-type": "application/json" };
      const path = `${features}/features/kind/replaced`;
      const read = await request(path, { headers });
      await read.body.dump();
      const ifMatch = { "if-match": String(read.headers.etag) };
      const body = '["a"]';
      const replaced = await request(path, { method: "PUT", headers: { ...headers, ...ifMatch }, body });
      await replaced.body.dump();
      expect(replaced.statusCode).toBe(200);
    });

    test("metrics and health are not for callers, in any form of their path", async () => {
      for (const base of [ledger, features]) {
        const { pathname, host } = new URL(base);
        for (const secret of ["metrics", "healthcheck"]) {
          const paths = [
            ...[`/${secret}`, `//${secret}`, `/${secret}/`, `/./${secret}`, `/docs/../${secret}`],
            ...[`/%${secret.charCodeAt(0).toString(16)}${secret.slice(1)}`, `/docs/%2e%2e/${secret}`],
            ...[`/docs%2f..%2f${secret}`, `//${secret}?/docs`, `/v1/..//${secret}`],
          ];
          for (const path of [...paths.map((one) => pathname + one), `/${pathname}/${secret}`]) {
            const sent = `GET ${path} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`;
            const response = await exchangeBytes(base, sent, "HTTP/1.1 ");
            expect([path, response.split("\r\n")[0]]).toEqual([path, expect.not.stringContaining(" 200")]);
          }
        }
      }
    });

    describeInBrowser("in a browser", () => {
      test(
        "/ leads to the console, which works below the path, and so do the other pages",
        async () => {
          await addPayments(ledger, "58", ["shown"]);
          await featuresClient({ baseUrl: features }).addFeature({
            resource: "k",
            id: "1",
            feature: "shown",
          });
          await using browser = resources.adopt(await launchBrowser(), (opened) => opened.close());
          const context = await browser.newContext();
          for (const [base, hash, text] of [
            [ledger, "#/transactions?account_id=58", "shown"],
            [features, "#/resources/k/1", "shown"],
          ] as const) {
            await using opened = await openPage(context, base, "/");
            const { page, problems } = opened;
            expect(page.url()).toMatch(`${base}/console`);
            await page.goto(`${base}/console${hash}`);
            await page.getByText(text).first().waitFor();
            await page.getByRole("link", { name: "API" }).click();
            await page.locator(".opblock").first().waitFor();
            expect(page.url()).toBe(`${base}/docs`);
            if (base === ledger) {
              await page.getByRole("link", { name: "Contract of the queue" }).click();
              await page.locator("#event-types").waitFor();
            }
            expect(problems).toEqual([]);
          }
        },
        2 * pageMaxMs,
      );
    });
  });

  describeProxy(`the feature storage behind ${name} with its defaults`, () => {
    test.each([false, true])(
      "streams, and replaces a list with the ETag that was read; compression: %s",
      async (isCompressing) => {
        await using service = await startFeatures();
        await using proxy = await startProxy(kind, kind.plain(new URL(service.url).host, { isCompressing }));
        await expectLiveStream(service.url, proxy.url, "1");
        const path = `${proxy.url}/features/kind/1`;
        // Caddy compresses from 512 bytes on.
        for (const letter of ["a", "b", "c"]) {
          const feature = letter.repeat(250);
          await featuresClient({ baseUrl: service.url }).addFeature({ resource: "kind", id: "1", feature });
        }
        const read = await request(path, { headers: { "accept-encoding": "gzip" } });
        const bytes = Buffer.from(await read.body.arrayBuffer());
        const isCompressed = read.headers["content-encoding"] === "gzip";
        expect(isCompressed).toBe(isCompressing);
        expect(JSON.parse(String(isCompressed ? gunzipSync(bytes) : bytes))).toHaveLength(3);
        const replace = async (ifMatch: string) => {
          const headers = { "content-type": "application/json", "if-match": ifMatch };
          const { statusCode, body } = await request(path, { method: "PUT", headers, body: "[]" });
          return { status: statusCode, text: await body.text() };
        };
        const etag = String(read.headers.etag);
        const replaced = await replace(etag);
        if (!etag.startsWith("W/")) return void expect(replaced).toMatchObject({ status: 200 });
        // nginx and HAProxy make the ETag weak when they compress.
        expect(isCompressing).toBe(true);
        expect(replaced.status).toBe(412);
        expect(replaced.text).toContain("send the ETag without W/");
        expect(await replace(etag.slice("W/".length))).toMatchObject({ status: 200 });
      },
    );
  });
}

/** An Ingress of the manifests. */
interface Ingress {
  kind: string;
  metadata: { name: string };
  spec: { rules: { http: { paths: { path: string; pathType: "Exact" | "Prefix" }[] } }[] };
}

const [nginx] = proxies;
const describeNginx = describeIfAvailable("nginx", nginx.isInstalled());

describeNginx("the Ingress of the feature storage, as ingress-nginx renders it", () => {
  const manifests = readFileSync(join(root, "deploy/kubernetes/network.yaml"), "utf8");
  const ingress = parseAllDocuments(manifests)
    .map((document) => document.toJS() as Ingress)
    .find(({ kind, metadata }) => kind === "Ingress" && metadata.name === "features");

  test("keeps a slash in a name, leads to every operation and page, and to nothing for operators", async () => {
    await using service = await startFeatures();
    const forward = `{ proxy_pass http://${new URL(service.url).host}; }`;
    const locations = ingress?.spec.rules.flatMap(({ http: { paths } }) =>
      paths.flatMap(({ path, pathType }) => [
        `location = ${path} ${forward}`,
        ...(pathType === "Prefix" ? [`location ${path}/ ${forward}`] : []),
      ]),
    );
    const server = `server { listen 80; ${locations?.join("\n")} location / { return 404; } }`;
    await using proxy = await startProxy(nginx, server);
    await expectSlashKept(proxy.url);
    await expectLiveStream(service.url, proxy.url, "1");
    const contract = (await (await request(`${proxy.url}/openapi.json`)).body.json()) as Contract;
    const paths = operationsOf(contract).map(({ path }) => path.replaceAll(/\{\w+\}/g, "x"));
    const documents = ["/", "/docs", "/docs/docs.js", "/console", "/console/console.js", "/openapi.yaml"];
    const others = ["/openapi-3.2.yaml", "/problems", "/problems/not-found", "/llms.txt"];
    for (const path of [...paths, ...documents, ...others, "/.well-known/api-catalog"]) {
      const [direct, proxied] = await Promise.all(
        [service, proxy].map(async ({ url }) => {
          const { statusCode, body } = await request(url + path, { method: "OPTIONS" });
          await body.dump();
          return statusCode;
        }),
      );
      expect(direct).toBe(204);
      expect([path, proxied]).toEqual([path, /^\/(metrics|healthcheck)$/.test(path) ? 404 : 204]);
    }
  });
});

describeNginx("behind an nginx that decodes the paths of requests", () => {
  test("a request for a name with a slash is one for another resource, but POST /changes is not", async () => {
    await using service = await startFeatures();
    const address = new URL(service.url).host;
    await using proxy = await startProxy(
      nginx,
      `server { listen 80; location /flags/ { proxy_pass http://${address}/; } }`,
    );
    const client = featuresClient({ baseUrl: `${proxy.url}/flags` });
    const victim = { resource: "kind", id: "a", feature: "b" };
    const slashed = { resource: "kind", id: "a/b" };
    await client.addFeature(victim);
    const change = (type: "add" | "remove") =>
      client.changeFeatures({ body: { changes: [{ type, ...slashed, feature: "c/d" }] } });
    expect(await change("add")).toEqual({ results: [{ changed: true }] });
    expect(await change("remove")).toEqual({ results: [{ changed: true }] });
    expect(await client.hasFeature(victim)).toEqual({ result: true });
    await client.removeFeatures(slashed);
    expect(await client.hasFeature(victim)).toEqual({ result: false });
  });
});
