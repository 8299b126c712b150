import { readFile } from "node:fs/promises";
import type { BrowserContext } from "playwright-core";
import { request } from "undici";
import { afterAll, beforeAll, expect, test } from "vitest";
import { describeInBrowser, launchBrowser, pageMaxMs } from "../../testing/browser.ts";
import { openConsole } from "../../testing/console-page.ts";
import { eventually } from "../../testing/eventually.ts";
import { childStory, type EventMessage, story } from "../../testing/messages.ts";
import { type Services, startServices } from "../../testing/services.ts";

const march = "period=2024-03-01..2024-03-31";
const [payment, refund] = ["payment", "refund"].map((type) => `${type}-of-march`) as [string, string];
const paid = story(
  "payment",
  payment,
  ["09:00", "PAYMENT_CREATED", { gateway_account_id: "march", amount: 100_000, reference: "boat" }],
  ["09:01", "AUTHORISATION_SUCCEEDED"],
  ["09:02", "USER_APPROVED_FOR_CAPTURE"],
  ["09:03", "CAPTURE_CONFIRMED"],
  ["12:00", "CAPTURE_CONFIRMED", { fee: 60, net_amount: 99_940 }],
);
/** A refund, whose second event changes nothing. */
const refunded = childStory(
  "refund",
  refund,
  payment,
  ["15:00", "REFUND_CREATED_BY_USER", { gateway_account_id: "march", amount: 11_940 }],
  ["15:01", "REFUND_SUBMITTED"],
  ["15:02", "REFUND_SUCCEEDED"],
);

