import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { type Browser, chromium, type Page } from "playwright-core";
import { build } from "vite";
import { afterAll, beforeAll, expect, test } from "vitest";
import { describeIfAvailable } from "../../../testing/describe-if-available.ts";
import { eventually } from "../../../testing/eventually.ts";
import type { FlagsPage } from "../../../testing/flags-page.ts";
import { openIssuer } from "../../../testing/issuer.ts";
import { root } from "../../../testing/project.ts";
import { findProgram } from "../../../testing/servers/server.ts";
import { startService } from "../../../testing/services.ts";
import { statusOf } from "../../http/service.fixture.ts";

declare const flagsPage: FlagsPage;

const program = findProgram("chromium");

describeIfAvailable("Chromium", program !== undefined)(
  "OpenFeature's provider in a page of another origin",
  () => {
    const resources = new AsyncDisposableStack();
    let browser: Browser;
    let origin: string;

    beforeAll(async () => {
      const script = await bundlePage();
      const server = resources.use(
        createServer(({ url }, response) => {
          const isScript = url === "/page.js";
          response.setHeader("content-type", isScript ? "text/javascript" : "text/html");
          response.end(isScript ? script : '<!doctype html><script type="module" src="/page.js"></script>');
        }),
      );
      await once(server.listen(0, "127.0.0.1"), "listening");
      origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
      // Chromium has no sandbox for root.
      browser = await chromium.launch({ executablePath: program ?? "", args: ["--no-sandbox"] });
      resources.defer(() => browser.close());
    });
    afterAll(() => resources.disposeAsync());

    /** A service in a process of its own, which can be stopped and started again with its data. */
    async function startFeatures(settings: Record<string, string>, token?: string) {
      const server = await startService("features", { env: { LOG_LEVEL: "trace", ...settings } });
      return {
        ...server,
        async stop() {
          const ended = once(server.child(), "exit");
          server.child().kill("SIGTERM");
          expect(await ended).toEqual([0, null]);
        },
        output: () => readFileSync(join(server.folder, "log"), "utf8"),
        async change(method: "POST" | "DELETE", feature: string, id = "42") {
          const headers = { ...(token && { authorization: `Bearer ${token}` }) };
          const url = `${server.url}/features/customer/${id}/${feature}`;
          expect(await statusOf(url, headers, method)).toBeLessThan(300);
        },
      };
    }

    async function openPage() {
      const page = await (await browser.newContext()).newPage();
      const evaluations: string[] = [];
      page.on("request", (sent) => {
        if (sent.method() === "POST") evaluations.push(sent.url());
      });
      await page.goto(origin);
      await page.waitForFunction("globalThis.flagsPage !== undefined");
      return { page, evaluations };
    }

    const open = (page: Page, baseUrl: string, headers?: [string, string][]) =>
      page.evaluate(
        ([baseUrl, headers]) => flagsPage.open({ baseUrl, ...(headers && { headers }) }, "customer/42"),
        [baseUrl, headers] as const,
      );
    const detailsOf = (page: Page, flag: string) =>
      page.evaluate((flag) => {
        const { value, reason, errorCode } = flagsPage.detailsOf(flag);
        return { value, reason, ...(errorCode && { errorCode }) };
      }, flag);
    const eventsOf = (page: Page) => page.evaluate(() => flagsPage.events);
    const untilEvent = (page: Page, event: string) =>
      eventually(async () => expect(await eventsOf(page)).toContain(event));
    const on = { value: true, reason: "TARGETING_MATCH" };

    const untilFlagIs = (page: Page, flag: string, details: object) =>
      eventually(async () => expect(await detailsOf(page, flag)).toEqual(details));

    test("reads flags, and hears of each change through the stream, without polling", async () => {
      await using service = await startFeatures({ CORS_ORIGINS: `https://shop.example.com,${origin}` });
      await service.change("POST", "dark-mode");
      await service.change("POST", "beta");
      await service.change("DELETE", "beta");
      await service.change("POST", "other", "7");
      const { page, evaluations } = await openPage();
      await open(page, service.url);
      expect(await detailsOf(page, "dark-mode")).toEqual(on);
      expect(await detailsOf(page, "beta")).toMatchObject({ value: false, errorCode: "FLAG_NOT_FOUND" });
      // Only another resource has it.
      expect(await detailsOf(page, "other")).toEqual({ value: false, reason: "STATIC" });

      // The first event of the stream causes a second evaluation.
      await eventually(() => expect(evaluations).toHaveLength(2));
      expect(await eventsOf(page)).toEqual(["PROVIDER_READY"]);

      await service.change("POST", "beta");
      await untilFlagIs(page, "beta", on);
      await untilEvent(page, "PROVIDER_CONFIGURATION_CHANGED");
      await service.change("DELETE", "dark-mode");
      await eventually(async () => expect((await detailsOf(page, "dark-mode")).value).toBe(false));
      expect(evaluations).toHaveLength(4);
      await page.context().close();
    });

    test("sends its token, also to the stream, and recovers when the service restarts", async () => {
      await using issuer = await openIssuer();
      const token = await issuer.sign({ scope: "features:read features:write" });
      const settings = { ...issuer.settings, AUTH_JWKS_URL: String(issuer.settings.AUTH_JWKS_URL) };
      await using service = await startFeatures({ ...settings, CORS_ORIGINS: origin }, token);
      const { page, evaluations } = await openPage();
      await open(page, service.url, [["Authorization", `Bearer ${token}`]]);
      await eventually(() => expect(evaluations).toHaveLength(2));
      await service.change("POST", "beta");
      await untilFlagIs(page, "beta", on);

      await service.stop();
      expect(service.output()).toContain('"route":"/ofrep/v1/events"');
      for (const part of token.split(".")) expect(service.output()).not.toContain(part);
      await untilEvent(page, "PROVIDER_STALE");
      expect(await detailsOf(page, "beta")).toEqual(on);
      await service.start();
      await service.change("POST", "gamma");
      await untilFlagIs(page, "gamma", on);
      await service.change("POST", "delta");
      await untilFlagIs(page, "delta", on);

      const { page: other } = await openPage();
      const refused = open(other, service.url, [["Authorization", "Bearer nonsense"]]);
      await expect(refused).rejects.toThrow("Initialization failed");
      await page.context().close();
      await other.context().close();
    });
  },
);

/** Bundles the script of the page for browsers. */
async function bundlePage(): Promise<string> {
  const result = await build({
    root,
    configFile: false,
    envFile: false,
    logLevel: "silent",
    build: { write: false, rollupOptions: { input: join(root, "testing/flags-page.ts") } },
  });
  const [chunk] = [result].flat().flatMap((one) => ("output" in one ? one.output : []));
  if (chunk?.type !== "chunk") throw new Error("the script of the page is not one file");
  return chunk.code;
}
