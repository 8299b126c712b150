import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { BrowserContext } from "playwright-core";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { describeInBrowser, launchBrowser } from "../../testing/browser.ts";
import { eventually } from "../../testing/eventually.ts";
import { type Services, startServices } from "../../testing/services.ts";

const startMaxMs = 180_000;

/** Records when the view appeared and when it last changed, to compare it with when its responses arrived. */
const watchChanges = `
  new MutationObserver(() => {
    window.lastChangeAt = performance.now();
    if (document.querySelector("h1")) window.viewAt ??= window.lastChangeAt;
  }).observe(document, { childList: true, subtree: true, characterData: true });
`;

/**
 * Bytes of the page itself; when it was painted and its view appeared, in milliseconds since its navigation; and how long
 * after its last response it was complete.
 */
const measure = `({
  bytes: [...performance.getEntriesByType("navigation"), ...performance.getEntriesByType("resource")]
    .filter(({ name }) => /\\/console/.test(name))
    .reduce((sum, { decodedBodySize }) => sum + decodedBodySize, 0),
  paintedAt: performance.getEntriesByName("first-contentful-paint")[0].startTime,
  viewAt: window.viewAt,
  completeAfter: window.lastChangeAt -
    Math.max(...performance.getEntriesByType("resource").map(({ responseEnd }) => responseEnd)),
})`;
type Times = Record<"paintedAt" | "viewAt" | "completeAfter", number>;
const names = ["paintedAt", "viewAt", "completeAfter"] as const;

/** A page that does as little as a page with a script and a request can, to which the console is compared. */
const trivialFiles: Record<string, [type: string, text: string]> = {
  "/console": [
    "text/html",
    '<!doctype html><title>Trivial</title><p>…</p><script type="module" src="/console.js"></script>',
  ],
  "/console.js": [
    "text/javascript",
    'const { title } = await (await fetch("/console.json")).json(); document.body.innerHTML = `<h1>` + title;',
  ],
  "/console.json": ["application/json", '{"title":"Trivial"}'],
};
/** How many times as long as the view of the trivial page each may take. */
const ratioMax: Times = { paintedAt: 6, viewAt: 6, completeAfter: 3 };

async function serveTrivialPage() {
  const server = createServer(({ url = "" }, response) => {
    const [type, text] = trivialFiles[url] ?? ["text/plain", ""];
    response.setHeader("content-type", type).end(text);
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

// It runs alone (vitest.config.ts), since it compares times.
describeInBrowser("the console", () => {
  const resources = new AsyncDisposableStack();
  let services: Services;
  let context: BrowserContext;
  let trivial: Awaited<ReturnType<typeof serveTrivialPage>>;
  beforeAll(async () => {
    trivial = resources.use(await serveTrivialPage());
    services = resources.use(await startServices());
    await services.run("scripts/demo/demo.ts");
    const browser = resources.adopt(await launchBrowser(), (launched) => launched.close());
    context = await browser.newContext();
    await context.addInitScript(watchChanges);
  }, startMaxMs);
  afterAll(() => resources.disposeAsync());

  /** Opens a page, and returns what it takes. */
  async function visit(url: string, heading: string) {
    const page = await context.newPage();
    try {
      await page.goto(url);
      await page.getByRole("heading", { level: 1, name: heading }).waitFor();
      await vi.waitFor(async () => expect(await page.locator(".loading, [aria-busy=true]").count()).toBe(0));
      expect(await page.locator(".notice.failed").count()).toBe(0);
      return await page.evaluate<Times & { bytes: number }>(measure);
    } finally {
      await page.close();
    }
  }

  test.each([
    ["ledger", "#/transactions", "Transactions"],
    ["ledger", "#/transactions/demo-success?gateway_account_id=demo", "£42.50"],
    ["ledger", "#/payouts", "Payouts"],
    ["ledger", "", "Overview"],
    ["ledger", "#/intake", "Intake"],
    ["features", "", "Features"],
    ["features", "#/resources/customer/1", "customer 1"],
    ["features", "#/features/customer/dark-mode", "dark-mode"],
  ])(
    "of %s at %j is small, and takes a few times as long as a trivial page",
    async (service, fragment, heading) => {
      const origin = service === "ledger" ? services.ledgerUrl : services.featuresUrl;
      const [trivials, visits] = [[], []] as Times[][] as [Times[], Times[]];
      const shortest = (times: Times[], name: keyof Times) => Math.min(...times.map((one) => one[name]));
      // The machine can do something else at any moment, so the shortest times of several attempts are compared.
      await eventually(async () => {
        trivials.push(await visit(`${trivial.origin}/console`, "Trivial"));
        const { bytes, ...times } = await visit(`${origin}/console${fragment}`, heading);
        visits.push(times);
        expect(bytes).toBeGreaterThan(10_000);
        expect(bytes).toBeLessThan(service === "ledger" ? 170_000 : 70_000);
        for (const name of names)
          expect(shortest(visits, name) / shortest(trivials, "viewAt")).toBeLessThan(ratioMax[name]);
      });
    },
  );
});
