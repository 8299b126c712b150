import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { AxeResults } from "axe-core";
import { type Browser, type BrowserContext, chromium } from "playwright-core";
import { expect } from "vitest";
import { describeIfAvailable } from "./describe-if-available.ts";
import { eventually } from "./eventually.ts";
import { findProgram } from "./servers/server.ts";

const program = findProgram("chromium");
const axeSource = readFileSync(fileURLToPath(import.meta.resolve("axe-core/axe.min.js")), "utf8");

/** For the start, and for a browser that shares a slow machine. */
export const pageMaxMs = 60_000;

/** Describes tests that need Chromium. */
export const describeInBrowser = describeIfAvailable("Chromium", program !== undefined);

/** Starts Chromium, which has no sandbox for root. */
export const launchBrowser = (options: string[] = []): Promise<Browser> =>
  chromium.launch({ executablePath: program ?? "", args: ["--no-sandbox", ...options] });

/** The background of the pages of the services in each colour mode. */
const backgrounds = { light: "rgb(255, 255, 255)", dark: "rgb(28, 32, 34)" };

/** Opens a page. Its problems are errors on the console of the browser, dialogs, and requests to other hosts. */
export async function openPage(context: BrowserContext, origin: string, path: string) {
  const page = await context.newPage();
  page.setDefaultTimeout(pageMaxMs);
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
  await page.goto(origin + path);

  /** What a reader with a disability or a narrow screen would stumble over. */
  async function faults(): Promise<string[]> {
    // Swagger UI changes the colours of its buttons gradually.
    await page.evaluate("Promise.allSettled(document.getAnimations().map(({ finished }) => finished))");
    await page.evaluate(axeSource);
    const { violations } = await page.evaluate<AxeResults>('axe.run({ resultTypes: ["violations"] })');
    const tooWide = await page.evaluate<number>("document.documentElement.scrollWidth - innerWidth");
    return [
      ...violations.flatMap(({ id, nodes }) => nodes.map(({ target }) => `${id}: ${target.join(" ")}`)),
      ...(tooWide > 0 ? [`${tooWide} pixels too wide`] : []),
    ];
  }

  return {
    page,
    problems,
    faults,
    /** Expects that the page, with all its details open, has no faults in both colour modes on screens of these widths. */
    async isReadable(widths: number[], selectors = ["body"]) {
      for (const summary of await page.locator("summary").all()) await summary.click();
      for (const [colorScheme, background] of Object.entries(backgrounds)) {
        await page.emulateMedia({ colorScheme: colorScheme as keyof typeof backgrounds });
        for (const selector of selectors) {
          const color = `getComputedStyle(document.querySelector("${selector}")).backgroundColor`;
          const seen = [background, ...(selector === "body" ? [] : ["rgba(0, 0, 0, 0)"])];
          await eventually(async () => expect(seen).toContain(await page.evaluate(color)));
        }
        for (const width of widths) {
          await page.setViewportSize({ width, height: 900 });
          // Chromium can still have colours of the other mode when the background has changed.
          await eventually(async () =>
            expect([colorScheme, width, await faults()]).toEqual([colorScheme, width, []]),
          );
        }
      }
    },
    [Symbol.asyncDispose]: () => page.close(),
  };
}
