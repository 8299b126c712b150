import type { BrowserContext, Page } from "playwright-core";
import { request } from "undici";
import { afterAll, beforeAll, expect, test } from "vitest";
import { describeInBrowser, launchBrowser, pageMaxMs } from "../../testing/browser.ts";
import { isFocused, openConsole } from "../../testing/console-page.ts";
import { eventually } from "../../testing/eventually.ts";
import type { TestServer } from "../../testing/servers/server.ts";
import { startService } from "../../testing/services.ts";
import { type FeaturesClient, featuresClient } from "../client/client.ts";

/** Decoded bytes of the page, its script and its styles. */
const pageBytesMax = 70_000;

describeInBrowser("the console of the feature storage", () => {
  const resources = new AsyncDisposableStack();
  let service: TestServer;
  let client: FeaturesClient;
  let context: BrowserContext;
  beforeAll(async () => {
    service = resources.use(await startService("features", { env: { FEATURES_STORE_URL: "memory:" } }));
    client = featuresClient({ baseUrl: service.url });
    const browser = resources.adopt(await launchBrowser(), (opened) => opened.close());
    context = await browser.newContext({ timezoneId: "Europe/Paris", locale: "en-GB" });
    await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  }, 2 * pageMaxMs);
  afterAll(() => resources.disposeAsync());

  const open = (fragment = "#/") => openConsole(context, service.url, fragment);
  /** Adds a feature to ids of a kind. */
  async function add(resource: string, feature: string, ids: string[]): Promise<void> {
    for (let begin = 0; begin < ids.length; begin += 1000) {
      const some = ids.slice(begin, begin + 1000);
      await client.changeFeatures({
        body: { changes: some.map((id) => ({ type: "add" as const, resource, id, feature })) },
      });
    }
  }
  const numbers = (count: number) => Array.from({ length: count }, (_, index) => String(index + 1));
  /** Pastes a text into the focused field. Playwright's `fill` of many lines takes minutes. */
  async function paste(page: Page, text: string): Promise<void> {
    await page.evaluate(`navigator.clipboard.writeText(${JSON.stringify(text)})`);
    await page.keyboard.press("Control+V");
  }
  const nameOf = (text: string) => `\u2068${text}\u2069`;

  test("an empty one says what fills it, and opens a new resource by its kind and id", async () => {
    await using empty = await startService("features", { env: { FEATURES_STORE_URL: "memory:" } });
    await using view = await openConsole(context, empty.url);
    await view.shows("Nothing is stored yet. npm run demo fills it with examples.");
    await view.shows("Nothing has changed yet.");
    expect(await view.faults()).toEqual([]);
    const search = view.page.getByRole("searchbox");
    await search.fill("customer a/b <i>");
    await search.press("Enter");
    await view.hasHeading(/^customer a\/b <i>$/);
    await view.shows("No features yet. Add the first one below.");
    expect(view.problems).toEqual([]);
  });

  test("opens with the kinds, the features in use with their numbers, and the last 50 changes, then those that happen", async () => {
    await add("shop", "vouchers", numbers(3));
    await add("shop", "credit", numbers(70));
    await using view = await open();
    const { page } = view;
    await view.hasRows(`Features of ${nameOf("shop")}`, [/^credit\s+70$/, /^vouchers\s+3$/]);
    await view.hasRows("Changes", 50);
    await page.getByText("Live", { exact: true }).waitFor();
    await add("stream", "one", ["1"]);
    await view.hasRows("Changes", 51);
    await view.click("Pause");
    await page.getByText("Paused", { exact: true }).waitFor();
    await add("stream", "two", ["1"]);
    await view.click("Resume");
    await eventually(async () => {
      const [first = "", second = ""] = await view.rows("Changes").allInnerTexts();
      expect([first, second]).toEqual([
        expect.stringMatching(/Added\s+two\s+stream 1/),
        expect.stringMatching(/one/),
      ]);
    });
    await view
      .rows(`Features of ${nameOf("shop")}`)
      .getByRole("link", { name: "vouchers" })
      .click();
    await view.shows("In use by 3.");
    await page.getByRole("link", { name: "shop", exact: true }).click();
    await view.hasHeading("shop");
    await view.fill(`Id of a ${nameOf("shop")}`, " 2 ");
    await page.keyboard.press("Enter");
    await view.hasRows("Features", [/vouchers\s+Never/, /credit/]);
    await view.hasRows("History", [/Added\s+credit/, /Added\s+vouchers/]);
    expect(view.problems).toEqual([]);
  });

  test("finds features and kinds as one types, by keyboard, among 10,000", async () => {
    const many = numbers(10_000).map((number) => `flag-${number}`);
    for (let begin = 0; begin < many.length; begin += 1000) {
      const changes = many.slice(begin, begin + 1000).map((feature, index) => {
        const id = `${begin + index}`;
        return { type: "add" as const, resource: "device", id, feature };
      });
      await client.changeFeatures({ body: { changes } });
    }
    await using view = await open();
    const { page } = view;
    const label = `Features of ${nameOf("device")}`;
    await view.hasRows(label, 5);
    await view.shows("5 of 10,000. All features");
    await view.isReadable([390, 768, 1280]);
    const search = page.getByRole("searchbox");
    await search.pressSequentially("DEVICE flag-77");
    await view.shows("111 found.");
    await view.hasRows(label, 50);
    await search.pressSequentially("77");
    await view.hasRows(label, [/^flag-7777\s+1$/]);
    expect(await isFocused(search)).toBe(true);
    await search.fill("flag-7777");
    await view.hasRows(label, 1);
    await search.press("Enter");
    await view.hasHeading("flag-7777");
    await page.goBack();
    expect(await search.inputValue()).toBe("flag-7777");
    await search.fill("device 7776");
    await view.shows("Open device 7776.");
    await search.press("Enter");
    await view.hasHeading("device 7776");
    await view.goTo("#/features/device");
    await view.hasRows(label, 100);
    await view.click("Next page");
    await eventually(async () => expect(await view.linksIn(label)).toContain("flag-109"));
    expect(view.problems).toEqual([]);
  });

  test("trims a name in sight, and offers one in use that is nearly the same", async () => {
    await add("person", "dark-mode", ["1"]);
    await add("person", "flow-1", ["1"]);
    await using view = await open("#/resources/person/42");
    const { page } = view;
    const field = page.getByLabel("Feature to add");
    const offer = page.getByRole("button", { name: "dark-mode", exact: true });
    await view.fill("Feature to add", "dark-mode ");
    await view.shows("Without the spaces at its ends: dark-mode.");
    expect(await offer.count()).toBe(0);
    for (const near of ["Dark-mode", "darkmode", "dark-mdoe", "dark-modes "]) {
      await field.fill(near);
      await view.shows(/Did you mean\s+dark-mode\s*\?/);
      expect([near, await offer.count()]).toEqual([near, 1]);
    }
    expect(await view.faults()).toEqual([]);
    for (const other of ["flow-2", "invoices"]) {
      await field.fill(other);
      await view.shows("This name is not in use yet.");
    }
    await field.fill(" Dark mode");
    await offer.click();
    expect(await field.inputValue()).toBe("dark-mode");
    await field.press("Enter");
    await page.getByRole("dialog").getByRole("button", { name: "Add" }).press("Enter");
    await view.hasRows("Features", [/^dark-mode\s+Never/]);
    expect(await client.listFeatures({ resource: "person", id: "42" })).toEqual(["dark-mode"]);
    expect(view.problems).toEqual([]);
  });

  test("adds and removes a feature after a confirmation, and shows the history", async () => {
    await using view = await open("#/resources/member/7");
    const { page } = view;
    const dialog = page.getByRole("dialog");
    await view.fill("Feature to add", "dark mode");
    await page.getByLabel("Expires").fill("2037-03-05T10:14:22");
    await page.getByLabel("Feature to add").press("Enter");
    await view.shows(`Add ${nameOf("dark mode")} to ${nameOf("member")} ${nameOf("7")}?`, dialog);
    expect(await view.faults()).toEqual([]);
    await page.keyboard.press("Escape");
    // A closed dialog has no role, so the element itself is awaited.
    await page.locator("dialog").waitFor({ state: "detached" });
    await page.getByLabel("Feature to add").press("Enter");
    await dialog.getByRole("button", { name: "Add" }).press("Enter");
    await view.hasRows("Features", [/dark mode\s+5 Mar 2037, 10:14:22/]);
    expect(await page.getByLabel("Feature to add").inputValue()).toBe("");
    await view.click("Remove dark mode");
    await dialog.getByRole("button", { name: "Remove" }).click();
    await view.hasRows("History", [/Removed\s+dark mode/, /Added\s+dark mode\s+5 Mar 2037/]);
    await page.getByLabel("Expires").fill("2020-01-01T00:00:00");
    await view.fill("Feature to add", "late");
    await view.click("Add");
    await dialog.getByRole("button", { name: "Add" }).click();
    await view.shows("must be in the future", dialog);
    await dialog.getByRole("button", { name: "Cancel" }).click();
    // The form takes a day only in the way that it shows.
    await page.getByLabel("Expires").fill("next week");
    await view.click("Add");
    expect(await page.getByLabel("Expires").evaluate((field) => field.matches(":user-invalid"))).toBe(true);
    expect(view.problems.filter((problem) => !/400/.test(problem))).toEqual([]);
  });

  test("shows names of any form as they are", async () => {
    const odd = ["<img src=x onerror=alert(1)>", "مرحبا 1", " spaced ", "a/b%2F"];
    for (const feature of odd) await add("odd <b>", feature, [`id ${feature}`]);
    await using view = await open("#/features/odd%20%3Cb%3E");
    await eventually(async () =>
      expect((await view.linksIn(`Features of ${nameOf("odd <b>")}`)).sort()).toEqual(
        odd.map((name) => name.replaceAll(/^ | $/g, "␣")).sort(),
      ),
    );
    expect(await view.page.locator("main th bdi").count()).toBe(odd.length);
    expect(view.problems).toEqual([]);
  });

  test("adds a feature to the ids of a pasted list, after a preview", async () => {
    await add("account", "beta", ["1", "2"]);
    await add("account", "other", ["full"]);
    await using view = await open("#/features/account/beta");
    const { page } = view;
    await page.getByText("Add to many", { exact: true }).click();
    const box = page.getByLabel("Ids, one a line");
    const button = page.locator("form button");
    expect(await button.isDisabled()).toBe(true);
    const lines = ["1", " 3 ", "4,5\t6", "", "3", "x".repeat(257), ...numbers(250).map((one) => `n${one}`)];
    await box.focus();
    await paste(page, lines.join("\r\n"));
    await view.shows(
      /Will get it\s+254\s+Have it already, stay as they are\s+1\s+Repeated\s+1\s+Not valid, left out\s+1/,
    );
    await view.shows(/Line 6: x+\. It is longer than 256 characters\./);
    expect(await view.faults()).toEqual([]);
    await page.getByRole("button", { name: "Add to 254" }).press("Enter");
    await view.shows("Added to 254.");
    await view.shows("In use by 256.");
    expect(await box.inputValue()).toBe("");
    await box.focus();
    await paste(page, numbers(10_001).join("\n"));
    await view.shows("These are 10,001 ids. Add at most 10,000 at a time.");
    expect(await button.isDisabled()).toBe(true);
    expect(view.problems.filter((problem) => !/400/.test(problem))).toEqual([]);
  });

  test("a list with a resource that can have no more features says so", async () => {
    const changes = numbers(1000).map((number) => ({
      ...{ type: "add" as const, resource: "account", id: "crowded" },
      feature: `f${number}`,
    }));
    await client.changeFeatures({ body: { changes } });
    await using view = await open("#/features/account/beta");
    await view.page.getByText("Add to many", { exact: true }).click();
    await view.page.getByLabel("Ids, one a line").fill("crowded");
    await view.page.getByRole("button", { name: "Add to 1" }).click();
    await view.shows(/Not all were added: .*more than 1,000 features/);
  });

  test("a list that fails halfway is continued by the same button", async () => {
    await add("user", "beta", ["1"]);
    await using view = await open("#/features/user/beta");
    const { page } = view;
    await page.getByText("Add to many", { exact: true }).click();
    await page.getByLabel("Ids, one a line").focus();
    await paste(page, numbers(250).join("\n"));
    let posts = 0;
    await page.route("**/changes", (route) => (++posts > 1 ? route.abort() : route.continue()));
    await page.getByRole("button", { name: "Add to 249" }).click();
    await view.shows("Not all were added");
    await page.unroute("**/changes");
    await page.getByRole("button", { name: "Add to 149" }).click();
    await view.shows("In use by 250.");
  });

  test("is smaller than 70 kB", async () => {
    let bytes = 0;
    for (const path of ["", "/console.js", "/console.css"]) {
      const { body } = await request(`${service.url}/console${path}`);
      bytes += (await body.arrayBuffer()).byteLength;
    }
    expect(bytes).toBeGreaterThan(30_000);
    expect(bytes).toBeLessThan(pageBytesMax);
  });
});
