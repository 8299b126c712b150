import { exportJWK } from "jose";
import type { BrowserContext, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { describeInBrowser, launchBrowser, openPage, pageMaxMs } from "../../testing/browser.ts";
import { eventually } from "../../testing/eventually.ts";
import { makeKey } from "../../testing/issuer.ts";
import { story } from "../../testing/messages.ts";
import { type Services, startServices } from "../../testing/services.ts";
import { openTrialIssuer } from "../../testing/trial-issuer.ts";

const scopes = ["features:read", "features:write", "ledger:operate", "ledger:read", "ledger:read:all"];

describeInBrowser("signing in to the console", () => {
  const resources = new AsyncDisposableStack();
  let issuer: Awaited<ReturnType<typeof openTrialIssuer>>;
  let usual: typeof issuer.behaviour;
  let services: Services;
  let newContext: () => Promise<BrowserContext>;
  let context: BrowserContext;
  beforeAll(async () => {
    const key = await makeKey("trial");
    const published = { ...(await exportJWK(key.publicKey)), kid: key.kid, alg: key.alg };
    const trial = { key: { ...key, published }, clientId: "console", audience: "https://services.test/" };
    issuer = resources.use(await openTrialIssuer({ ...trial, scopes }));
    usual = { ...issuer.behaviour };
    services = resources.use(await startServices(issuer.settings));
    const payments = ["57", "58"].flatMap((account) => {
      const details = { gateway_account_id: account, amount: 100, reference: `of ${account}` };
      return story("payment", `pay${account}`, ["09:14:22.018", "PAYMENT_CREATED", details]);
    });
    const lines = payments.map((event) => JSON.stringify(event)).join("\n");
    await services.run("src/ledger/commands/send-events.ts", ["-"], lines);
    const browser = resources.adopt(await launchBrowser(), (opened) => opened.close());
    newContext = () => browser.newContext({ locale: "en-GB" });
  }, 3 * pageMaxMs);
  beforeEach(async () => {
    Object.assign(issuer.behaviour, usual);
    context = await newContext();
  });
  afterEach(() => context.close());
  afterAll(() => resources.disposeAsync());

  /** Opens a view of a console; its problems are those apart from requests to the issuer. */
  async function openConsole(service: "ledger" | "features", fragment = "") {
    const origin = service === "ledger" ? services.ledgerUrl : services.featuresUrl;
    const opened = await openPage(context, origin, `/console${fragment}`);
    const { page } = opened;
    const main = page.locator("main");
    const shows = (text: string | RegExp) =>
      eventually(async () => expect(await main.innerText()).toMatch(text));
    const click = (name: string) => page.getByRole("button", { name, exact: true }).click();
    /** The reader goes to the issuer and chooses these scopes and accounts. */
    async function chooseAtIssuer(allowed = scopes, accounts = "57") {
      await click("Sign in");
      await page.getByRole("heading", { name: "Issuer for trials" }).waitFor();
      for (const box of await page.getByRole("checkbox").all())
        await box.setChecked(allowed.includes(await box.inputValue()));
      await page.getByLabel("Accounts").fill(accounts);
      await click("Sign in");
    }
    return {
      ...opened,
      origin,
      shows,
      click,
      problems: () => opened.problems.filter((one) => !one.startsWith(issuer.settings.AUTH_ISSUER)),
      goTo: (place: string) => page.goto(`${origin}/console${place}`),
      chooseAtIssuer,
      async signIn(...choice: Parameters<typeof chooseAtIssuer>) {
        await chooseAtIssuer(...choice);
        await page.getByRole("button", { name: "Sign out" }).waitFor();
      },
    };
  }

  /** All that the browser keeps of the page, and the address bar. */
  const kept = (page: Page) =>
    page.evaluate<string>(
      "JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie, location.href, history.state])",
    );
  const hasSecret = /eyJ|code|verifier|nonce|refresh/;

  test.each([
    ["ledger", "#/transactions?reference=of", /of 57/, ["query", "fragment"]],
    ["features", "#/resources/customer/42", /No features yet/, ["query"]],
  ] as const)(
    "leads to the issuer and back to the same place: %s",
    async (service, place, content, modes) => {
      issuer.behaviour.modes = [...modes];
      await using view = await openConsole(service, place);
      const { page } = view;
      await view.shows("You sign in at 127.0.0.1");
      await view.isReadable([390, 768, 1280]);
      await view.signIn(scopes.filter((scope) => scope !== "ledger:read:all"));
      await view.shows(content);
      expect(page.url()).toBe(`${view.origin}/console${place}`);
      expect(await kept(page)).not.toMatch(hasSecret);
      const loaded = "performance.getEntriesByType('resource').map(({ name }) => name).join()";
      expect(await page.evaluate(loaded)).not.toMatch(/[?#&](code|access_token)=/);
      // Neither the response of the issuer nor the page before it is left in the history.
      await page.goBack();
      await page.getByRole("heading", { name: "Issuer for trials" }).waitFor();
      expect(view.problems()).toEqual([]);
    },
  );

  test("is done again without a click after a reload and in another tab, while the issuer knows the reader", async () => {
    await using view = await openConsole("ledger", "#/transactions");
    await view.signIn();
    await view.shows("of 57");
    await view.page.reload();
    await view.shows("of 57");
    expect(new URL(view.page.url()).hash).toBe("#/transactions");
    await using other = await openConsole("ledger", "#/transactions?reference=of");
    await other.shows("of 57");
    expect(await kept(other.page)).not.toMatch(hasSecret);
    issuer.forget();
    await other.page.reload();
    await other.shows("You sign in at");
    expect(await other.page.locator(".notice").count()).toBe(0);
    await other.signIn();
    await other.shows("of 57");
    expect([...view.problems(), ...other.problems()]).toEqual([]);
  });

  test("is not begun without a click again if the attempt before did not come back", async () => {
    await using view = await openConsole("features");
    const { page } = view;
    await view.signIn();
    const refuse = { status: 400, body: "unknown redirect_uri" };
    await page.route("**/authorize?*", (route) => route.fulfill(refuse));
    await page.reload();
    await page.getByText("unknown redirect_uri").waitFor();
    await page.goto(`${view.origin}/console`);
    await view.shows("You sign in at");
    await page.unroute("**/authorize?*");
    await page.reload();
    await view.shows("Last changes");
  });

  test("is renewed before a token expires, without any change of the page", async () => {
    // So that each request renews it.
    issuer.behaviour.expiresS = 20;
    await using view = await openConsole("ledger", "#/transactions?account_id=57");
    await view.signIn(scopes, "57 58");
    // The requests of a page share a renewal, so all of them must have ended.
    await view.shows(/of 57/);
    await view.shows(/1 transaction ·/);
    const before = issuer.behaviour.renewals;
    await view.goTo("#/transactions?account_id=58");
    await view.shows("of 58");
    expect(issuer.behaviour.renewals).toBeGreaterThan(before);
    expect(view.problems()).toEqual([]);
  });

  /** The service rejects the first token, which has expired earlier than the issuer says. */
  const lateS = -400;

  test("is renewed once when the service rejects a token", async () => {
    issuer.behaviour.clockAheadS = lateS;
    await using view = await openConsole("ledger", "#/transactions?account_id=57");
    const before = issuer.behaviour.renewals;
    await view.signIn();
    await view.shows("of 57");
    expect(issuer.behaviour.renewals).toBe(before + 1);
    expect(view.problems().filter((problem) => !/401/.test(problem))).toEqual([]);
  });

  test("is needed again when the issuer renews no more, or has no refresh tokens", async () => {
    issuer.behaviour.expiresS = 20;
    await using view = await openConsole("ledger", "#/transactions?account_id=57");
    await view.signIn(scopes, "57 58");
    await view.shows("of 57");
    issuer.forget();
    // A renewal that has begun before can serve one more view.
    await view.goTo("#/transactions?account_id=58");
    await view.shows(/of 58|has expired/);
    await view.goTo("#/transactions?account_id=57");
    await view.shows("Your sign-in has expired. Sign in again to continue.");
    expect(await view.faults()).toEqual([]);
    Object.assign(issuer.behaviour, { clockAheadS: lateS, expiresS: 300, hasRefreshTokens: false });
    await view.chooseAtIssuer();
    await view.shows("The service does not accept your sign-in (the token has expired). Sign in again.");
    Object.assign(issuer.behaviour, usual);
    await view.signIn(scopes, "57 58");
    await view.shows("of 57");
    expect(new URL(view.page.url()).hash).toBe("#/transactions?account_id=57");
  });

  test("says why it has failed", async () => {
    await using view = await openConsole("ledger", "#/intake");
    const { page } = view;
    await view.click("Sign in");
    await view.click("Refuse");
    await view.shows("You were not signed in: the sign-in was refused at 127.0.0.1");
    expect(await view.faults()).toEqual([]);
    expect(page.url()).toBe(`${view.origin}/console#/intake`);
    issuer.behaviour.clockAheadS = -7200;
    await view.chooseAtIssuer();
    await view.shows(/The clocks of this computer and of 127\.0\.0\.1:\d+ differ/);
    await page.route("**/.well-known/**", (route) => route.abort());
    await page.reload();
    await view.click("Sign in");
    await view.shows(/127\.0\.0\.1:\d+, where you sign in, cannot be reached/);
    await page.unroute("**/.well-known/**");
    const metadata = {
      json: { issuer: "http://other.test" },
      headers: { "access-control-allow-origin": "*" },
    };
    await page.route("**/.well-known/**", (route) => route.fulfill(metadata));
    await view.click("Sign in");
    await view.shows(/no valid sign-in\. Ask who runs this service\. \(.*"issuer" property does not match/);
    await page.unroute("**/.well-known/**");
    issuer.behaviour.clockAheadS = 0;
    await view.signIn();
    await view.shows("Dead letters");
  });

  test.each(["#code=stolen&state=forged", "?code=stolen&state=forged", "?error=access_denied&state=forged"])(
    "takes no response that this tab has not requested: %s",
    async (response) => {
      await using view = await openConsole("features", response);
      await view.shows("This sign-in has not begun in this tab");
      expect(view.page.url()).toBe(`${view.origin}/console`);
      expect(view.problems()).toEqual([]);
    },
  );

  test("ends here, in other tabs and at the issuer, also for a reload", async () => {
    await using view = await openConsole("features");
    await view.signIn();
    await view.shows("Last changes");
    await using other = await openConsole("features");
    await other.shows("Last changes");
    await view.click("Sign out");
    await view.shows("You sign in at");
    await other.shows("You sign in at");
    expect(await other.page.locator(".notice").count()).toBe(0);
    await view.page.waitForURL(`${view.origin}/console`);
    await view.page.reload();
    await view.shows("You sign in at");
    expect(await kept(view.page)).toMatch(/^\[\{\},\{\},"",/);
    expect(view.problems()).toEqual([]);
  });

  test("a page that the token may not see names the scope, also if there is no other", async () => {
    await using view = await openConsole("ledger");
    await view.signIn([]);
    await view.shows(
      /You may not see this page\.\s+It needs the scope ledger:read \(to see the transactions/,
    );
    expect(await view.faults()).toEqual([]);
    await view.goTo("#/intake");
    await view.shows(/It needs the scope ledger:operate \(to see the intake/);
    await view.click("Sign out");
    await view.shows("You sign in at");
    await view.signIn(["ledger:read"]);
    await view.goTo("#/transactions?account_id=58");
    await view.shows(/You may see only the accounts 57\.\s+It needs the scope ledger:read:all/);
  });

  test("a token can be used instead, and the page may send it to no other host", async () => {
    await using view = await openConsole("features");
    const { page } = view;
    await page.getByText("Use a token instead").click();
    await page.getByLabel("Token").fill("nonsense");
    await view.click("Use token");
    await view.shows("This is no access token");
    expect(await view.faults()).toEqual([]);
    // Any JWT that is not of the issuer.
    await page.getByLabel("Token").fill("e30.e30.e30");
    await view.click("Use token");
    await view.shows("You may not see this page");
    await view.click("Sign out");
    // The issuer knows nothing of it.
    await view.shows("You sign in at");
    expect(page.url()).toBe(`${view.origin}/console`);
    const blocked = (url: string) =>
      page.evaluate<boolean>(`new Promise((resolve) => {
        addEventListener("securitypolicyviolation", () => resolve(true), { once: true });
        fetch(${JSON.stringify(url)}).then(() => resolve(false), () => {});
      })`);
    expect(await blocked("http://127.0.0.1:9/")).toBe(true);
    expect(await blocked("https://example.com/")).toBe(true);
    expect(await blocked(`${issuer.settings.AUTH_ISSUER}/.well-known/openid-configuration`)).toBe(false);
  });
});
