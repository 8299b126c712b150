import { mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import type { BrowserContext, Page } from "playwright-core";
import { request } from "undici";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { describeInBrowser, launchBrowser, pageMaxMs } from "../../testing/browser.ts";
import { isFocused, openConsole as openConsolePage } from "../../testing/console-page.ts";
import { eventually } from "../../testing/eventually.ts";
import { openIssuer } from "../../testing/issuer.ts";
import { story } from "../../testing/messages.ts";
import { type Services, startServices } from "../../testing/services.ts";
import { openWebhook } from "../../testing/webhook.ts";

/** The folder for screenshots. Default: there are none. */
const screenshotFolder = process.env.CONSOLE_SCREENSHOTS;
/** The views of which the README has a screenshot. */
const inReadme = [
  "overview",
  "payment",
  "transactions",
  "payout",
  "intake",
  "dead-letter",
  "resource",
  "features",
];

/** The last day of the demonstration with a payout that does not add up: one in ten. */
function wrongPayoutDay(): string {
  const dayMs = 86_400_000;
  // The payout of yesterday is perhaps not made yet.
  const last = Math.floor(Date.now() / dayMs) - 2;
  return new Date((last - ((last + 6) % 10)) * dayMs).toISOString().slice(0, 10);
}

describeInBrowser("the console", () => {
  const resources = new AsyncDisposableStack();
  let services: Services;
  let context: BrowserContext;
  beforeAll(async () => {
    const shop = resources.use(await openWebhook(({ body }) => (body.includes("unwelcome") ? 422 : 200)));
    services = resources.use(await startServices({ PUBLISH_URL: `${shop.url}?name=shop` }));
    await services.run("scripts/demo/demo.ts");
    const browser = resources.adopt(await launchBrowser(), (opened) => opened.close());
    context = await browser.newContext({ timezoneId: "Europe/Paris", locale: "en-GB" });
  }, 3 * pageMaxMs);
  afterAll(() => resources.disposeAsync());

  const openConsole = (origin: string, fragment = "") => openConsolePage(context, origin, fragment);
  const openLedger = (fragment = "") => openConsole(services.ledgerUrl, fragment);
  const openFeatures = (fragment = "") => openConsole(services.featuresUrl, fragment);

  const fragmentOf = (page: Page) => new URL(page.url()).hash;
  const read = async (path: string) => (await request(services.ledgerUrl + path)).body;
  async function post(url: string, body?: object) {
    const headers = { "content-type": "application/json" };
    const response = await request(url, { method: "POST", headers, body: JSON.stringify(body ?? {}) });
    await response.body.dump();
    expect(response.statusCode).toBeLessThan(300);
  }

  test.each([
    ["ledger", "overview", ""],
    ["ledger", "transactions", "#/transactions?account_id=demo-shop&period=last-30-days"],
    ["ledger", "filtered transactions", "#/transactions?account_id=demo&state=success&reference=fishing"],
    ["ledger", "payment", "#/transactions/demo-success?gateway_account_id=demo"],
    [
      "ledger",
      "earlier payment",
      "#/transactions/demo-success?gateway_account_id=demo&as_of=2024-03-05T09:16:00Z",
    ],
    ["ledger", "rejected payment", "#/transactions/demo-rejected?gateway_account_id=demo"],
    ["ledger", "dispute", "#/transactions/demo-dispute?gateway_account_id=demo"],
    ["ledger", "payouts", "#/payouts"],
    ["ledger", "payout", `#/payouts/demo-shop-payout-${wrongPayoutDay()}?gateway_account_id=demo-shop`],
    ["ledger", "agreements", "#/agreements"],
    ["ledger", "agreement", "#/agreements/demo-agreement?gateway_account_id=demo"],
    ["ledger", "intake", "#/intake"],
    ["ledger", "dead-letter", "#/intake/1"],
    ["ledger", "missing", "#/transactions/unknown"],
    ["ledger", "nothing", "#/nothing"],
    ["features", "features", "#/"],
    ["features", "resource", "#/resources/customer/1"],
    ["features", "kind", "#/features/customer"],
    ["features", "feature", "#/features/customer/dark-mode"],
  ])(
    "every view: %s %s is readable in both colour modes, from 360 to 1920 pixels",
    async (service, name, fragment) => {
      await using view = await (service === "ledger" ? openLedger(fragment) : openFeatures(fragment));
      const { page, problems } = view;
      await view.isLoaded();
      await view.isReadable([360, 768, 1280, 1920]);
      if (screenshotFolder && inReadme.includes(name)) {
        await page.evaluate(
          "for (const open of document.querySelectorAll('details[open]')) open.open = false",
        );
        await page.emulateMedia({ colorScheme: "light" });
        await page.setViewportSize({ width: 960, height: 900 });
        await page.evaluate("scrollTo(0, 0)");
        await mkdir(screenshotFolder, { recursive: true });
        await page.screenshot({ path: join(screenshotFolder, `${name}.png`) });
      }
      // The browser reports a 404 of the service itself.
      expect(problems.filter((problem) => !/404/.test(problem))).toEqual([]);
    },
  );

  describe("of the ledger", () => {
    /** The groups of a report, with the same days as the page. */
    async function groupsOf(search: string) {
      const report = await read(`/v1/report/transactions?time_zone=Europe/Paris&${search}`);
      return (await report.json()) as { groups: { count: number; state: string; gross_amount: number }[] };
    }
    const pounds = (pence: number) =>
      (pence / 100).toLocaleString("en-GB", { style: "currency", currency: "GBP" });
    const thisMonth = () => new Date().toISOString().slice(0, 7);

    test("finds by what is typed, of which the kind can be changed; going back keeps the place", async () => {
      await using view = await openLedger("#/transactions?account_id=demo");
      const { page, heading } = view;
      const box = page.getByRole("searchbox");
      await view.isLoaded();
      expect(await isFocused(box)).toBe(true);
      const kind = page.getByLabel("Find by");
      for (const [text, expected] of [
        ["fishing-88", "reference"],
        ["angler@example.org", "email"],
        ["4242", "last_digits_card_number"],
        ["demo-payout", "gateway_payout_id"],
        ["gtx-1", "gateway_transaction_id"],
        ["abcdefghijklmnopqrstuvwxy1", "id"],
      ] as const) {
        await box.fill(text);
        expect([text, await kind.inputValue()]).toEqual([text, expected]);
      }
      await box.fill("angler");
      await kind.selectOption("Name on the card");
      await box.press("Enter");
      await view.hasRows("Transactions", [/parking-1/, /Refund/, /Payment/]);
      await page.getByRole("link", { name: "Name on the card: angler, remove" }).click();
      await view.hasRows("Transactions", 6);
      await box.fill("fishing");
      await box.press("Enter");
      await view.hasRows("Transactions", [
        /5 Mar 2024, 12:00\s+fishing-88\s+Refund.*Success\s+-£10\.00/s,
        /5 Mar 2024, 10:14\s+fishing-88\s+Payment.*Success\s+£42\.50/s,
      ]);
      expect(Object.fromEntries(new URLSearchParams(fragmentOf(page).split("?")[1]))).toEqual({
        account_id: "demo",
        reference: "fishing",
      });
      await view.rows("Transactions").last().getByRole("link").click();
      await view.hasHeading("£42.50");
      expect(await isFocused(heading)).toBe(true);
      expect(await page.title()).toBe("Payment fishing-88 – Payment ledger");
      await page.goBack();
      await view.hasRows("Transactions", 2);
      await page.keyboard.press("/");
      expect(await isFocused(box)).toBe(true);
      await box.fill("demo-payout");
      await box.press("Enter");
      await view.hasHeading("£41.90");
      expect(view.problems).toEqual([]);
    });

    test("an id that is no transaction leads to what else it can be", async () => {
      await using view = await openLedger("#/transactions");
      await view.page.getByRole("searchbox").fill("gtx-1");
      await view.page.getByLabel("Find by").selectOption("Id");
      await view.click("Search");
      await view.hasHeading("Transaction gtx-1");
      await view.page.getByRole("link", { name: "an id of the provider" }).click();
      await view.hasRows("Transactions", [/fishing-88/]);
    });

    test.each([
      ["transaction_type=DISPUTE", ["parking-3"], "Type: Disputes"],
      ["email=ANGLER&last_digits_card_number=4242&state=declined", ["parking-1"], "Email: ANGLER"],
      ["payment_states=declined,timedout", ["parking-2", "parking-1"], "Declined, Timed out"],
      ["reference=parking-1&exact_reference_match=true", ["parking-1"], "Reference: parking-1"],
      ["gateway_payout_id=demo-payout", ["fishing-88"], "Payout: demo-payout"],
      ["from_settled_date=2024-03-08&to_settled_date=2024-03-08", ["fishing-88"], "Settled to: 8 Mar 2024"],
      ["metadata_value=north", ["fishing-88"], "Metadata: north"],
      ["agreement_id=demo-agreement&card_brands=visa&first_digits_card_number=424242", ["parking-1"], "visa"],
      ["gateway_transaction_id=gtx-1&cardholder_name=angler", ["fishing-88"], "Provider's id: gtx-1"],
      ["period=2024-03-06..2024-03-07", ["parking-2", "parking-1"], ""],
      ["period=2024-03-05T11:30..2024-03-05T12:30&time_zone=Europe/Paris", ["fishing-88"], ""],
      ["live=false", [], ""],
    ])(
      "shows the search %s of an address, with what is set, and in the drawer",
      async (search, references, chip) => {
        await using view = await openLedger(`#/transactions?account_id=demo&${search}`);
        await view.isLoaded();
        expect(await view.linksIn("Transactions")).toEqual(references);
        expect(await view.page.locator(".chips").innerText()).toContain(chip);
        await view.click("Filters");
        await view.click("Show transactions");
        await view.isLoaded();
        const sorted = (parameters: string) => [...new URLSearchParams(parameters)].map(String).toSorted();
        expect(sorted(fragmentOf(view.page).split("?")[1] ?? "")).toEqual(
          sorted(`account_id=demo&${search}`),
        );
      },
    );

    test("the drawer filters, by keyboard too", async () => {
      await using view = await openLedger("#/transactions?account_id=demo-shop&period=this-month");
      const { page } = view;
      await view.click("Filters");
      const drawer = page.getByRole("dialog", { name: "Filters" });
      await drawer.getByLabel("Type").selectOption("Refunds");
      await drawer.getByRole("group", { name: "Refunds in state" }).getByLabel("Error").check();
      expect(await view.faults()).toEqual([]);
      await drawer.getByLabel("Email").press("Enter");
      await drawer.waitFor({ state: "hidden" });
      await view.isLoaded();
      for (const row of await view.rows("Transactions").allInnerTexts())
        expect(row).toMatch(/Refund\s.*Error\s+-£/s);
      expect(await page.locator(".chip").allInnerTexts()).toEqual([
        "Type: Refunds ✕",
        "Refunds in state: Error ✕",
      ]);
    });

    test("every view and link keeps the selection, and a transaction has its own account", async () => {
      await using view = await openLedger();
      const { page } = view;
      await view.isLoaded();
      const kept = () => Object.fromEntries(new URLSearchParams(fragmentOf(page).split("?")[1]));
      await page.getByLabel("Accounts").fill("demo-shop,demo-shop-test");
      await page.getByLabel("Accounts").press("Enter");
      await page.getByLabel("Money").selectOption("Test");
      await page.getByLabel("Period").selectOption("Last 7 days");
      await view.fill("Times and days are in the zone", "UTC");
      await page.getByLabel("in the zone").press("Enter");
      const selection = {
        account_id: "demo-shop,demo-shop-test",
        live: "false",
        period: "last-7-days",
        time_zone: "UTC",
      };
      await eventually(async () => expect(kept()).toEqual(selection));
      await view.shows("Times in UTC");
      for (const name of ["Transactions", "Payouts", "Agreements", "Intake", "Overview"]) {
        await page.getByRole("navigation", { name: "Console" }).getByRole("link", { name }).click();
        await view.hasHeading(name);
        expect(kept()).toEqual(selection);
      }
      await page.getByRole("link", { name: "Success" }).click();
      await view.hasHeading("Transactions");
      await view.isLoaded();
      const rows = await view.rows("Transactions").allInnerTexts();
      const { groups } = await groupsOf("account_id=demo-shop-test&transaction_type=PAYMENT&state=success");
      expect(rows).toHaveLength(groups[0]?.count ?? 0);
      await view.rows("Transactions").first().getByRole("link").click();
      await view.hasHeading(/Success/);
      expect(kept()).toEqual({ ...selection, gateway_account_id: "demo-shop-test" });
      await view.shows("Test money");
    });

    test("a period is two days in words, and a wrong one says how", async () => {
      await using view = await openLedger("#/transactions?account_id=demo&period=someday");
      const { page } = view;
      await view.shows("This period is not known");
      await page.getByLabel("Period").selectOption("Today");
      await view.shows("No transaction matches");
      await page.getByLabel("Period").selectOption("Two days …");
      await view.fill("Days", "2024-03-08 to 2024-03-06");
      await page.getByLabel("Days", { exact: true }).press("Enter");
      await view.shows("the earlier one first");
      await view.fill("Days", "2024-03-02 to 9999-12-31");
      await page.getByLabel("Days", { exact: true }).press("Enter");
      await view.shows("of the years 1900 to 2199");
      await view.fill("Days", "2024-03-07 to 2024-03-08");
      await page.getByLabel("Days", { exact: true }).press("Enter");
      await view.hasRows("Transactions", [/8 Mar 2024, 10:14\s+parking-3/, /parking-2/]);
      await page.reload();
      expect(await page.getByLabel("Days", { exact: true }).inputValue()).toBe("2024-03-07 to 2024-03-08");
    });

    test("reaches the first result of every list with at most ten tab stops", async () => {
      for (const [fragment, table] of [
        ["#/transactions", "Transactions"],
        ["#/payouts", "Payouts"],
        ["#/agreements", "Agreements"],
      ] as const) {
        await using view = await openLedger(fragment);
        await view.isLoaded();
        const first = view.rows(table).first().getByRole("link");
        let stops = 0;
        do {
          await view.page.keyboard.press("Tab");
          stops++;
        } while (stops < 10 && !(await isFocused(first)));
        expect([fragment, await isFocused(first)]).toEqual([fragment, true]);
      }
    });

    test("the first tab stop skips to the content", async () => {
      await using view = await openLedger("#/payouts");
      await view.isLoaded();
      await view.page.keyboard.press("Tab");
      await view.page.keyboard.press("Enter");
      expect(await isFocused(view.heading)).toBe(true);
    });

    test("pages by cursor without losing the place", async () => {
      await using view = await openLedger("#/transactions?account_id=demo-shop");
      const { page } = view;
      const rows = view.rows("Transactions");
      await view.isLoaded();
      const first = await rows.allInnerTexts();
      expect(first).toHaveLength(50);
      await view.click("Next page");
      await eventually(async () => expect(await rows.first().innerText()).not.toBe(first[0]));
      await view.isLoaded();
      const second = await rows.allInnerTexts();
      expect(second.filter((row) => first.includes(row))).toEqual([]);
      await rows.nth(40).getByRole("link").scrollIntoViewIfNeeded();
      const scrolled = await page.evaluate<number>("scrollY");
      expect(scrolled).toBeGreaterThan(500);
      await rows.nth(40).getByRole("link").click();
      await view.hasHeading("£");
      await view.isLoaded();
      await page.goBack();
      await eventually(async () => expect(await rows.allInnerTexts()).toEqual(second));
      await eventually(async () => expect(await page.evaluate("scrollY")).toBe(scrolled));
      await view.click("Previous page");
      await eventually(async () => expect(await rows.allInnerTexts()).toEqual(first));
      await page.reload();
      await view.hasRows("Transactions", 50);
    });

    test("adds up all matches of a search as the report does", async () => {
      await using view = await openLedger("#/transactions?account_id=demo-shop&transaction_type=REFUND");
      const { groups } = await groupsOf("account_id=demo-shop&transaction_type=REFUND&group_by=state");
      const count = groups.reduce((sum, group) => sum + group.count, 0);
      const refunded = groups.find(({ state }) => state === "success")?.gross_amount ?? 0;
      await view.shows(`${count} transactions · received £0.00 · refunded ${pounds(refunded)}`);
    });

    test("shows a payment, its events in words, its refund, its payout and, by keyboard, an earlier state", async () => {
      await using view = await openLedger("#/transactions/demo-success?gateway_account_id=demo");
      const { page } = view;
      await view.isLoaded();
      await view.hasHeading(/^£42\.50 Success$/);
      const text = await view.main.innerText();
      expect(text).toContain("Payment fishing-88");
      expect(text).toContain("The service created the payment.");
      expect(text).toContain("A user of the service created the refund. By usr4411.");
      expect(await page.locator("time").first().getAttribute("title")).toBe("2024-03-05 09:14:22.018 UTC");
      await page.getByText("JSON", { exact: true }).click();
      expect(JSON.parse(await page.locator("details pre").innerText())).toMatchObject({ amount: 4250 });
      await context.grantPermissions(["clipboard-read", "clipboard-write"]);
      await view.click("Copy demo-success");
      expect(await page.evaluate("navigator.clipboard.readText()")).toBe("demo-success");
      await page.getByRole("slider").press("Home");
      await view.hasHeading("Created");
      await view.shows("This is the transaction as of 5 Mar 2024, 10:14:22");
      expect(await page.title()).toBe("Payment fishing-88 as of 5 Mar 2024, 10:14:22 – Payment ledger");
      // The slider keeps the focus.
      await page.keyboard.press("ArrowRight");
      await view.hasHeading("Started");
      expect(fragmentOf(page)).toContain("as_of=2024-03-05T09%3A15%3A02.000999Z");
      await page.reload();
      await view.hasHeading("Started");
      await page.getByRole("link", { name: "Show it as it is now" }).click();
      await view.hasHeading("Success");
      await view.rows("Refunds and disputes").getByRole("link").click();
      await view.hasHeading("-£10.00");
      await page.getByRole("link", { name: "demo-success" }).click();
      await view.hasHeading("£42.50");
      await page.getByRole("link", { name: "demo-payout" }).click();
      await view.hasHeading("£41.90");
      expect(view.problems).toEqual([]);
    });

    test("says why a payment failed, in the words of the provider", async () => {
      await using view = await openLedger("#/transactions?account_id=demo-shop&payment_states=declined");
      await view.rows("Transactions").first().getByRole("link").click();
      await view.shows(
        /Declined: (Insufficient funds|The card has expired|Do not honour)\s+Payment method rejected \(P0010\)\./,
        view.page.locator(".notice.failed"),
      );
    });

    test("explains a payout on one page: what it adds up from, what is missing, and its transactions", async () => {
      await using view = await openLedger("#/payouts?account_id=demo-shop");
      const { page } = view;
      await view.isLoaded();
      const row = view.rows("Payouts").filter({ hasText: "-£5.00" }).first();
      await row.getByRole("link").click();
      await view.shows(/Difference\s+-£5\.00/);
      await view.isLoaded();
      const lines = await page.locator(".sum tr").allInnerTexts();
      const amounts = lines.map((line) =>
        Math.round(100 * Number(line.replace(/^.*\t/s, "").replaceAll(/[£,]/g, ""))),
      );
      const [payments = 0, fees = 0, refunds = 0, disputes = 0, settles, paid = 0, difference] = amounts;
      expect(payments + fees + refunds + disputes).toBe(settles);
      expect(paid - (settles ?? 0)).toBe(difference);
      const payout = await page.title();
      const downloading = page.waitForEvent("download");
      await view.click("Download CSV");
      expect((await downloading).suggestedFilename()).toMatch(
        /^payout demo-shop-payout-.* \d{4}-\d\d-\d\dT\d{4}Z\.csv$/,
      );
      await view.rows("Transactions").first().getByRole("link").click();
      await view.hasHeading("Success");
      await page.getByRole("link", { name: /^demo-shop-payout-/ }).click();
      await eventually(async () => expect(await page.title()).toBe(payout));
      expect(view.problems).toEqual([]);
    });

    test("downloads all matches of a search as CSV, with the columns and in the form that are remembered", async () => {
      await using view = await openLedger(
        "#/transactions?account_id=demo-shop&state=success&period=last-year",
      );
      const { page } = view;
      const download = async () => {
        const downloading = page.waitForEvent("download");
        await view.click("Download CSV");
        const file = await downloading;
        return { name: file.suggestedFilename(), csv: await readFile(await file.path(), "utf8") };
      };
      await page.getByLabel("Period").selectOption("All time");
      await view.isLoaded();
      const usual = await download();
      const search = "/v1/transaction/?account_id=demo-shop&state=success&format=csv";
      expect(usual.csv).toBe(await (await read(search)).text());
      expect(usual.name).toMatch(/^transactions demo-shop \d{4}-\d\d-\d\dT\d{4}Z\.csv$/);
      await page.getByText("CSV options").click();
      for (const name of ["Fee", "Net", "Payout", "Settled Date", "Type", "Provider ID"])
        await page.getByRole("group", { name: "Columns" }).getByLabel(name, { exact: true }).check();
      await page.getByLabel("Separator").selectOption("Semicolon");
      await page.getByLabel("UTF-8 mark, for Excel").check();
      await page.reload();
      await view.isLoaded();
      const { csv } = await download();
      expect(csv.split("\n")[0]).toBe("\ufeffType;Fee;Net;Payout;Settled Date;Provider ID");
      // The newest payments are not captured yet, and so have no fee.
      expect(csv).toMatch(/^Payment;\d+\.\d\d;\d+\.\d\d;demo-shop-payout-/m);
      await view.goTo("#/transactions");
      await view.isLoaded();
      expect((await download()).csv.split("\n").length - 2).toBe(
        (await groupsOf("override_account_id_restriction=true")).groups[0]?.count,
      );
      expect(view.problems).toEqual([]);
    });

    test("counts the records of a CSV, not its lines", async () => {
      const details = {
        gateway_account_id: "lines",
        reference: "two\nlines",
        description: 'a "quoted"\n\nword',
      };
      const [event = {}] = story("payment", "lines1", ["00:00", "PAYMENT_CREATED", details]);
      await post(`${services.ledgerUrl}/v1/event`, event);
      await using view = await openLedger("#/transactions?account_id=lines");
      await view.click("Download CSV");
      await view.shows("Downloaded 1 transaction");
    });

    test("shows the figures of a month against the month before in two clicks", async () => {
      await using view = await openLedger("#/?account_id=demo-shop&time_zone=UTC");
      const { page } = view;
      await page.getByLabel("Period").selectOption("Last month");
      await view.isLoaded();
      const figures = await page.locator(".figures div").allInnerTexts();
      const groups = async (back: number) => {
        const from = new Date(`${thisMonth()}-01T00:00:00Z`);
        from.setUTCMonth(from.getUTCMonth() - back);
        const to = new Date(from);
        to.setUTCMonth(from.getUTCMonth() + 1);
        const period = `from_date=${new Date(+from - 1).toISOString().replace("Z", "999Z")}&to_date=${to.toISOString()}`;
        const search = `account_id=demo-shop&live=true&state=success&transaction_type=PAYMENT&${period}`;
        return (await groupsOf(search)).groups[0]?.gross_amount ?? 0;
      };
      const [received, before] = [await groups(1), await groups(2)];
      expect(figures[0]).toContain(`Received\n${pounds(received)}`);
      expect(figures[0]).toContain(before === 0 ? "Nothing before" : `% from ${pounds(before)}`);
      expect(figures.map((one) => one.split("\n")[0])).toEqual(["Received", "Refunded", "Fees", "Net"]);
    });

    test("shows payments by day, week or month and by state, and what needs attention", async () => {
      await using view = await openLedger("#/?account_id=demo-shop&period=last-30-days");
      const { page, rows } = view;
      await view.isLoaded();
      const shown = await rows("Payments by state").allInnerTexts();
      const list = await page.locator(".attention li").allInnerTexts();
      expect(list.filter((line) => /does not add up: -£5\.00/.test(line)).length).toBeGreaterThan(2);
      expect(list.join()).toMatch(/disputes? awaits? evidence/);
      expect(list.join()).toMatch(/2 messages could not be stored/);
      const bars = (name: RegExp) => page.getByRole("img", { name }).locator("rect");
      const days = await bars(/^Received of payments by day/).count();
      expect(days).toBeGreaterThan(20);
      await page.getByRole("combobox", { name: "By", exact: true }).selectOption("week");
      await eventually(async () => expect([5, 6]).toContain(await bars(/by week/).count()));
      await page.getByRole("combobox", { name: "Show", exact: true }).selectOption("Number");
      await page.getByRole("img", { name: /^Number of payments by week/ }).waitFor();
      expect(await rows("Payments by state").allInnerTexts()).toEqual(shown);
      await rows("Payments by state").first().getByRole("link").click();
      await view.hasHeading("Transactions");
      await view.isLoaded();
      const [, , payments] = shown[0]?.split("\t") ?? [];
      await view.shows(`${payments} transactions`);
    });

    test("unpaid payments are no money", async () => {
      const details = { gateway_account_id: "unpaid", amount: 10_000_000_000 };
      const [event = {}] = story("payment", "unpaid1", ["00:00", "PAYMENT_CREATED", details]);
      await post(`${services.ledgerUrl}/v1/event`, { ...event, live: true });
      await using view = await openLedger("#/?account_id=unpaid&period=any");
      await view.isLoaded();
      expect((await view.page.locator(".figures strong").allInnerTexts()).join()).toBe(
        "£0.00,£0.00,£0.00,£0.00",
      );
    });

    test("payments of odd years make no empty bars between them", async () => {
      for (const day of ["0001-01-01", "2026-01-01", "9999-12-01"]) {
        const [event = {}] = story("payment", `odd ${day}`, [
          "12:00",
          "PAYMENT_CREATED",
          { gateway_account_id: "odd" },
        ]);
        await post(`${services.ledgerUrl}/v1/event`, { ...event, timestamp: `${day}T12:00:00Z`, live: true });
      }
      await using view = await openLedger("#/?account_id=odd&period=any");
      await view.hasRows("Payments by state", [/Created\s+100%\s+3\s/]);
      const chart = view.page.getByRole("img", { name: /^Received of payments by month/ });
      expect(await chart.locator("text[text-anchor=middle]").count()).toBe(3);
      expect(view.problems).toEqual([]);
    });

    test("lists agreements, and shows one with its card, its payments and its events", async () => {
      await using view = await openLedger("#/agreements?account_id=demo");
      await view.hasRows("Agreements", [/parking-season.*Active/s]);
      await view.rows("Agreements").getByRole("link").click();
      await view.hasHeading(/Agreement parking-season\s+Active/);
      await view.shows(/visa •4242 11\/29/);
      await view.hasRows("Transactions", [/parking-3/, /parking-1/]);
      await view.shows("The service created the agreement.");
      expect(view.problems).toEqual([]);
    });

    test("says in a sentence how the intake is, and what to do about a dead letter", async () => {
      await using view = await openLedger("#/intake");
      await view.isLoaded();
      await view.shows(/2 messages of earlier need a decision/);
      const row = view.rows("Dead letters").filter({ hasText: "event_type is required" });
      const number = await row.getByRole("link").innerText();
      await row.getByRole("link").click();
      await view.hasHeading(`Dead letter ${number}`);
      await view.isLoaded();
      const text = await view.main.innerText();
      expect(text).toContain("event_type is required");
      expect(text).toContain(`npm run dead-letters -- discard ${number}`);
      await view.shows("(event_type is missing here)", view.page.locator("mark"));
      // It would fail again.
      expect(text).not.toContain("-- replay");
      expect(text).not.toContain("angler@example.org");
      await view.goTo("#/intake?state=discarded");
      await view.shows("There are no discarded dead letters.");
      expect(view.problems).toEqual([]);
    });

    test("shows which event of which resource a target has rejected, and why", async () => {
      // The target takes the second one, so that its freshness is shown, too.
      for (const id of ["unwelcome1", "welcome1"]) {
        const [event = {}] = story("payment", id, ["00:00", "PAYMENT_CREATED", {}]);
        await post(`${services.ledgerUrl}/v1/event`, event);
      }
      await using view = await openLedger("#/intake");
      await view.isLoaded();
      await view.hasRows("Events that wait for another attempt", [
        /^\d+\s+Payment unwelcome1\s+shop\s+the target responded with 422\s+\d+\s+\S/,
      ]);
      await view.hasRows("Targets", [/^shop\s+Healthy\s+.*\s+1$/]);
      const [half, most] = [String.raw`\d[\d.]* \w+`, String.raw`\d[\d.]* \w+`];
      await view.hasRows(
        "Freshness",
        ["Feed", "Lookup", "Report", "Target shop"].map(
          (name) => new RegExp(`^${name}\\s+${half}\\s+${most}\\s+[\\d,]+$`),
        ),
      );
      expect(view.problems).toEqual([]);
    });

    test("shows data as text, never as HTML, and each in its own direction", async () => {
      const html = "<img src=x onerror=alert(1)><script>alert(2)</script>";
      const texts = { reference: html, description: "\u202egnp.exe", external_metadata: { [html]: html } };
      const details = { gateway_account_id: "html", ...texts };
      const [event = {}] = story("payment", `html ${html}`, ["00:00", "PAYMENT_CREATED", details]);
      await post(`${services.ledgerUrl}/v1/event`, event);
      await using view = await openLedger("#/transactions?account_id=html");
      await view.page.getByRole("link", { name: html }).click();
      await view.isLoaded();
      await view.shows(html);
      expect(await view.page.locator("main img, main script").count()).toBe(0);
      const description = view.page.getByText("\u202egnp.exe");
      expect(await description.evaluate((element) => element.tagName)).toBe("BDI");
      expect(view.problems).toEqual([]);
    });

    test("a long text pushes no column away", async () => {
      const details = { gateway_account_id: "long", reference: "x".repeat(255), amount: 100 };
      const [event = {}] = story("payment", "long1", ["00:00", "PAYMENT_CREATED", details]);
      await post(`${services.ledgerUrl}/v1/event`, event);
      await using view = await openLedger("#/transactions?account_id=long");
      for (const width of [390, 768, 1280]) {
        await view.page.setViewportSize({ width, height: 900 });
        const amount = view.rows("Transactions").getByText("£1.00");
        const { x = 0, width: own = 0 } = (await amount.boundingBox()) ?? {};
        expect(x + own).toBeLessThanOrEqual(width);
        expect(await view.rows("Transactions").innerText()).toContain("Payment");
      }
    });

    test("names that every object has are texts like others, also in what the browser remembers", async () => {
      const [event = {}] = story("payment", "names1", [
        "00:00",
        "PAYMENT_CREATED",
        { gateway_account_id: "names" },
      ]);
      await post(`${services.ledgerUrl}/v1/event`, event);
      await using view = await openLedger(
        "#/transactions?account_id=names&live=constructor&period=constructor",
      );
      await view.hasRows("Transactions", 1);
      for (const remembered of ["null", '"text"', '{"columns":"toString","separator":"constructor"}']) {
        await view.page.evaluate(`localStorage.csv = ${JSON.stringify(remembered)}`);
        await view.page.reload();
        const downloading = view.page.waitForEvent("download");
        await view.click("Download CSV");
        expect(await readFile(await (await downloading).path(), "utf8")).toMatch(/^Reference,/);
      }
      expect(view.problems).toEqual([]);
      await view.goTo("#/transactions?account_id=names&state=constructor&transaction_type=constructor");
      for (const name of ["State: Constructor, remove", "Type: constructor, remove"])
        await view.page.getByRole("link", { name }).waitFor();
    });

    test("tells apart what is empty, missing, not valid and not reachable", async () => {
      await using view = await openLedger("#/transactions?account_id=nobody");
      const { page } = view;
      const notices = (kind: string, text: string) =>
        view.shows(text, page.locator(`.notice.${kind}`).first());
      await notices("empty", "No transaction matches");
      await view.goTo("#/transactions/unknown?gateway_account_id=demo");
      await notices("missing", "[unknown] not found");
      await view.goTo("#/transactions/demo-success?gateway_account_id=demo&as_of=yesterday");
      await notices("failed", "As of must be");
      await view.goTo("#/transactions?from_settled_date=yesterday");
      await notices("failed", "From settled date must be");
      await page.route("**/v1/**", (route) => route.abort());
      await view.goTo("#/transactions?account_id=demo");
      await notices("failed", "The service cannot be reached");
      await page.unroute("**/v1/**");
      await page.getByRole("button", { name: "Try again" }).first().click();
      await view.hasRows("Transactions", 6);
      await page.getByRole("link", { name: "parking-3" }).first().waitFor();
    });
  });

  describe("of services that require tokens", () => {
    let issuer: Awaited<ReturnType<typeof openIssuer>>;
    let guarded: Services;
    beforeAll(async () => {
      issuer = resources.use(await openIssuer());
      const env = Object.entries(issuer.settings).map(([name, value]) => [name, String(value)]);
      guarded = resources.use(await startServices(Object.fromEntries(env)));
      const payments = ["57", "58"].flatMap((account) => {
        const details = { gateway_account_id: account, amount: 100, reference: `of ${account}` };
        return story("payment", `pay${account}`, ["09:14:22.018", "PAYMENT_CREATED", details]);
      });
      const lines = payments.map((event) => JSON.stringify(event)).join("\n");
      await guarded.run("src/ledger/commands/send-events.ts", ["-"], lines);
    }, 2 * pageMaxMs);

    test("the page requires one, keeps it in memory only, and shows what it allows", async () => {
      await using view = await openConsole(guarded.ledgerUrl, "#/transactions");
      const { page } = view;
      const forbids = (text: string) => view.shows(text, page.locator(".notice.forbidden"));
      await page.getByLabel("Token").waitFor();
      expect(await view.faults()).toEqual([]);
      expect(await view.navigation()).toEqual([]);
      await view.useToken("nonsense");
      await page.getByText("This is no access token").waitFor();
      await view.useToken(await issuer.sign({ scope: "ledger:read", exp: 1 }));
      await page.getByText("the token has expired").waitFor();
      await view.useToken(await issuer.sign({ scope: "ledger:read", accounts: ["57"] }));
      await view.hasRows("Transactions", [/of 57/]);
      expect(await view.navigation()).toEqual(["Overview", "Transactions", "Payouts", "Agreements"]);
      await view.goTo("#/transactions?account_id=58");
      await forbids("You may see only the accounts 57");
      await view.goTo("#/intake");
      await forbids("ledger:operate");
      expect(await view.faults()).toEqual([]);
      // Nobody signs in without an issuer.
      const loaded = "performance.getEntriesByType('resource').map(({ name }) => name).join()";
      expect(await page.evaluate(loaded)).not.toContain("sign-in.js");
      const stored = "[localStorage.length, sessionStorage.length, document.cookie]";
      expect(await page.evaluate(stored)).toEqual([0, 0, ""]);
      await page.reload();
      await page.getByLabel("Token").waitFor();
    });

    test("finds a transaction by its id in each account of the token", async () => {
      await using view = await openConsole(guarded.ledgerUrl, "#/transactions/pay58");
      await view.useToken(await issuer.sign({ scope: "ledger:read", accounts: ["57", "58"] }));
      await view.shows("Payment of 58");
      await view.goTo("#/transactions/pay59");
      await view.shows("No transaction found");
      // The browser reports each 404 of the service.
      expect(view.problems.filter((problem) => !/404/.test(problem))).toEqual([]);
    });

    test("a token for operators leads to the intake alone, and one for every account to all", async () => {
      await using view = await openConsole(guarded.ledgerUrl);
      await view.useToken(await issuer.sign({ scope: "ledger:operate" }));
      await view.hasHeading("Intake");
      expect(await view.navigation()).toEqual(["Intake"]);
      await view.click("Sign out");
      await view.useToken(await issuer.sign({ scope: "ledger:read:all" }));
      await view.page.getByRole("link", { name: "Transactions", exact: true }).click();
      await view.hasRows("Transactions", [/of 58/, /of 57/]);
      // Nothing that it has shown is left for another token.
      await view.click("Sign out");
      await view.useToken(await issuer.sign({ scope: "ledger:read", accounts: ["58"] }));
      await view.hasRows("Transactions", [/of 58/]);
    });

    test("a token that cannot write is not offered changes", async () => {
      await using view = await openConsole(guarded.featuresUrl, "#/resources/customer/42");
      await view.useToken(await issuer.sign({ scope: "features:read" }));
      await view.shows("No features yet.");
      expect(await view.page.getByLabel("Feature to add").count()).toBe(0);
      await view.click("Sign out");
      await view.useToken(await issuer.sign({ scope: "features:read features:write" }));
      await view.fill("Feature to add", "dark-mode");
      await view.click("Add");
      await view.page.getByRole("dialog").getByRole("button", { name: "Add" }).click();
      await view.hasRows("Features", 1);
      await view.page.getByRole("button", { name: "Remove dark-mode" }).waitFor();
    });
  });
});
