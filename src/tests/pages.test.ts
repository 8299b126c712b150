import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import type { BrowserContext, Page } from "playwright-core";
import { request } from "undici";
import { afterAll, beforeAll, expect, test } from "vitest";
import { attackPage } from "../../testing/attack-page.ts";
import { describeInBrowser, launchBrowser, pageMaxMs } from "../../testing/browser.ts";
import { eventually } from "../../testing/eventually.ts";
import { freePort } from "../../testing/free-port.ts";
import { newFolder, run } from "../../testing/run.ts";
import { type Services, startServices } from "../../testing/services.ts";
import { clientUrl } from "../ledger/queue/address.ts";
import { createdPayment } from "../main.fixture.ts";

/** A name of an attacker, which leads to loopback in the browser. */
const foreignHost = "evil.test";

const event = createdPayment("forged").trim();
const sendMessage = new URLSearchParams({ Action: "SendMessage", MessageBody: event });

describeInBrowser("a page of another origin in a browser on the machine of the services", () => {
  const resources = new AsyncDisposableStack();
  let services: Services;
  let context: BrowserContext;
  let queueUrl: string;
  let issuerUrl: string;
  let attackerUrl: string;
  beforeAll(async () => {
    const [queuePort, issuerPort] = [await freePort(), await freePort()];
    queueUrl = `sqs+embedded:./data/queue?port=${queuePort}`;
    services = resources.use(await startServices({ QUEUE_URL: queueUrl }));
    const kept = `${services.featuresUrl}/features/customer/42/kept`;
    await (await request(kept, { method: "POST" })).body.dump();
    const issuer = run(join("scripts", "token.ts"), {
      args: ["--serve", "--port", String(issuerPort)],
      folder: newFolder(),
    });
    resources.defer(() => void issuer.child.kill());
    issuerUrl = `http://127.0.0.1:${issuerPort}/keys`;
    await issuer.waitForOutput("listens at");
    const attacker = createServer((_, response) =>
      response.writeHead(200, { "content-type": "text/html" }).end(attackPage),
    );
    await once(attacker.listen(0, "127.0.0.1"), "listening");
    resources.defer(() => attacker[Symbol.asyncDispose]());
    attackerUrl = `http://${foreignHost}:${(attacker.address() as AddressInfo).port}/`;
    const browser = resources.adopt(
      await launchBrowser([`--host-resolver-rules=MAP ${foreignHost} 127.0.0.1`]),
      (opened) => opened.close(),
    );
    context = await browser.newContext();
  }, 3 * pageMaxMs);
  afterAll(() => resources.disposeAsync());

  const portOf = (url: string) => new URL(url).port;
  const queueAddress = () => clientUrl(queueUrl).replace(/^sqs\+/, "");

  async function openPage(url: string): Promise<Page> {
    const page = await context.newPage();
    page.setDefaultTimeout(pageMaxMs);
    await page.goto(url);
    return page;
  }

  /** Opens a page of the attacker at the origin that a service has by the attacker's name: its name was another address before. */
  async function openRebound(serviceUrl: string): Promise<Page> {
    const url = `http://${foreignHost}:${portOf(serviceUrl)}/attack`;
    await context.route(url, (route) => route.fulfill({ contentType: "text/html", body: attackPage }));
    return openPage(url);
  }

  async function read(url: string) {
    const { statusCode, body } = await request(url);
    return `${statusCode} ${await body.text()}`;
  }

  const sendAll = async (page: Page, url: string, bodies: string[]) => {
    for (const body of bodies)
      await page.evaluate(`sendAll(${JSON.stringify(url)}, ${JSON.stringify(body)})`);
  };
  const readAll = (page: Page, urls: string[]) => page.evaluate<string[]>(`readAll(${JSON.stringify(urls)})`);

  /** Expects that nothing of an attack has arrived, and that the queue still takes and delivers messages. */
  async function expectUnchanged(id: string) {
    const { ledgerUrl, featuresUrl } = services;
    expect(await read(`${featuresUrl}/features/customer/42`)).toBe('200 ["kept"]\n');
    await services.run("src/ledger/commands/send-events.ts", ["-"], createdPayment(id));
    const own = `${ledgerUrl}/v1/transaction/${id}?account_id=57`;
    await eventually(async () => expect(await read(own)).toMatch(/^200/));
    expect(await read(`${ledgerUrl}/v1/transaction/forged?account_id=57`)).toMatch(/^404/);
    expect(await read(`${ledgerUrl}/healthcheck`)).toMatch(/^200/);
    expect(await read(issuerUrl)).toMatch(/^200/);
  }

  /** The URLs that change something, and bodies for them. */
  const targets = () => {
    const { ledgerUrl, featuresUrl } = services;
    const operations = [
      "PurgeQueue",
      "DeleteQueue",
      "SetQueueAttributes&Attribute.Name=DelaySeconds&Attribute.Value=900",
    ];
    return [
      { url: `${featuresUrl}/features/customer/42/forged`, bodies: ["a=b"] },
      { url: `${featuresUrl}/features/customer/42`, bodies: ["[]"] },
      { url: `${featuresUrl}/changes`, bodies: ["{}"] },
      { url: `${ledgerUrl}/v1/event`, bodies: [event] },
      { url: queueAddress(), bodies: [String(sendMessage), ...operations.map((name) => `Action=${name}`)] },
      { url: issuerUrl, bodies: ["a=b"] },
    ];
  };

  test(
    "changes nothing, and reads nothing",
    async () => {
      const page = await openPage(attackerUrl);
      for (const { url, bodies } of targets()) await sendAll(page, url, bodies);
      const urls = targets().map(({ url }) => url);
      expect(await readAll(page, urls)).toEqual(urls.map(() => ""));
      await expectUnchanged("own1");
    },
    3 * pageMaxMs,
  );

  test(
    "changes nothing, and reads nothing, if its name leads to loopback meanwhile",
    async () => {
      for (const { url, bodies } of targets()) {
        const page = await openRebound(url);
        const rebound = url.replace(/127\.0\.0\.1|localhost/, foreignHost);
        await sendAll(page, rebound, bodies);
        const base = new URL(rebound).origin;
        const paths = [
          "/",
          "/v1/transaction/?override_account_id_restriction=true",
          "/features/customer/42",
          "/keys",
        ];
        const texts = await readAll(
          page,
          paths.map((path) => base + path),
        );
        expect(texts.join(" ")).not.toMatch(/kept|results|keys|docs/);
      }
      await expectUnchanged("own2");
    },
    3 * pageMaxMs,
  );

  test(
    "does not prevent the pages of the services from changing something",
    async () => {
      for (const host of ["127.0.0.1", "localhost"]) {
        const page = await openPage(`http://${host}:${portOf(services.featuresUrl)}/console`);
        const add = async (path: string) => (await fetch(path, { method: "POST" })).status;
        expect(await page.evaluate(add, `/features/customer/43/of-${host}`)).toBe(201);
      }
    },
    3 * pageMaxMs,
  );
});
