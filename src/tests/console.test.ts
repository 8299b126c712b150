import { mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import type { BrowserContext, Locator, Page } from "playwright-core";
import { request } from "undici";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { describeInBrowser, launchBrowser, openPage, pageMaxMs } from "../../testing/browser.ts";
import { eventually } from "../../testing/eventually.ts";
import { openIssuer } from "../../testing/issuer.ts";
import { story } from "../../testing/messages.ts";
import { type Services, startServices } from "../../testing/services.ts";
import { openWebhook } from "../../testing/webhook.ts";

/** The folder for screenshots. Default: there are none. */
const screenshotFolder = process.env.CONSOLE_SCREENSHOTS;
/** The views of which the README has a screenshot. */
const inReadme = ["overview", "payment", "transactions", "intake", "resource", "features"];

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

  /** Opens a view of a console. */
  async function openConsole(origin: string, fragment = "") {
    const opened = await openPage(context, origin, `/console${fragment}`);
    const { page } = opened;
    const heading = page.getByRole("heading", { level: 1 });
    const main = page.locator("main");
    const rows = (name: string) => page.getByRole("region", { name, exact: true }).locator("tbody tr");
    const shows = (text: string | RegExp, place = main) =>
      eventually(async () => expect(await place.innerText()).toMatch(text));
    return {
      ...opened,
      heading,
      main,
      rows,
      /** Waits until a place has this text. */
      shows,
      hasHeading: (text: string | RegExp) => shows(text, heading),
      /** Waits until a table has as many rows, or rows with these texts in order. */
      hasRows: (name: string, expected: number | (string | RegExp)[]) =>
        eventually(async () => {
          if (typeof expected === "number") return expect(await rows(name).count()).toBe(expected);
          const texts = await rows(name).allInnerTexts();
          expect(texts).toEqual(expected.map((text) => expect.stringMatching(text)));
        }),
      linksIn: (name: string) => rows(name).getByRole("link").allInnerTexts(),
      click: (name: string) => page.getByRole("button", { name, exact: true }).click(),
      fill: (label: string, text: string) => page.getByLabel(label, { exact: true }).fill(text),
      goTo: (place: string) => page.goto(`${origin}/console${place}`),
      isLoaded: () =>
        eventually(async () => {
          expect(await page.locator("main h1").count()).toBe(1);
          expect(await page.locator(".loading, [aria-busy=true]").count()).toBe(0);
        }),
      async useToken(token: string) {
        await page.getByLabel("Token").fill(token);
        await page.getByRole("button", { name: "Use token" }).click();
      },
      navigation: () => page.getByRole("navigation", { name: "Console" }).getByRole("link").allInnerTexts(),
    };
  }
  const openLedger = (fragment = "") => openConsole(services.ledgerUrl, fragment);
  const openFeatures = (fragment = "") => openConsole(services.featuresUrl, fragment);

  const isFocused = (locator: Locator) => locator.evaluate((element) => element.matches(":focus"));
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
    ["ledger", "transactions", "#/transactions?account_id=demo-shop"],
    ["ledger", "payment", "#/transactions/demo-success?account_id=demo"],
    ["ledger", "earlier payment", "#/transactions/demo-success?account_id=demo&as_of=2024-03-05T09:16:00Z"],
    ["ledger", "dispute", "#/transactions/demo-dispute?account_id=demo"],
    ["ledger", "intake", "#/intake"],
    ["ledger", "dead-letter", "#/intake/1"],
    ["ledger", "missing", "#/transactions/unknown"],
    ["ledger", "nothing", "#/nothing"],
    ["features", "features", "#/?from=oldest"],
    ["features", "resource", "#/resources/customer/1"],
    ["features", "feature", "#/features/customer/dark-mode"],
  ])(
    "every view: %s %s is readable in both colour modes, from 360 to 1920 pixels",
    async (service, name, fragment) => {
      await using view = await (service === "ledger" ? openLedger(fragment) : openFeatures(fragment));
      const { page, problems } = view;
      await view.isLoaded();
      await view.isReadable([360, 800, 1280, 1920]);
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
    test("searches with the form; the address bar is the search, and going back keeps it", async () => {
      await using view = await openLedger("#/transactions");
      const { page, heading, rows } = view;
      await view.fill("Accounts", "demo");
      await view.fill("Reference", "fishing");
      await view.fill("Created after", "2024-03-05T00:00:00");
      const reference = page.getByLabel("Reference", { exact: true });
      await reference.press("Enter");
      await view.hasRows("Transactions", [
        /5 Mar 2024, 12:00:00\s+fishing-88\s+Refund.*Success\s+£10\.00/s,
        /5 Mar 2024, 10:14:22\s+fishing-88\s+Payment.*Success\s+£42\.50/s,
      ]);
      expect(await isFocused(heading)).toBe(true);
      const parameters = new URLSearchParams(fragmentOf(page).split("?")[1]);
      expect(Object.fromEntries(parameters)).toEqual({
        account_id: "demo",
        reference: "fishing",
        from_date: "2024-03-04T23:00:00.000Z",
      });
      await rows("Transactions").last().getByRole("link").click();
      await view.hasHeading("Payment fishing-88");
      expect(await isFocused(heading)).toBe(true);
      await page.goBack();
      await view.hasRows("Transactions", 2);
      expect(await reference.inputValue()).toBe("fishing");
      expect(await page.getByLabel("Created after").inputValue()).toMatch(/^2024-03-05T00:00/);
      expect(view.problems).toEqual([]);
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
      await using view = await openLedger(`#/transactions?account_id=demo&${search}`);
      await view.isLoaded();
      expect(await view.linksIn("Transactions")).toEqual(references);
      await view.click("Search");
      await view.isLoaded();
      const sorted = (parameters: string) => [...new URLSearchParams(parameters)].map(String).toSorted();
      expect(sorted(fragmentOf(view.page).split("?")[1] ?? "")).toEqual(sorted(`account_id=demo&${search}`));
    });

    test("pages by cursor without losing the place", async () => {
      await using view = await openLedger("#/transactions?account_id=demo-shop");
      const { page } = view;
      const rows = view.rows("Transactions");
      const isOnPage = (number: number) => view.shows(new RegExp(`transactions, page ${number}`));
      await isOnPage(1);
      const first = await rows.allInnerTexts();
      expect(first).toHaveLength(50);
      await view.click("Next page");
      await isOnPage(2);
      const second = await rows.allInnerTexts();
      expect(second.filter((row) => first.includes(row))).toEqual([]);
      await rows.nth(40).getByRole("link").scrollIntoViewIfNeeded();
      const scrolled = await page.evaluate<number>("scrollY");
      expect(scrolled).toBeGreaterThan(500);
      await rows.nth(40).getByRole("link").click();
      await view.hasHeading("SHOP-");
      await view.isLoaded();
      await page.goBack();
      await isOnPage(2);
      expect(await rows.allInnerTexts()).toEqual(second);
      await eventually(async () => expect(await page.evaluate("scrollY")).toBe(scrolled));
      await view.click("Previous page");
      await eventually(async () => expect(await rows.allInnerTexts()).toEqual(first));
      await page.reload();
      await view.hasRows("Transactions", 50);
    });

    test("shows a payment, its events in words, its refund, its payout and, by keyboard, an earlier state", async () => {
      await using view = await openLedger("#/transactions/demo-success?account_id=demo");
      const { page } = view;
      await view.isLoaded();
      const text = await view.main.innerText();
      expect(text).toContain("£42.50");
      expect(text).toContain("The service created the payment.");
      expect(text).toContain("A user of the service created the refund. By usr4411.");
      expect(text).toContain("Refund demo-refund");
      expect(text).toContain("£41.90, adds up");
      expect(await page.locator("time").first().getAttribute("title")).toBe("2024-03-05 09:14:22.018 UTC");
      await page.getByText("JSON", { exact: true }).click();
      expect(JSON.parse(await page.locator("details pre").innerText())).toMatchObject({ amount: 4250 });
      await page.getByRole("slider").press("Home");
      await view.hasHeading("Created");
      // The slider keeps the focus.
      await page.keyboard.press("ArrowRight");
      await view.hasHeading("Started");
      expect(fragmentOf(page)).toContain("as_of=2024-03-05T09%3A15%3A02.000999Z");
      await page.reload();
      await view.hasHeading("Started");
      await view.click("Back to now");
      await view.hasHeading("Success");
      await page.getByRole("link", { name: "Refund demo-refund" }).click();
      await view.hasHeading("Refund fishing-88");
      await page.getByRole("link", { name: "demo-success" }).click();
      await view.hasHeading("Payment fishing-88");
      expect(view.problems).toEqual([]);
    });

    test("downloads all matches of a search as CSV", async () => {
      await using view = await openLedger("#/transactions?account_id=demo-shop&state=success");
      const downloading = view.page.waitForEvent("download");
      await view.click("Download CSV");
      const csv = await readFile(await (await downloading).path(), "utf8");
      const search = "/v1/transaction/?account_id=demo-shop&state=success&format=csv";
      expect(csv).toBe(await (await read(search)).text());
      expect(view.problems).toEqual([]);
    });

    test("shows payments by day and state, today against last week, and payouts that do not add up", async () => {
      await using view = await openLedger("#/?account_id=demo-shop");
      const { page, rows } = view;
      await view.isLoaded();
      const groupsBy = async (names: string) => {
        const search = `account_id=demo-shop&group_by=${names}&transaction_type=PAYMENT&time_zone=Europe/Paris`;
        return (await (await read(`/v1/report/transactions?${search}`)).json()) as {
          groups: { count: number }[];
        };
      };
      const shown = await rows("Payments by state").allInnerTexts();
      expect(shown.map((row) => Number(row.split("\t")[1])).toSorted()).toEqual(
        (await groupsBy("state")).groups.map(({ count }) => count).toSorted(),
      );
      const bars = page.getByRole("img", { name: /^Number of payments/ }).locator("rect");
      expect(await bars.count()).toBe((await groupsBy("day,state")).groups.length);
      await page.getByLabel("Amount", { exact: true }).check();
      await page.getByRole("img", { name: /^Amount of payments/ }).waitFor();
      expect(await rows("Today against the same day last week").count()).toBe(3);
      await view.click("Check older payouts");
      await page.getByText(/of the newest 2[89] payouts/).waitFor();
      const payouts = await rows("Payouts that do not add up").allInnerTexts();
      // Each tenth day has one.
      expect([2, 3]).toContain(payouts.length);
      for (const payout of payouts) expect(payout).toMatch(/-£5\.00$/);
    });

    test("shows the intake, and a dead letter with masked data and the outcome of a replay", async () => {
      await using view = await openLedger("#/intake");
      await view.isLoaded();
      await view.shows(/Open dead letters\s+2/);
      await view.shows("Rate in that minute");
      const row = view.rows("Dead letters").filter({ hasText: "event_type is required" });
      const number = await row.getByRole("link").innerText();
      await row.getByRole("link").click();
      await view.hasHeading(`Dead letter ${number}`);
      await view.isLoaded();
      const text = await view.main.innerText();
      expect(text).toContain("event_type is required");
      expect(text).toContain("A replay would leave it as it is.");
      expect(text).toContain(`npm run dead-letters -- replay ${number}`);
      expect(text).not.toContain("angler@example.org");
      await view.goTo("#/intake?state=discarded");
      await view.shows("There are no discarded dead letters.");
      expect(view.problems).toEqual([]);
    });

    test("shows which event of which resource a target has rejected, and why", async () => {
      const [event = {}] = story("payment", "unwelcome1", ["00:00", "PAYMENT_CREATED", {}]);
      await post(`${services.ledgerUrl}/v1/event`, event);
      await using view = await openLedger("#/intake");
      await view.isLoaded();
      await view.hasRows("Events that wait for another attempt", [
        /^\d+\s+Payment unwelcome1\s+shop\s+the target responded with 422\s+\d+\s+\S/,
      ]);
      await view.hasRows("Targets", [/^shop\s+Healthy\s+.*\s+1$/]);
      expect(view.problems).toEqual([]);
    });

    test("shows data as text, never as HTML", async () => {
      const html = "<img src=x onerror=alert(1)><script>alert(2)</script>";
      const texts = { reference: html, description: html, external_metadata: { [html]: html } };
      const details = { gateway_account_id: "html", ...texts };
      const [event = {}] = story("payment", `html ${html}`, ["00:00", "PAYMENT_CREATED", details]);
      await post(`${services.ledgerUrl}/v1/event`, event);
      await using view = await openLedger("#/transactions?account_id=html");
      await view.page.getByRole("link", { name: html }).click();
      await view.heading.getByText(html).waitFor();
      await view.isLoaded();
      expect(await view.page.locator("main img, main script").count()).toBe(0);
      expect(view.problems).toEqual([]);
    });

    test("tells apart what is empty, missing, not valid and not reachable", async () => {
      await using view = await openLedger("#/transactions?account_id=nobody");
      const { page } = view;
      const notices = (kind: string, text: string) =>
        view.shows(text, page.locator(`.notice.${kind}`).first());
      await notices("empty", "No transaction matches");
      await view.goTo("#/transactions/unknown?account_id=demo");
      await notices("missing", "[unknown] not found");
      await view.goTo("#/transactions?from_date=yesterday");
      await notices("failed", "from_date");
      await page.route("**/v1/**", (route) => route.abort());
      await view.goTo("#/transactions?account_id=demo");
      await notices("failed", "The service cannot be reached");
      await page.unroute("**/v1/**");
      await view.click("Try again");
      await view.hasRows("Transactions", 6);
      await page.getByRole("link", { name: "parking-3" }).first().waitFor();
    });
  });

  describe("of the feature storage", () => {
    test("adds and removes a feature after a confirmation, and shows the history", async () => {
      await using view = await openFeatures("#/");
      const { page } = view;
      const dialog = page.getByRole("dialog");
      const answer = (name: string) => dialog.getByRole("button", { name }).click();
      const form = page.locator("form").first();
      await form.getByLabel("Kind of resource").fill("customer");
      await form.getByLabel("Id").fill("a/b <i>");
      await view.click("Open a resource");
      await view.hasHeading(/^customer a\/b <i>$/);
      await view.shows("This resource has no features.");
      await view.fill("Feature to add", "dark mode");
      await page.getByLabel("Expires").fill("2037-03-05T10:14:22");
      await page.getByLabel("Feature to add").press("Enter");
      await view.shows("Add dark mode to customer a/b <i>?", dialog);
      expect(await view.faults()).toEqual([]);
      await page.keyboard.press("Escape");
      await dialog.waitFor({ state: "hidden" });
      expect(await view.rows("Features").count()).toBe(0);
      await page.getByLabel("Feature to add").press("Enter");
      await dialog.getByRole("button", { name: "Add" }).press("Enter");
      await view.hasRows("Features", [/dark mode\s+5 Mar 2037, 10:14:22/]);
      await view.click("Remove dark mode");
      await answer("Remove");
      await view.hasRows("History", [/Removed\s+dark mode/, /Added\s+dark mode\s+5 Mar 2037/]);
      await view.fill("Feature to add", "late");
      await page.getByLabel("Expires").fill("2020-01-01T00:00:00");
      await view.click("Add");
      await answer("Add");
      await view.shows("must be in the future", dialog);
      await answer("Cancel");
      expect(view.problems.filter((problem) => !/400/.test(problem))).toEqual([]);
    });

    test("shows the resources of a feature by pages, and their number", async () => {
      const feature = { type: "add", resource: "device", feature: "fast" };
      const changes = Array.from({ length: 60 }, (_, index) => ({ ...feature, id: `d${index}` }));
      await post(`${services.featuresUrl}/changes`, { changes });
      await using view = await openFeatures("#/features/device/fast");
      await view.page.getByText("60 resources have this feature.").waitFor();
      const first = await view.rows("Resources").allInnerTexts();
      await view.click("Next page");
      await view.hasRows("Resources", 10);
      const second = await view.rows("Resources").allInnerTexts();
      expect(new Set([...first, ...second]).size).toBe(60);
      await view.rows("Resources").first().getByRole("link").click();
      await view.hasHeading(/^device d/);
    });

    test("shows changes as they happen, and misses none while it is paused", async () => {
      await using view = await openFeatures("#/");
      const add = (feature: string) => post(`${services.featuresUrl}/features/stream/1/${feature}`);
      await view.page.getByText("Live", { exact: true }).waitFor();
      await add("one");
      await view.hasRows("Changes", 1);
      await view.click("Pause");
      await view.page.getByText("Paused", { exact: true }).waitFor();
      await add("two");
      await view.click("Resume");
      await view.hasRows("Changes", [/two/, /one/]);
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
      expect(await view.navigation()).toEqual(["API"]);
      await view.useToken("nonsense");
      await page.getByText("this is not a JWT").waitFor();
      await view.useToken(await issuer.sign({ scope: "ledger:read", exp: 1 }));
      await page.getByText("the token has expired").waitFor();
      await view.useToken(await issuer.sign({ scope: "ledger:read", accounts: ["57"] }));
      await view.hasRows("Transactions", [/of 57/]);
      expect(await view.navigation()).toEqual(["Overview", "Transactions", "API"]);
      await view.goTo("#/transactions?account_id=58");
      await forbids("58");
      await view.goTo("#/intake");
      await forbids("ledger:operate");
      expect(await view.faults()).toEqual([]);
      const stored = "[localStorage.length, sessionStorage.length, document.cookie]";
      expect(await page.evaluate(stored)).toEqual([0, 0, ""]);
      await page.reload();
      await page.getByLabel("Token").waitFor();
    });

    test("a token for operators leads to the intake alone, and one for every account to all", async () => {
      await using view = await openConsole(guarded.ledgerUrl);
      await view.useToken(await issuer.sign({ scope: "ledger:operate" }));
      await view.hasHeading("Intake");
      expect(await view.navigation()).toEqual(["Intake", "API"]);
      await view.click("Forget token");
      await view.useToken(await issuer.sign({ scope: "ledger:read:all" }));
      await view.page.getByRole("link", { name: "Transactions", exact: true }).click();
      await view.hasRows("Transactions", [/of 58/, /of 57/]);
      // Nothing that it has shown is left for another token.
      await view.click("Forget token");
      await view.useToken(await issuer.sign({ scope: "ledger:read", accounts: ["58"] }));
      await view.hasRows("Transactions", [/of 58/]);
    });

    test("a token that cannot write is not offered changes", async () => {
      await using view = await openConsole(guarded.featuresUrl, "#/resources/customer/42");
      await view.useToken(await issuer.sign({ scope: "features:read" }));
      await view.shows("This resource has no features.");
      expect(await view.page.getByLabel("Feature to add").count()).toBe(0);
      await view.click("Forget token");
      await view.useToken(await issuer.sign({ scope: "features:read features:write" }));
      await view.fill("Feature to add", "dark-mode");
      await view.click("Add");
      await view.page.getByRole("dialog").getByRole("button", { name: "Add" }).click();
      await view.hasRows("Features", 1);
      await view.page.getByRole("button", { name: "Remove dark-mode" }).waitFor();
    });
  });
});
