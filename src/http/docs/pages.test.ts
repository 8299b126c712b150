import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { AxeResults } from "axe-core";
import { type BrowserContext, chromium, type Page } from "playwright-core";
import { request } from "undici";
import { afterAll, beforeAll, expect, test } from "vitest";
import { describeIfAvailable } from "../../../testing/describe-if-available.ts";
import { eventually } from "../../../testing/eventually.ts";
import { findProgram } from "../../../testing/servers/server.ts";
import { type Services, startServices } from "../../../testing/services.ts";

const program = findProgram("chromium");
const axeSource = readFileSync(fileURLToPath(import.meta.resolve("axe-core/axe.min.js")), "utf8");
/** For the start, and for a browser that shares a slow machine. */
const pageMaxMs = 60_000;

describeIfAvailable("Chromium", program !== undefined)("in a browser, the pages of both services", () => {
  const resources = new AsyncDisposableStack();
  let services: Services;
  let context: BrowserContext;
  beforeAll(async () => {
    services = resources.use(await startServices());
    // Chromium has no sandbox for root.
    const browser = await chromium.launch({ executablePath: program ?? "", args: ["--no-sandbox"] });
    resources.defer(() => browser.close());
    context = await browser.newContext();
    context.setDefaultTimeout(pageMaxMs);
  }, 2 * pageMaxMs);
  afterAll(() => resources.disposeAsync());

  const originOf = (service: string) => (service === "features" ? services.featuresUrl : services.ledgerUrl);

  /** Opens a page of a service. The problems are errors on its console and requests to other hosts. */
  async function open(service: string, path: string) {
    const page = await context.newPage();
    const problems: string[] = [];
    page.on("console", (message) => message.type() === "error" && problems.push(message.text()));
    page.on("pageerror", ({ message }) => problems.push(message));
    page.on("request", (sent) => {
      if (!sent.url().startsWith(originOf(service))) problems.push(sent.url());
    });
    await page.goto(originOf(service) + path);
    if (path !== "/docs/queue") await page.locator(".opblock").first().waitFor();
    return { page, problems, [Symbol.asyncDispose]: () => page.close() };
  }

  const operation = (page: Page, id: string) => page.locator(`.opblock[id$="-${id}"]`);

  /** Opens the form of an operation. */
  async function openForm(page: Page, id: string) {
    const form = operation(page, id);
    await form.locator(".opblock-summary-control").click();
    await form.getByRole("button", { name: "Try it out" }).click();
    return form;
  }

  /** Sends the request of a form, and returns it. */
  async function execute(page: Page, form: ReturnType<typeof operation>) {
    const [sent] = await Promise.all([
      page.waitForRequest(() => true),
      form.getByRole("button", { name: "Execute" }).click(),
    ]);
    return sent;
  }

  /** What a reader with a disability or a narrow screen would stumble over. */
  async function faultsOf(page: Page): Promise<string[]> {
    // The buttons of Swagger UI change their colours gradually.
    await page.evaluate("Promise.allSettled(document.getAnimations().map(({ finished }) => finished))");
    await page.evaluate(axeSource);
    const { violations } = await page.evaluate<AxeResults>('axe.run({ resultTypes: ["violations"] })');
    const tooWide = await page.evaluate<number>("document.documentElement.scrollWidth - innerWidth");
    return [
      ...violations.flatMap(({ id, nodes }) => nodes.map(({ target }) => `${id}: ${target.join(" ")}`)),
      ...(tooWide > 0 ? [`${tooWide} pixels too wide`] : []),
    ];
  }

  const backgrounds = { light: "rgb(255, 255, 255)", dark: "rgb(28, 32, 34)" };
  test.each([
    { service: "features", path: "/docs", form: "changeFeatures" },
    { service: "ledger", path: "/docs", form: "searchTransactions" },
    { service: "ledger", path: "/docs/queue", form: undefined },
  ])(
    "$service $path is readable in both colour modes, on narrow and wide screens, with forms and responses",
    async ({ service, path, form: id }) => {
      await using opened = await open(service, path);
      const { page, problems } = opened;
      if (id) {
        const form = await openForm(page, id);
        await execute(page, form);
        await form.locator(".live-responses-table").waitFor();
      }
      for (const summary of await page.locator("summary").all()) await summary.click();
      for (const [colorScheme, background] of Object.entries(backgrounds)) {
        await page.emulateMedia({ colorScheme: colorScheme as keyof typeof backgrounds });
        for (const selector of ["body", ...(id ? [".swagger-ui"] : [])]) {
          const color = `getComputedStyle(document.querySelector("${selector}")).backgroundColor`;
          const seen = [background, "rgba(0, 0, 0, 0)"];
          await eventually(async () => expect(seen).toContain(await page.evaluate(color)));
        }
        for (const width of [360, 1280]) {
          await page.setViewportSize({ width, height: 900 });
          expect([colorScheme, width, await faultsOf(page)]).toEqual([colorScheme, width, []]);
        }
      }
      expect(problems).toEqual([]);
    },
  );

  test("the root leads to the page, and a fragment of the URL to an operation", async () => {
    await using opened = await open("ledger", "/#/transactions/searchTransactions");
    expect(new URL(opened.page.url()).pathname).toBe("/docs");
    await operation(opened.page, "searchTransactions").getByRole("button", { name: "Try it out" }).waitFor();
  });

  test.each([
    {
      service: "features",
      requests: {
        listResources: "/features/customer?feature=dark-mode",
        listChanges: "/changes",
        addFeature: "/features/customer/42/dark-mode",
      },
    },
    {
      service: "ledger",
      requests: {
        getTransaction: "/v1/transaction/demo-refund?account_id=demo",
        searchTransactions: "/v1/transaction/?account_id=demo",
        listTransactionEvents: "/v1/transaction/demo-refund/event?gateway_account_id=demo",
      },
    },
  ])("the forms of $service send what a request needs and no more", async ({ service, requests }) => {
    await using opened = await open(service, "/docs");
    for (const [id, expected] of Object.entries(requests)) {
      const sent = await execute(opened.page, await openForm(opened.page, id));
      expect(sent.url()).toBe(originOf(service) + expected);
      expect(Object.keys(sent.headers()).filter((name) => /^(if|last)-/.test(name))).toEqual([]);
      expect((await sent.response())?.status()).not.toBe(400);
    }
  });

  test("a form sends what was typed, unless it was removed", async () => {
    await using opened = await open("ledger", "/docs");
    const { page } = opened;
    const form = await openForm(page, "searchTransactions");
    const field = (name: string) => form.locator(`[data-param-name="${name}"]`).locator("input, select");
    for (const [name, note] of Object.entries({
      display_size: "Default: 500.",
      status_version: "Default: 2.",
    })) {
      expect(await form.locator(`[data-param-name="${name}"]`).innerText()).toContain(note);
    }
    await field("reference").fill("LIC");
    await field("email").fill("someone@");
    await field("email").fill("");
    await field("exact_reference_match").selectOption("true");
    await field("fee_headers").selectOption("true");
    await field("fee_headers").selectOption("");
    const { searchParams } = new URL((await execute(page, form)).url());
    expect(Object.fromEntries(searchParams)).toEqual({
      account_id: "demo",
      reference: "LIC",
      exact_reference_match: "true",
    });
  });

  test("a stream is shown while it arrives, and can be ended", async () => {
    const change = (feature: string) =>
      request(`${services.featuresUrl}/features/stream/1/${feature}`, { method: "POST" }).then(({ body }) =>
        body.dump(),
      );
    await using opened = await open("features", "/docs");
    const { page } = opened;
    const form = await openForm(page, "listChanges");
    await form.locator('[data-code="200"] select.content-type').selectOption("text/event-stream");
    const shown = () => form.locator(".live-responses-table").innerText();
    const stream = await execute(page, form);
    const ended = page.waitForEvent("requestfailed", (failed) => failed === stream);
    for (const feature of ["first", "second"]) {
      await change(feature);
      await eventually(async () => expect(await shown()).toContain(`"feature":"${feature}"`));
    }
    await form.getByRole("button", { name: "End stream" }).click();
    await ended;
    await form.getByRole("button", { name: "Clear" }).waitFor();
    await change("third");
    expect(await shown()).toContain('"feature":"second"');
    expect(await shown()).not.toContain("third");

    const again = await execute(page, form);
    await eventually(async () => expect(await shown()).toContain('"feature":"third"'));
    const cancelled = page.waitForEvent("requestfailed", (failed) => failed === again);
    await form.getByRole("button", { name: "Cancel" }).click();
    await cancelled;
    expect(opened.problems).toEqual([]);
  });
});
