import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { eventually } from "../../../testing/eventually.ts";
import { story } from "../../../testing/messages.ts";
import { newFolder, run, withoutProgress } from "../../../testing/run.ts";
import { openDatabase } from "../../database/databases.ts";
import { describeOnEngines } from "../../database/new-database.fixture.ts";
import { redact } from "../intake/redact.ts";
import { newestCheckpoint } from "../tables/transparency.ts";
import { signerOf, signerText, verifierText } from "../transparency/note.ts";
import { witnessUrls } from "../transparency/witness.ts";
import { startLedger } from "./ledger.fixture.ts";

const signer = signerOf("ledger.example.com/log", Buffer.alloc(32, 1));
const payments = Array.from({ length: 150 }, (_, index) =>
  story(
    "payment",
    `p${index}`,
    ["10:00", "PAYMENT_CREATED", { gateway_account_id: "57", email: "secret@example.org" }],
    ["10:01", "PAYMENT_STARTED"],
  ),
);

type Ledger = Awaited<ReturnType<typeof startLedger>>;
const isPublished = (ledger: Ledger, size: number) =>
  eventually(async () => expect((await newestCheckpoint(ledger.database))?.size).toBe(BigInt(size)));

describe("the paths of the log", () => {
  let ledger: Ledger;
  beforeAll(async () => {
    ledger = await startLedger({ signer });
    await ledger.store(...payments);
    await isPublished(ledger, 300);
  });
  afterAll(() => ledger[Symbol.asyncDispose]());

  test("have the checkpoint and the tiles, in any encoding and without a token", async () => {
    const checkpoint = await ledger.request("/log/checkpoint");
    expect(checkpoint).toMatchObject({
      status: 200,
      text: expect.stringMatching(
        /^ledger\.example\.com\/log\n300\n.{44}\n\n— ledger\.example\.com\/log .+\n$/,
      ),
      headers: { "cache-control": "no-cache", "content-type": "text/plain; charset=utf-8" },
    });
    const lengthOf = async (path: string) => {
      const response = await fetch(ledger.base + path);
      expect(response.headers.get("cache-control")).toBe("public, max-age=31536000, immutable");
      return (await response.arrayBuffer()).byteLength;
    };
    expect(await lengthOf("/log/tile/0/000")).toBe(256 * 32);
    expect(await lengthOf("/log/tile/0/001.p/44")).toBe(44 * 32);
    expect(await lengthOf("/log/tile/0/001.p/3")).toBe(3 * 32);
    expect(await lengthOf("/log/tile/1/000.p/1")).toBe(32);
    expect(await lengthOf("/log/tile/entries/000")).toBe(256 * 50);
    expect(await lengthOf("/log/tile/entries/001.p/44")).toBe(44 * 50);
  });

  test.each([
    ...["0/001", "0/001.p/45", "0/002", "1/000", "entries/001", "2/000.p/1", "63/000"],
    ...[
      "0/0",
      "00/000",
      "64/000",
      "-1/000",
      "x/000",
      "0/x000/000",
      "0/x001/000",
      "0/1000",
      "0/000.p/0",
      "0/000.p/256",
    ],
    ...[
      "0/000.p/999",
      "0/000.p/01",

      "0/000.p/",
      "0/..%2f000",
      "0/%00",
      "data/000",
      "0/x001/x001/x001/x001/x001/001",
    ],
    ...["0/x999/x999/x999/x999/999", "entries", "", `0/${"x001/".repeat(2000)}001`],
  ])("have no tile %j", async (path) => {
    expect((await ledger.request(`/log/tile/${path}`)).status).toBeOneOf([400, 404, 414, 431]);
  });

  test("accept GET and HEAD only", async () => {
    expect((await ledger.request("/log/tile/0/000", { method: "HEAD" })).status).toBe(200);
    for (const path of ["/log/checkpoint", "/log/tile/0/000"]) {
      expect((await ledger.request(path, { method: "POST", body: "" })).status).toBe(405);
      expect((await ledger.request(path, { method: "DELETE" })).status).toBe(405);
    }
  });

  test("are followed by health and metrics", async () => {
    expect(await ledger.get("/healthcheck")).toMatchObject({
      transparency_log: { healthy: true, message: "Healthy", size: 300, checkpoint_size: 300, behind_ms: 0 },
    });
    const { text: metrics } = await ledger.request("/metrics");
    expect(metrics).toContain('ledger_transparency_log_size{scope="shared"} 300\n');
    expect(metrics).toContain('ledger_transparency_log_behind_seconds{scope="shared"} 0\n');
    expect(metrics).toContain('ledger_transparency_log_problem{scope="process"} 0\n');
  });
});