describeInBrowser("the console, of what the ledger knew", () => {
  const resources = new AsyncDisposableStack();
  let services: Services;
  let context: BrowserContext;
  beforeAll(async () => {
    services = resources.use(await startServices());
    const browser = resources.adopt(await launchBrowser(), (opened) => opened.close());
    context = await browser.newContext({ timezoneId: "Europe/London", locale: "en-GB" });
    await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  }, 2 * pageMaxMs);
  afterAll(() => resources.disposeAsync());

  const open = (fragment: string) => openConsole(context, services.ledgerUrl, fragment);
  async function send(...events: EventMessage[]) {
    for (const event of events) {
      const response = await request(`${services.ledgerUrl}/v1/event`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ ...event, live: true }),
      });
      await response.body.dump();
      expect(response.statusCode).toBeLessThan(300);
    }
  }

  test("a report that was signed is compared with now, and each event that has changed it leads to its transaction", async () => {
    await send(...paid.slice(0, 4));
    await using view = await open(`#/?account_id=march&${march}`);
    const { page } = view;
    const figures = async () => (await page.locator(".figures strong").allInnerTexts()).join();
    const kept = () => Object.fromEntries(new URLSearchParams(new URL(page.url()).hash.split("?")[1]));
    await view.isLoaded();
    await view.click("Copy position");
    await page.getByRole("button", { name: "Copied", exact: true }).waitFor();
    const position = await page.evaluate<string>("navigator.clipboard.readText()");

    await send(...paid.slice(4), ...refunded);
    await page.reload();
    await view.isLoaded();
    expect(await figures()).toBe("£1,000.00,£119.40,£0.60,£880.00");
    await view.fill("The end of a day, or a position", position);
    await page.getByLabel("or a position", { exact: false }).first().press("Enter");
    await view.shows(
      "1 Mar 2024 to 31 Mar 2024, as known at a position → now: -£120.00 net, 3 events",
      page.getByRole("status").last(),
    );
    await view.hasRows("Changed groups", [
      /^Payments · Success: net\s+£0\.00 → £999\.40\s+\+£999\.40, 1 event$/,
      /^Payments · Success: fees\s+£0\.00 → £0\.60\s+\+£0\.60, 1 event$/,
      /^Refunds · Success: number\s+0 → 1\s+\+1, 1 event$/,
      /^Refunds · Success: amount\s+£0\.00 → £119\.40\s+\+£119\.40, 1 event$/,
    ]);
    await view.hasRows("Changes", [
      /5 Mar 2024, 12:00\s+payment-of-march\s+.*Payments · Success: net \+£999\.40, fees \+£0\.60/s,
      /Refunds · Submitted: number \+1/,
      /5 Mar 2024, 15:02\s+refund-of-march\s+.*Refunds · Success: number \+1, amount \+£119\.40/s,
    ]);
    await view.isReadable([360, 768, 1280]);
    await view.rows("Changes").last().getByRole("link").click();
    await view.hasHeading(/^-£119\.40 Success$/);
    await page.goBack();
    await view.hasRows("Changes", 3);

    // As it was known when it was signed.
    await view.fill("As known at the end of a day, or at a position", position);
    await page.getByLabel("As known").press("Enter");
    await view.shows("This page shows what the ledger knew at a position.");
    await view.shows("Nothing has changed.");
    await view.isLoaded();
    expect(await figures()).toBe("£1,000.00,£0.00,£0.00,£1,000.00");
    await view.click("Copy position");
    await eventually(async () =>
      expect(await page.evaluate("navigator.clipboard.readText()")).toBe(position),
    );
    for (const name of ["Payouts", "Agreements", "Transactions"]) {
      await page.getByRole("navigation", { name: "Console" }).getByRole("link", { name }).click();
      await view.hasHeading(name);
      await view.shows(name === "Agreements" ? "as known now" : "as known at a position");
      expect(kept().known_at).toBe(position);
    }
    await view.hasRows("Transactions", [/boat/]);
    await view.shows("1 transaction · received £1,000.00 · refunded £0.00");
    const downloading = page.waitForEvent("download");
    await view.click("Download CSV");
    const file = await downloading;
    expect(file.suggestedFilename()).toContain(" as known at a position ");
    expect((await readFile(await file.path(), "utf8")).trim().split("\n")).toHaveLength(2);
    await view.rows("Transactions").getByRole("link").click();
    await view.hasHeading(/^£1,000\.00 Success$/);
    await view.isLoaded();
    expect(await page.getByRole("heading", { name: "Refunds and disputes" }).count()).toBe(0);
    expect(await view.main.innerText()).not.toContain("created the refund");
    await page.getByRole("link", { name: "Show what it knows now" }).click();
    await view.hasRows("Refunds and disputes", [/-£119\.40/]);
    expect(kept().known_at).toBeUndefined();
    expect(view.problems).toEqual([]);
  });

  test("a search without matches shows what has left it, by pages of changes", async () => {
    const account = { gateway_account_id: "many", amount: 100 };
    const events = Array.from({ length: 61 }, (_, number) =>
      story("payment", `many-${number}`, ["09:00", "PAYMENT_CREATED", account], ["09:01", "PAYMENT_STARTED"]),
    ).flat();
    await send(...events.slice(0, 2));
    const report = await request(`${services.ledgerUrl}/v1/report/transactions?account_id=many`);
    const { position } = (await report.body.json()) as { position: string };
    await send(...events.slice(2));
    await using view = await open(
      `#/transactions?account_id=many&payment_states=cancelled&since=${position}`,
    );
    await view.shows("No transaction matches");
    await view.shows("Nothing has changed.");
    await view.goTo(`#/transactions?account_id=many&since=${position}`);
    await view.hasRows("Changes", 100);
    await view.hasRows("Changed groups", [
      /^Payments · Started: number\s+1 → 61\s+\+60, 50 events or more$/,
      /^Payments · Started: amount\s+£1\.00 → £61\.00\s+\+£60\.00, 50 events or more$/,
    ]);
    await view.shows("100 events or more");
    await view.click("Show more changes");
    await view.hasRows("Changes", 120);
    await view.shows(/All time, as known at a position → now: .*, 120 events/);
    expect(view.problems).toEqual([]);
  });

  test("a wrong day or position fails once, in the words of the service", async () => {
    await using view = await open("#/?known_at=2999-01-01");
    const { page } = view;
    const failures = page.locator(".notice:is(.failed, .missing)");
    const fails = async (text: string) => {
      await view.shows(text, failures.first());
      expect(await failures.count()).toBe(1);
    };
    await fails("known_at must be a day that is over; 2999-01-01 is not in Europe/London");
    await view.isReadable([360, 1280]);
    await view.goTo("#/transactions?known_at=yesterday");
    await fails("Known at must be a day such as 2024-10-31, or the position or cursor of a response");
    await view.goTo(`#/payouts?known_at=${"A".repeat(60)}`);
    await fails("the ledger has no such position");
    await page.getByRole("link", { name: "Show what it knows now" }).click();
    await view.hasHeading("Payouts");
    await view.goTo(`#/?since=${"A".repeat(60)}`);
    await fails("the ledger has no such position; since must be a day");
  });
});
