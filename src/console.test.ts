import { readFileSync } from "node:fs";
import { mkdir, mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { AxeResults } from "axe-core";
import { type Browser, type BrowserContext, chromium, type Locator, type Page } from "playwright-core";
import { request } from "undici";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { describeIfAvailable } from "../testing/describe-if-available.ts";
import { eventually } from "../testing/eventually.ts";
import { openIssuer } from "../testing/issuer.ts";
import { findProgram } from "../testing/servers/server.ts";
import { type Services, startServices } from "../testing/services.ts";

const program = findProgram("chromium");
const axeSource = readFileSync(fileURLToPath(import.meta.resolve("axe-core/axe.min.js")), "utf8");
/** For the start, and for a browser that shares a slow machine. */
const pageMaxMs = 60_000;
/** The folder for screenshots. Default: there are none. */
const screenshotFolder = process.env.CONSOLE_SCREENSHOTS;
/** The views of which the README has a screenshot. */
const inReadme = ["overview", "payment", "transactions", "intake", "resource", "features"];

describeIfAvailable("Chromium", program !== undefined)("the console", () => {
  const resources = new AsyncDisposableStack();
  let browser: Browser;
  let services: Services;
  let context: BrowserContext;

  async function newContext() {
    const made = await browser.newContext({ timezoneId: "Europe/Paris", locale: "en-GB" });
    made.setDefaultTimeout(pageMaxMs);
    return made;
  }

  beforeAll(async () => {
    services = resources.use(await startServices());
    await services.run("scripts/demo/demo.ts");
    // Chromium has no sandbox for root.
    browser = await chromium.launch({ executablePath: program ?? "", args: ["--no-sandbox"] });
    resources.defer(() => browser.close());
    context = await newContext();
  }, 3 * pageMaxMs);
  afterAll(() => resources.disposeAsync());

  interface Opened extends AsyncDisposable {
    page: Page;
    /** Errors on the console of the browser, and requests to other hosts. */
    problems: string[];
  }

  async function openPage(origin: string, fragment = "", within = context): Promise<Opened> {
    const page = await within.newPage();
    const problems: string[] = [];
    page.on("console", (message) => message.type() === "error" && problems.push(message.text()));
    page.on("pageerror", ({ message }) => problems.push(message));
    page.on("dialog", (dialog) => {
      problems.push(`dialog ${dialog.message()}`);
      void dialog.dismiss();
    });
    page.on("request", (sent) => {
      if (!sent.url().startsWith(origin) && !sent.url().startsWith("blob:")) problems.push(sent.url());
    });
    await page.goto(`${origin}/console${fragment}`);
    return { page, problems, [Symbol.asyncDispose]: () => page.close() };
  }
  const openLedger = (fragment = "") => openPage(services.ledgerUrl, fragment);
  const openFeatures = (fragment = "") => openPage(services.featuresUrl, fragment);

  const heading = (page: Page) => page.getByRole("heading", { level: 1 });
  const isFocused = (locator: Locator) => locator.evaluate((element) => element.matches(":focus"));
  const fragmentOf = (page: Page) => new URL(page.url()).hash;
  const rows = (page: Page, name: string) =>
    page.getByRole("region", { name, exact: true }).locator("tbody tr");
  const isLoaded = (page: Page) =>
    eventually(async () => {
      expect(await page.locator("main h1").count()).toBe(1);
      expect(await page.locator(".loading, [aria-busy=true]").count()).toBe(0);
    });

  /** What a reader with a disability or a narrow screen would stumble over. */
  async function faultsOf(page: Page): Promise<string[]> {
    await page.evaluate(axeSource);
    const { violations } = await page.evaluate<AxeResults>('axe.run({ resultTypes: ["violations"] })');
    const tooWide = await page.evaluate<number>("document.documentElement.scrollWidth - innerWidth");
    return [
      ...violations.flatMap(({ id, nodes }) => nodes.map(({ target }) => `${id}: ${target.join(" ")}`)),
      ...(tooWide > 0 ? [`${tooWide} pixels too wide`] : []),
    ];
  }

  describe("every view", () => {
    const backgrounds = { light: "rgb(255, 255, 255)", dark: "rgb(28, 32, 34)" };
    test.each([
      { service: "ledger", name: "overview", fragment: "" },
      {
        service: "ledger",
        name: "transactions",
        fragment: "#/transactions?account_id=demo-shop",
      },
      { service: "ledger", name: "payment", fragment: "#/transactions/demo-success?account_id=demo" },
      {
        service: "ledger",
        name: "earlier payment",
        fragment: "#/transactions/demo-success?account_id=demo&as_of=2024-03-05T09:16:00Z",
      },
      { service: "ledger", name: "dispute", fragment: "#/transactions/demo-dispute?account_id=demo" },
      { service: "ledger", name: "intake", fragment: "#/intake" },
      { service: "ledger", name: "dead-letter", fragment: "#/intake/1" },
      { service: "ledger", name: "missing", fragment: "#/transactions/unknown" },
      { service: "ledger", name: "nothing", fragment: "#/nothing" },
      { service: "features", name: "features", fragment: "#/?from=oldest" },
      { service: "features", name: "resource", fragment: "#/resources/customer/1" },
      { service: "features", name: "feature", fragment: "#/features/customer/dark-mode" },
    ])(
      "$service $name is readable in both colour modes, from 360 to 1920 pixels",
      async ({ service, name, fragment }) => {
        await using opened = await (service === "ledger" ? openLedger(fragment) : openFeatures(fragment));
        const { page, problems } = opened;
        await isLoaded(page);
        for (const summary of await page.locator("summary").all()) await summary.click();
        for (const [colorScheme, background] of Object.entries(backgrounds)) {
          await page.emulateMedia({ colorScheme: colorScheme as keyof typeof backgrounds });
          const color = "getComputedStyle(document.body).backgroundColor";
          await eventually(async () => expect(await page.evaluate(color)).toBe(background));
          for (const width of [360, 800, 1280, 1920]) {
            await page.setViewportSize({ width, height: 900 });
            expect([colorScheme, width, await faultsOf(page)]).toEqual([colorScheme, width, []]);
          }
        }
        await page.evaluate(
          "for (const open of document.querySelectorAll('details[open]')) open.open = false",
        );
        await page.emulateMedia({ colorScheme: "light" });
        await page.setViewportSize({ width: 960, height: 900 });
        await page.evaluate("scrollTo(0, 0)");
        if (screenshotFolder && inReadme.includes(name)) {
          await mkdir(screenshotFolder, { recursive: true });
          await page.screenshot({ path: join(screenshotFolder, `${name}.png`) });
        }
        // The browser reports a 404 of the service itself.
        expect(problems.filter((problem) => !/404/.test(problem))).toEqual([]);
      },
    );
  });

  describe("of the ledger", () => {
    test("searches with the form; the address bar is the search, and going back keeps it", async () => {
      await using opened = await openLedger("#/transactions");
      const { page, problems } = opened;
      await page.getByLabel("Accounts").fill("demo");
      await page.getByLabel("Reference", { exact: true }).fill("fishing");
      await page.getByLabel("Created after").fill("2024-03-05T00:00:00");
      await page.getByLabel("Reference", { exact: true }).press("Enter");
      await eventually(async () => expect(await rows(page, "Transactions").count()).toBe(2));
      expect(await isFocused(heading(page))).toBe(true);
      const parameters = new URLSearchParams(fragmentOf(page).split("?")[1]);
      expect(Object.fromEntries(parameters)).toEqual({
        account_id: "demo",
        reference: "fishing",
        from_date: "2024-03-04T23:00:00.000Z",
      });
      const [refund = "", payment = ""] = await rows(page, "Transactions").allInnerTexts();
      expect(refund).toMatch(/5 Mar 2024, 12:00:00\s+fishing-88\s+Refund.*Success\s+£10\.00/s);
      expect(payment).toMatch(/5 Mar 2024, 10:14:22\s+fishing-88\s+Payment.*Success\s+£42\.50/s);
      await rows(page, "Transactions").last().getByRole("link").click();
      await eventually(async () => expect(await heading(page).innerText()).toContain("Payment fishing-88"));
      expect(await isFocused(heading(page))).toBe(true);
      await page.goBack();
      await eventually(async () => expect(await rows(page, "Transactions").count()).toBe(2));
      expect(await page.getByLabel("Reference", { exact: true }).inputValue()).toBe("fishing");
      expect(await page.getByLabel("Created after").inputValue()).toMatch(/^2024-03-05T00:00/);
      expect(problems).toEqual([]);
    });

    test.each([
      ["transaction_type=DISPUTE", ["parking-3"]],
      ["email=ANGLER&last_digits_card_number=4242&state=declined", ["parking-1"]],
      ["payment_states=declined,timedout", ["parking-2", "parking-1"]],
      ["reference=parking-1&exact_reference_match=true", ["parking-1"]],
      ["gateway_payout_id=demo-payout", ["fishing-88"]],
      ["from_settled_date=2024-03-08&to_settled_date=2024-03-08&metadata_value=north", ["fishing-88"]],
      ["agreement_id=demo-agreement&card_brands=visa&first_digits_card_number=424242", ["parking-1"]],
      ["gateway_transaction_id=gtx-1&cardholder_name=angler", ["fishing-88"]],
    ])("shows the search %s of an address, with the filters in its form", async (search, references) => {
      await using opened = await openLedger(`#/transactions?account_id=demo&${search}`);
      const { page } = opened;
      await isLoaded(page);
      expect(await rows(page, "Transactions").getByRole("link").allInnerTexts()).toEqual(references);
      await page.getByRole("button", { name: "Search" }).click();
      await isLoaded(page);
      const sent = new URLSearchParams(fragmentOf(page).split("?")[1]);
      sent.sort();
      const given = new URLSearchParams(`account_id=demo&${search}`);
      given.sort();
      expect(String(sent)).toBe(String(given));
    });

    test("pages by cursor without losing the place", async () => {
      await using opened = await openLedger("#/transactions?account_id=demo-shop");
      const { page } = opened;
      const total = async () => await page.getByText(/transactions, page/).innerText();
      await eventually(async () => expect(await total()).toMatch(/page 1$/));
      const first = await rows(page, "Transactions").allInnerTexts();
      expect(first).toHaveLength(50);
      await page.getByRole("button", { name: "Next page" }).click();
      await eventually(async () => expect(await total()).toMatch(/page 2$/));
      const second = await rows(page, "Transactions").allInnerTexts();
      expect(second.filter((row) => first.includes(row))).toEqual([]);
      await rows(page, "Transactions").nth(40).getByRole("link").scrollIntoViewIfNeeded();
      const scrolled = await page.evaluate<number>("scrollY");
      expect(scrolled).toBeGreaterThan(500);
      await rows(page, "Transactions").nth(40).getByRole("link").click();
      await eventually(async () => expect(await heading(page).innerText()).toContain("SHOP-"));
      await isLoaded(page);
      await page.goBack();
      await eventually(async () => expect(await total()).toMatch(/page 2$/));
      expect(await rows(page, "Transactions").allInnerTexts()).toEqual(second);
      await eventually(async () => expect(await page.evaluate("scrollY")).toBe(scrolled));
      await page.getByRole("button", { name: "Previous page" }).click();
      await eventually(async () => expect(await rows(page, "Transactions").allInnerTexts()).toEqual(first));
      await page.reload();
      await eventually(async () => expect(await rows(page, "Transactions").count()).toBe(50));
    });

    test("shows a payment, its events in words, its refund, its payout and, by keyboard, an earlier state", async () => {
      await using opened = await openLedger("#/transactions/demo-success?account_id=demo");
      const { page, problems } = opened;
      await isLoaded(page);
      const main = page.locator("main");
      for (const text of [
        "£42.50",
        "The service created the payment.",
        "A user of the service created the refund. By usr4411.",
        "Refund demo-refund",
        "£41.90, adds up",
      ]) {
        expect(await main.innerText()).toContain(text);
      }
      expect(await page.locator("time").first().getAttribute("title")).toBe("2024-03-05 09:14:22.018 UTC");
      await page.getByText("JSON", { exact: true }).click();
      expect(JSON.parse(await page.locator("details pre").innerText())).toMatchObject({ amount: 4250 });
      const slider = page.getByRole("slider");
      await slider.press("Home");
      await eventually(async () => expect(await heading(page).innerText()).toContain("Created"));
      // The slider keeps the focus.
      await page.keyboard.press("ArrowRight");
      await eventually(async () => expect(await heading(page).innerText()).toContain("Started"));
      expect(fragmentOf(page)).toContain("as_of=2024-03-05T09%3A15%3A02.000999Z");
      await page.reload();
      await eventually(async () => expect(await heading(page).innerText()).toContain("Started"));
      await page.getByRole("button", { name: "Back to now" }).click();
      await eventually(async () => expect(await heading(page).innerText()).toContain("Success"));
      await page.getByRole("link", { name: "Refund demo-refund" }).click();
      await eventually(async () => expect(await heading(page).innerText()).toContain("Refund fishing-88"));
      await page.getByRole("link", { name: "demo-success" }).click();
      await eventually(async () => expect(await heading(page).innerText()).toContain("Payment fishing-88"));
      expect(problems).toEqual([]);
    });

    test("downloads all matches of a search as CSV", async () => {
      await using opened = await openLedger("#/transactions?account_id=demo-shop&state=success");
      const { page, problems } = opened;
      const [download] = await Promise.all([
        page.waitForEvent("download"),
        page.getByRole("button", { name: "Download CSV" }).click(),
      ]);
      const folder = await mkdtemp(join(tmpdir(), "console-"));
      await download.saveAs(join(folder, "transactions.csv"));
      const { body } = await request(
        `${services.ledgerUrl}/v1/transaction/?account_id=demo-shop&state=success&format=csv`,
      );
      expect(await readFile(join(folder, "transactions.csv"), "utf8")).toBe(await body.text());
      await rm(folder, { recursive: true });
      expect(problems).toEqual([]);
    });

    test("shows payments by day and state, today against last week, and payouts that do not add up", async () => {
      await using opened = await openLedger("#/?account_id=demo-shop");
      const { page } = opened;
      await isLoaded(page);
      const { body } = await request(
        `${services.ledgerUrl}/v1/report/transactions?account_id=demo-shop&group_by=state&transaction_type=PAYMENT`,
      );
      const { groups } = (await body.json()) as { groups: { state: string; count: number }[] };
      const shown = await rows(page, "Payments by state").allInnerTexts();
      expect(shown.map((row) => Number(row.split("\t")[1])).toSorted()).toEqual(
        groups.map(({ count }) => count).toSorted(),
      );
      const bars = page.getByRole("img", { name: /^Number of payments/ }).locator("rect");
      const ofDays = await request(
        `${services.ledgerUrl}/v1/report/transactions?account_id=demo-shop&group_by=day,state&transaction_type=PAYMENT`,
      );
      const days = (await ofDays.body.json()) as { groups: object[] };
      expect(await bars.count()).toBe(days.groups.length);
      await page.getByLabel("Amount", { exact: true }).check();
      await page.getByRole("img", { name: /^Amount of payments/ }).waitFor();
      expect(await rows(page, "Today against the same day last week").count()).toBe(3);
      await page.getByRole("button", { name: "Check older payouts" }).click();
      await eventually(async () =>
        expect(await page.getByText(/of the newest 2[89] payouts/).count()).toBe(1),
      );
      const payouts = await rows(page, "Payouts that do not add up").allInnerTexts();
      // Each tenth day has one.
      expect([2, 3]).toContain(payouts.length);
      for (const payout of payouts) expect(payout).toMatch(/-£5\.00$/);
    });

    test("shows the intake, and a dead letter with masked data and the outcome of a replay", async () => {
      await using opened = await openLedger("#/intake");
      const { page, problems } = opened;
      await isLoaded(page);
      const facts = page.locator("main > div > .facts").first();
      await eventually(async () => expect(await facts.innerText()).toMatch(/Open dead letters\s+2/));
      await eventually(async () =>
        expect(await page.locator("main").innerText()).toMatch(/Rate in that minute/),
      );
      const row = rows(page, "Dead letters").filter({ hasText: "event_type is required" });
      const number = await row.getByRole("link").innerText();
      await row.getByRole("link").click();
      await eventually(async () => expect(await heading(page).innerText()).toBe(`Dead letter ${number}`));
      await isLoaded(page);
      const text = await page.locator("main").innerText();
      expect(text).toContain("event_type is required");
      expect(text).toContain("A replay would leave it as it is.");
      expect(text).toContain(`npm run dead-letters -- replay ${number}`);
      expect(text).not.toContain("angler@example.org");
      await page.goto(`${services.ledgerUrl}/console#/intake?state=discarded`);
      await eventually(async () =>
        expect(await page.locator("main").innerText()).toContain("There are no discarded dead letters."),
      );
      expect(problems).toEqual([]);
    });

    test("shows data as text, never as HTML", async () => {
      const html = "<img src=x onerror=alert(1)><script>alert(2)</script>";
      const { statusCode } = await request(`${services.ledgerUrl}/v1/event`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({
          event_type: "PAYMENT_CREATED",
          resource_type: "payment",
          resource_external_id: `html ${html}`,
          timestamp: "2024-05-01T00:00:00.000000Z",
          event_details: {
            gateway_account_id: "html",
            reference: html,
            description: html,
            external_metadata: { [html]: html },
          },
        }),
      });
      expect(statusCode).toBe(202);
      await using opened = await openLedger("#/transactions?account_id=html");
      const { page, problems } = opened;
      await page.getByRole("link", { name: html }).click();
      await eventually(async () => expect(await heading(page).innerText()).toContain(html));
      await isLoaded(page);
      expect(await page.locator("main img, main script").count()).toBe(0);
      expect(problems).toEqual([]);
    });

    test("tells apart what is empty, missing, not valid and not reachable", async () => {
      await using opened = await openLedger("#/transactions?account_id=nobody");
      const { page } = opened;
      const notice = page.locator(".notice").first();
      const shows = (kind: string, text: string) =>
        eventually(async () => {
          expect(await notice.getAttribute("class")).toBe(`notice ${kind}`);
          expect(await notice.innerText()).toContain(text);
        });
      await shows("empty", "No transaction matches");
      await page.goto(`${services.ledgerUrl}/console#/transactions/unknown?account_id=demo`);
      await shows("missing", "[unknown] not found");
      await page.goto(`${services.ledgerUrl}/console#/transactions?from_date=yesterday`);
      await shows("failed", "from_date");
      await page.route("**/v1/**", (route) => route.abort());
      await page.goto(`${services.ledgerUrl}/console#/transactions?account_id=demo`);
      await shows("failed", "The service cannot be reached");
      await page.unroute("**/v1/**");
      await page.getByRole("button", { name: "Try again" }).click();
      await eventually(async () => expect(await rows(page, "Transactions").count()).toBe(6));
      await page.getByRole("link", { name: "parking-3" }).first().waitFor();
    });
  });

  describe("of the feature storage", () => {
    test("adds and removes a feature after a confirmation, and shows the history", async () => {
      await using opened = await openFeatures("#/");
      const { page, problems } = opened;
      const form = page.locator("form").first();
      await form.getByLabel("Kind of resource").fill("customer");
      await form.getByLabel("Id").fill("a/b <i>");
      await page.getByRole("button", { name: "Open a resource" }).click();
      await eventually(async () => expect(await heading(page).innerText()).toBe("customer a/b <i>"));
      await eventually(async () =>
        expect(await page.locator("main").innerText()).toContain("This resource has no features."),
      );
      await page.getByLabel("Feature to add").fill("dark mode");
      await page.getByLabel("Expires").fill("2037-03-05T10:14:22");
      await page.getByLabel("Feature to add").press("Enter");
      const dialog = page.getByRole("dialog");
      expect(await dialog.innerText()).toContain("Add dark mode to customer a/b <i>?");
      expect(await faultsOf(page)).toEqual([]);
      await page.keyboard.press("Escape");
      await dialog.waitFor({ state: "hidden" });
      expect(await rows(page, "Features").count()).toBe(0);
      await page.getByLabel("Feature to add").press("Enter");
      await dialog.getByRole("button", { name: "Add" }).press("Enter");
      await eventually(async () =>
        expect(await rows(page, "Features").allInnerTexts()).toEqual([
          expect.stringMatching(/dark mode\s+5 Mar 2037, 10:14:22/),
        ]),
      );
      await page.getByRole("button", { name: "Remove dark mode" }).click();
      await dialog.getByRole("button", { name: "Remove" }).click();
      await eventually(async () =>
        expect(await rows(page, "History").allInnerTexts()).toEqual([
          expect.stringMatching(/Removed\s+dark mode/),
          expect.stringMatching(/Added\s+dark mode\s+5 Mar 2037/),
        ]),
      );
      await page.getByLabel("Feature to add").fill("late");
      await page.getByLabel("Expires").fill("2020-01-01T00:00:00");
      await page.getByRole("button", { name: "Add", exact: true }).click();
      await dialog.getByRole("button", { name: "Add" }).click();
      await eventually(async () => expect(await dialog.innerText()).toContain("must be in the future"));
      await dialog.getByRole("button", { name: "Cancel" }).click();
      expect(problems.filter((problem) => !/400/.test(problem))).toEqual([]);
    });

    test("shows the resources of a feature by pages, and their number", async () => {
      const changes = Array.from({ length: 60 }, (_, index) => ({
        type: "add",
        resource: "device",
        id: `d${index}`,
        feature: "fast",
      }));
      await request(`${services.featuresUrl}/changes`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ changes }),
      });
      await using opened = await openFeatures("#/features/device/fast");
      const { page } = opened;
      await page.getByText("60 resources have this feature.").waitFor();
      const first = await rows(page, "Resources").allInnerTexts();
      await page.getByRole("button", { name: "Next page" }).click();
      await eventually(async () => expect(await rows(page, "Resources").count()).toBe(10));
      const second = await rows(page, "Resources").allInnerTexts();
      expect(new Set([...first, ...second]).size).toBe(60);
      await rows(page, "Resources").first().getByRole("link").click();
      await eventually(async () => expect(await heading(page).innerText()).toMatch(/^device d/));
    });

    test("shows changes as they happen, and misses none while it is paused", async () => {
      await using opened = await openFeatures("#/");
      const { page } = opened;
      await page.getByText("Live", { exact: true }).waitFor();
      const add = (feature: string) =>
        request(`${services.featuresUrl}/features/stream/1/${feature}`, { method: "POST" });
      await add("one");
      await eventually(async () => expect(await rows(page, "Changes").count()).toBe(1));
      await page.getByRole("button", { name: "Pause" }).click();
      await page.getByText("Paused", { exact: true }).waitFor();
      await add("two");
      await page.getByRole("button", { name: "Resume" }).click();
      await eventually(async () =>
        expect(await rows(page, "Changes").allInnerTexts()).toEqual([
          expect.stringContaining("two"),
          expect.stringContaining("one"),
        ]),
      );
    });
  });

  describe("of services that require tokens", () => {
    let issuer: Awaited<ReturnType<typeof openIssuer>>;
    let guarded: Services;
    beforeAll(async () => {
      issuer = resources.use(await openIssuer());
      const env = Object.entries(issuer.settings).map(([name, value]) => [name, String(value)]);
      guarded = resources.use(await startServices(Object.fromEntries(env)));
      await guarded.run("src/ledger/commands/send-events.ts", ["-"], ["57", "58"].map(payment).join("\n"));
    }, 2 * pageMaxMs);

    const payment = (account: string) =>
      JSON.stringify({
        event_type: "PAYMENT_CREATED",
        resource_type: "payment",
        resource_external_id: `pay${account}`,
        timestamp: "2024-03-05T09:14:22.018000Z",
        event_details: { gateway_account_id: account, amount: 100, reference: `of ${account}` },
      });

    async function useToken(page: Page, token: string) {
      await page.getByLabel("Token").fill(token);
      await page.getByRole("button", { name: "Use token" }).click();
    }
    const links = (page: Page) =>
      page.getByRole("navigation", { name: "Console" }).getByRole("link").allInnerTexts();

    test("the page requires one, keeps it in memory only, and shows what it allows", async () => {
      await using opened = await openPage(guarded.ledgerUrl, "#/transactions");
      const { page } = opened;
      await page.getByLabel("Token").waitFor();
      expect(await faultsOf(page)).toEqual([]);
      expect(await links(page)).toEqual(["API"]);
      await useToken(page, "nonsense");
      await page.getByText("this is not a JWT").waitFor();
      await useToken(page, await issuer.sign({ scope: "ledger:read", exp: 1 }));
      await page.getByText("the token has expired").waitFor();
      await useToken(page, await issuer.sign({ scope: "ledger:read", accounts: ["57"] }));
      await eventually(async () =>
        expect(await rows(page, "Transactions").getByRole("link").allInnerTexts()).toEqual(["of 57"]),
      );
      expect(await links(page)).toEqual(["Overview", "Transactions", "API"]);
      await page.goto(`${guarded.ledgerUrl}/console#/transactions?account_id=58`);
      await eventually(async () =>
        expect(await page.locator(".notice.forbidden").innerText()).toContain("58"),
      );
      await page.goto(`${guarded.ledgerUrl}/console#/intake`);
      await eventually(async () =>
        expect(await page.locator(".notice.forbidden").innerText()).toContain("ledger:operate"),
      );
      expect(await faultsOf(page)).toEqual([]);
      const stored = "[localStorage.length, sessionStorage.length, document.cookie]";
      expect(await page.evaluate(stored)).toEqual([0, 0, ""]);
      await page.reload();
      await page.getByLabel("Token").waitFor();
    });

    test("a token for operators leads to the intake alone, and one for every account to all", async () => {
      await using opened = await openPage(guarded.ledgerUrl, "");
      const { page } = opened;
      await useToken(page, await issuer.sign({ scope: "ledger:operate" }));
      await eventually(async () => expect(await heading(page).innerText()).toBe("Intake"));
      expect(await links(page)).toEqual(["Intake", "API"]);
      await page.getByRole("button", { name: "Forget token" }).click();
      await useToken(page, await issuer.sign({ scope: "ledger:read:all" }));
      await page.getByRole("link", { name: "Transactions", exact: true }).click();
      const shown = () => rows(page, "Transactions").getByRole("link").allInnerTexts();
      await eventually(async () => expect(await shown()).toEqual(["of 58", "of 57"]));
      // Nothing that it has shown is left for another token.
      await page.getByRole("button", { name: "Forget token" }).click();
      await useToken(page, await issuer.sign({ scope: "ledger:read", accounts: ["58"] }));
      await eventually(async () => expect(await shown()).toEqual(["of 58"]));
    });

    test("a token that cannot write is not offered changes", async () => {
      await using opened = await openPage(guarded.featuresUrl, "#/resources/customer/42");
      const { page } = opened;
      await useToken(page, await issuer.sign({ scope: "features:read" }));
      await page.getByText("This resource has no features.").waitFor();
      expect(await page.getByLabel("Feature to add").count()).toBe(0);
      await page.getByRole("button", { name: "Forget token" }).click();
      await useToken(page, await issuer.sign({ scope: "features:read features:write" }));
      await page.getByLabel("Feature to add").fill("dark-mode");
      await page.getByRole("button", { name: "Add", exact: true }).click();
      await page.getByRole("dialog").getByRole("button", { name: "Add" }).click();
      await eventually(async () => expect(await rows(page, "Features").count()).toBe(1));
      await page.getByRole("button", { name: "Remove dark-mode" }).waitFor();
    });
  });
});