test("without the setting the ledger serves no log, and its health has none", async () => {
  await using ledger = await startLedger();
  expect((await ledger.request("/log/checkpoint")).status).toBe(404);
  expect(await ledger.get("/healthcheck")).not.toHaveProperty("transparency_log");
});

test("a log that is not the one that was published is not signed, which health and log say", async () => {
  await using ledger = await startLedger({ signer });
  await ledger.store(...payments.slice(0, 2));
  await isPublished(ledger, 4);
  await ledger.database.run("update transparency_tile set content = set_byte(content, 3, 1) where level = 0");
  await redact(ledger.database, ["p0"], false);
  await eventually(async () =>
    expect(await ledger.get("/healthcheck")).toMatchObject({
      transparency_log: {
        healthy: false,
        message: "the first 4 entries are not those of the newest checkpoint",
        checkpoint_size: 4,
      },
    }),
  );
  expect(ledger.logged.join("")).toContain("the transparency log could not be continued");
  ledger.logged.length = 0;
});

describe("a witness", () => {
  test.each<[string, RequestListener]>([
    ["an error", (_request, response) => response.writeHead(500).end()],
    [
      "a redirect",
      (_request, response) => response.writeHead(302, { location: "http://127.0.0.1:1/" }).end(),
    ],
    ["a size beyond the log", (_request, response) => response.writeHead(409).end("999\n")],
    ["a size that is none", (_request, response) => response.writeHead(409).end("-1\n")],
    [
      "an endless body",
      (_request, response) => {
        response.writeHead(200);
        response.on("drain", () => response.write(Buffer.alloc(65_536, "x")));
        response.write(Buffer.alloc(65_536, "x"));
      },
    ],
    ["no signature", (_request, response) => response.writeHead(200).end("hello")],
    [
      "a signature of another text",
      (_request, response) =>
        response.writeHead(200).end(`\u2014 witness.example.com ${Buffer.alloc(76, 1).toString("base64")}\n`),
    ],
    ["no response", (request) => request.socket.destroy()],
  ])("that responds with %s leaves its signature out, and stops nothing", async (_title, listener) => {
    const requests: string[] = [];
    await using stack = new AsyncDisposableStack();
    const server = stack.adopt(
      createServer(async (request, response) => {
        requests.push(`${request.method} ${request.url} ${await text(request)}`);
        await listener(request, response);
      }),
      (opened) => {
        opened.closeAllConnections();
        opened.close();
      },
    );
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/witness/`;
    await using ledger = await startLedger({ signer, witnesses: settingOf(`${url}#${witnessKey}`) });
    // `store` fails if there are new lines in the log: that of the first checkpoint is there.
    await isPublished(ledger, 0);
    await ledger.store(...payments.slice(0, 2));
    await isPublished(ledger, 4);
    expect((await newestCheckpoint(ledger.database))?.note.match(/\u2014 /g)).toHaveLength(1);
    expect(requests[0]).toMatch(/^POST \/witness\/add-checkpoint old 0\n\nledger\.example\.com\/log\n/);
    expect(ledger.logged.join("")).toContain("a witness has not signed the checkpoint");
    ledger.logged.length = 0;
  });
});

/** A public key of a witness. */
const witnessKey = "witness.example.com+7b1a3d08+BBKEBi8wWJj6/7Lg+qOcCM8R1LxazjB+MfokvpC/X2pX";
function settingOf(value: string) {
  const read = witnessUrls(value, () => false);
  if ("must" in read) throw new Error(read.must);
  return read.value;
}

test.each([
  "https://witness.example.com",
  "https://witness.example.com#witness.example.com",
  `https://user:password@witness.example.com#${witnessKey}`,
  `ftp://witness.example.com#${witnessKey}`,
  `https://witness.example.com#${witnessKey.replace("7b1a3d08", "7b1a3d09")}`,
  `https://witness.example.com#${verifierText(signer.verifier)}`,
  Array.from({ length: 11 }, () => `https://witness.example.com#${witnessKey}`).join(" "),
])("TLOG_WITNESSES rejects %j", (value) => {
  expect(witnessUrls(value, () => false)).toHaveProperty("must");
});

