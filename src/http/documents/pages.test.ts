import type { BrowserContext, Page } from "playwright-core";
import { request } from "undici";
import { afterAll, beforeAll, expect, test } from "vitest";
import { describeInBrowser, launchBrowser, openPage, pageMaxMs } from "../../../testing/browser.ts";
import { eventually } from "../../../testing/eventually.ts";
import { type Services, startServices } from "../../../testing/services.ts";

describeInBrowser("in a browser, the pages of both services", () => {
  const resources = new AsyncDisposableStack();
  let services: Services;
  let context: BrowserContext;
  beforeAll(async () => {
    services = resources.use(await startServices());
    const browser = resources.adopt(await launchBrowser(), (opened) => opened.close());
    context = await browser.newContext();
  }, 2 * pageMaxMs);
  afterAll(() => resources.disposeAsync());

  const originOf = (service: string) => (service === "features" ? services.featuresUrl : services.ledgerUrl);

  async function open(service: string, path: string) {
    const opened = await openPage(context, originOf(service), path);
    if (path !== "/docs/queue") await opened.page.locator(".opblock").first().waitFor();
    return opened;
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

  test.each([
    ["features", "/docs", "changeFeatures"],
    ["ledger", "/docs", "searchTransactions"],
    ["ledger", "/docs/queue", undefined],
  ])(
    "%s %s is readable in both colour modes, on narrow and wide screens, with forms and responses",
    async (service, path, id) => {
      await using opened = await open(service, path);
      const { page, problems } = opened;
      if (id) {
        const form = await openForm(page, id);
        await execute(page, form);
        await form.locator(".live-responses-table").waitFor();
      }
      await opened.isReadable([360, 1280], id ? ["body", ".swagger-ui"] : ["body"]);
      expect(problems).toEqual([]);
    },
  );

  test("a fragment of the URL leads to an operation", async () => {
    await using opened = await open("ledger", "/docs#/transactions/searchTransactions");
    await operation(opened.page, "searchTransactions").getByRole("button", { name: "Try it out" }).waitFor();
  });

  test.each([
    ["features", "listResources", "/features/customer?feature=dark-mode"],
    ["features", "listChanges", "/changes"],
    ["features", "addFeature", "/features/customer/42/dark-mode"],
    ["ledger", "getTransaction", "/v1/transaction/demo-refund?account_id=demo"],
    ["ledger", "searchTransactions", "/v1/transaction/?account_id=demo"],
    ["ledger", "listTransactionEvents", "/v1/transaction/demo-refund/event?gateway_account_id=demo"],
  ])("in %s, the form of %s sends what a request needs and no more", async (service, id, expected) => {
    await using opened = await open(service, "/docs");
    const sent = await execute(opened.page, await openForm(opened.page, id));
    expect(sent.url()).toBe(originOf(service) + expected);
    expect(Object.keys(sent.headers()).filter((name) => /^(if|last)-/.test(name))).toEqual([]);
    expect((await sent.response())?.status()).not.toBe(400);
  });

  test("a form sends what was typed, unless it was removed", async () => {
    await using opened = await open("ledger", "/docs");
    const { page } = opened;
    const form = await openForm(page, "searchTransactions");
    const parameter = (name: string) => form.locator(`[data-param-name="${name}"]`);
    const field = (name: string) => parameter(name).locator("input, select");
    expect(await parameter("display_size").innerText()).toContain("Default: 500.");
    expect(await parameter("status_version").innerText()).toContain("Default: 2.");
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
