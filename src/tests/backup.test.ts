import { cp, rm } from "node:fs/promises";
import { join } from "node:path";
import { request } from "undici";
import { expect, test } from "vitest";
import { outputOf } from "../../testing/child-process.ts";
import { describeIfAvailable } from "../../testing/describe-if-available.ts";
import { eventually } from "../../testing/eventually.ts";
import { postgresProgram } from "../../testing/servers/postgres.ts";
import { newPostgres, postgresServer } from "../database/new-database.fixture.ts";
import { createdPayment, newInstallation } from "../main.fixture.ts";

const demo = "scripts/demo/demo.ts";

/** The status and the body of each response. */
const responsesTo = (urls: string[]) =>
  Promise.all(
    urls.map(async (url) => {
      const { statusCode, body } = await request(url);
      return [url, statusCode, await body.text()];
    }),
  );

/** Responses with the same data; a cursor and the name of a position differ each time. */
const withoutPositions = (responses: unknown[][]) =>
  responses.map(([url, status, text]) => [
    url,
    status,
    String(text).replaceAll(/(cursor|position)[=":]+[\w-]+/g, ""),
  ]);

/** Reports that were issued before can be issued again. */
async function expectIssuedAgain(before: unknown[][]): Promise<void> {
  const issued = before.flatMap(([url, status, text]) => {
    const [, position] = /"position":"([\w-]+)"/.exec(String(text)) ?? [];
    return position ? [[`${url}&known_at=${position}`, status, text]] : [];
  });
  expect(issued.length).toBeGreaterThan(0);
  expect(await responsesTo(issued.map(([url]) => String(url)))).toEqual(issued);
}

/** Sends the demonstration, of which two messages become dead letters. Resolves with the URLs of requests to try. */
async function fill({ command, ledger }: Awaited<ReturnType<typeof newInstallation>>): Promise<string[]> {
  const urls = [...(await command(demo)).matchAll(/curl '([^']+)'/g)].map(([, url = ""]) => url);
  expect(urls.filter((url) => url.includes("/v1/event/"))).toHaveLength(1);
  await eventually(async () =>
    expect(await (await request(`${ledger}/metrics`)).body.text()).toMatch(/^ledger_dead_letters.* 2$/m),
  );
  return urls;
}

test("a copy of the folder of stopped services restores their data and the messages that wait", async () => {
  const installation = await newInstallation();
  const { folder, features, command, payment, start } = installation;
  const [data, backup] = [join(folder, "data"), join(folder, "backup")];

  const stop = await start();
  const urls = await fill(installation);
  await request(`${features}/features/customer/42/dark-mode`, { method: "POST" });
  urls.push(`${features}/features/customer/42`, `${features}/changes`);
  const before = await responsesTo(urls);
  for (const [url, status, text] of before) {
    expect([url, status, /demo|dark-mode|"count":[1-9]/.test(String(text))]).toEqual([url, 200, true]);
  }
  await stop();
  const deadLetters = await command("dead-letters", ["list"]);
  expect(deadLetters).toContain("dead letters: 2");
  await command("send-events", ["-"], createdPayment("waiting"));
  await cp(data, backup, { recursive: true });

  await rm(data, { recursive: true });
  await cp(backup, data, { recursive: true });
  expect(await command("dead-letters", ["list"])).toBe(deadLetters);
  await command("reproject", ["--all", "--verify"]);
  const stopReading = await start({ QUEUE_RECEIVER_BACKGROUND_PROCESSING: "false" });
  expect(withoutPositions(await responsesTo(urls))).toEqual(withoutPositions(before));
  await expectIssuedAgain(before);
  await stopReading();
  const stopRestored = await start({ QUEUE_RECEIVER_BACKGROUND_PROCESSING: "true" });
  await eventually(async () => expect(await payment("waiting")).toBe(200));
  await stopRestored();
});

describeIfAvailable("TEST_POSTGRES_URL", postgresServer !== undefined)("a dump of PostgreSQL", () => {
  const postgres = (name: string, ...args: string[]) => outputOf([postgresProgram(name) ?? name, ...args]);

  test("of a running ledger restores its data, and messages that are sent again do no harm", async () => {
    await using lost = await newPostgres();
    await using restored = await newPostgres();
    const installation = await newInstallation({ DATABASE_URL: lost.url });
    const { folder, ledger, command, payment, start } = installation;
    const dump = join(folder, "ledger.dump");

    const stop = await start();
    const urls = await fill(installation);
    const before = await responsesTo(urls);
    const deadLetters = await command("dead-letters", ["list"]);
    await postgres("pg_dump", "--format=custom", `--file=${dump}`, lost.url);
    await command("send-events", ["-"], createdPayment("after-backup"));
    await eventually(async () => expect(await payment("after-backup")).toBe(200));
    await stop();
    await command("send-events", ["-"], createdPayment("waiting"));

    const options = ["--exit-on-error", "--single-transaction", "--no-owner"];
    await postgres("pg_restore", ...options, `--dbname=${restored.url}`, dump);
    const stopReading = await start({
      DATABASE_URL: restored.url,
      QUEUE_RECEIVER_BACKGROUND_PROCESSING: "false",
    });
    expect(await command("reproject", ["--all", "--verify"])).toContain("verified");
    expect(await command("dead-letters", ["list"])).toBe(deadLetters);
    expect(withoutPositions(await responsesTo(urls))).toEqual(withoutPositions(before));
    await expectIssuedAgain(before);
    await stopReading();

    const stopRestored = await start({ QUEUE_RECEIVER_BACKGROUND_PROCESSING: "true" });
    await eventually(async () => expect(await payment("waiting")).toBe(200));
    expect(await payment("after-backup")).toBe(404);
    await command(demo);
    await command("send-events", ["-"], createdPayment("after-backup"));
    await eventually(async () => expect(await payment("after-backup")).toBe(200));
    // A page has a cursor with the number of the newest event. The shop and the feature storage have more each time.
    const isSame = ([url, , text]: unknown[]) =>
      String(url).startsWith(ledger) && !/demo-shop|cursor=/.test(`${url} ${text}`);
    const same = before.filter(isSame);
    expect(same.length).toBeGreaterThan(5);
    expect(withoutPositions((await responsesTo(urls)).filter(isSame))).toEqual(withoutPositions(same));
    await expectIssuedAgain(before);
    await command("reproject", ["--all", "--verify"]);
    await stopRestored();
  });
});