describeOnEngines("npm run log", (make) => {
  test("verifies, proves, and says what is wrong", async () => {
    await using made = await make();
    const folder = newFolder();
    const keyFile = join(folder, "key");
    writeFileSync(keyFile, signerText(signer));
    const env = { DATABASE_URL: made.url, TLOG_KEY_FILE: keyFile };
    const command = async (...args: string[]) => {
      const { code, output, errors } = await run("src/ledger/commands/log.ts", { args, env, folder }).exit;
      return { code, output, errors: withoutProgress(errors) };
    };
    await using ledger = await startLedger({ open: () => openDatabase(made.url), signer });
    writeFileSync(join(folder, "wrong"), "PRIVATE+KEY+name+00000000+AAAA");
    const withKey = (TLOG_KEY_FILE: string) =>
      run("src/ledger/commands/log.ts", { args: ["public-key"], env: { ...env, TLOG_KEY_FILE }, folder })
        .exit;
    expect(await withKey("wrong")).toMatchObject({
      code: 1,
      errors: "log: the file wrong has no private key of a log; npm run log -- make-key makes one\n",
    });
    expect((await withKey("missing")).errors).toContain("ENOENT");
    expect(existsSync(join(folder, "missing"))).toBe(false);
    await ledger.store(...payments.slice(0, 20));
    await isPublished(ledger, 40);

    expect(await command("verify", "--checkpoint", "kept")).toEqual({
      code: 0,
      output: "there is no file kept yet\nthe log is true; its newest checkpoint has 40 entries\n",
      errors: "",
    });
    expect(readFileSync(join(folder, "kept"), "utf8")).toBe((await newestCheckpoint(ledger.database))?.note);
    expect((await command("public-key")).output).toBe(`${verifierText(signer.verifier)}\n`);
    expect((await command("account-key", "57")).output).toMatch(/^[0-9a-f]{64}\n$/);

    const proof = (await command("prove", "p3")).output;
    expect(proof).not.toContain("secret");
    expect((await command("prove", "p3", "--personal")).output).toContain("secret@example.org");
    const checker = { args: [verifierText(signer.verifier)], input: proof };
    const { code, output } = await run("examples/transparency-proof/check.ts", checker).exit;
    expect([code, output.split("\n").length]).toEqual([0, 3]);
    expect(await command("prove", "nobody")).toMatchObject({
      code: 1,
      errors: "log: the log has no entry of nobody\n",
    });

    await ledger.database.run("update event set live = false where resource_external_id = 'p3'");
    const found = await command("verify", "--checkpoint", "kept");
    expect(found).toMatchObject({ code: 1, errors: "log: the log has 2 differences\n" });
    expect(found.output).toMatch(/^event \d+ of payment p3 was changed, or its entry \d+ in the log\n/);
  });
});

describe("the usage of npm run log", () => {
  const env = { DATABASE_URL: "pglite:memory" };
  test.each([
    [[], 2],
    [["seal"], 2],
    [["verify", "more"], 2],
    [["prove"], 2],
    [["prove", "a", "b"], 2],
    [["prove", "a", "--checkpoint", "b"], 2],
    [["verify", "--personal"], 2],
    [["make-key", "a name", "file"], 2],
    [["make-key", "name"], 2],
    [["--help"], 0],
  ])("%j ends with %d", async (args, expected) => {
    expect((await run("src/ledger/commands/log.ts", { args, env }).exit).code).toBe(expected);
  });

  test("make-key makes a private file, and replaces none", async () => {
    const folder = newFolder();
    const make = () =>
      run("src/ledger/commands/log.ts", { args: ["make-key", "ledger.example.com/log", "key"], env, folder })
        .exit;
    const { code, output } = await make();
    expect([code, output]).toEqual([
      0,
      expect.stringMatching(/^ledger\.example\.com\/log\+[0-9a-f]{8}\+.{44}\n$/),
    ]);
    expect(statSync(join(folder, "key")).mode & 0o777).toBe(0o600);
    expect(await make()).toMatchObject({ code: 1, errors: expect.stringContaining("the file key exists") });
  });
});
