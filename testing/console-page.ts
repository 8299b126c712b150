import type { BrowserContext, Locator } from "playwright-core";
import { expect } from "vitest";
import { openPage } from "./browser.ts";
import { eventually } from "./eventually.ts";

/** Opens a view of a console. */
export async function openConsole(context: BrowserContext, origin: string, fragment = "") {
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

export const isFocused = (locator: Locator) => locator.evaluate((element) => element.matches(":focus"));
