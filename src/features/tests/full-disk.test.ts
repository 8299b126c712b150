import { join } from "node:path";
import { request } from "undici";
import { expect, test } from "vitest";
import { describeOnSmallDisk } from "../../../testing/describe-small-disk.ts";
import { eventually } from "../../../testing/eventually.ts";
import { run } from "../../../testing/run.ts";
import { urlIn } from "../../main.fixture.ts";
import { featuresOf, passTime, stopClock } from "../store/new-store.fixture.ts";
import { openFeatureStore } from "../store/stores.ts";
import { startFeatures } from "./features.fixture.ts";

describeOnSmallDisk("on a full disk, the feature storage in LMDB", 20, (openDisk) => {
  test("answers reads, fails changes, and continues when there is space", async () => {
    await using disk = await openDisk();
    await using store = await openFeatureStore(`lmdb:${join(disk.folder, "store")}`);
    await using service = await startFeatures({ store });
    const kept = "/features/customer/1/kept";
    expect((await service.request("POST", kept)).status).toBe(201);
    stopClock();
    const expires_at = new Date(Date.now() + 10).toISOString();
    await service.request("POST", `/features/customer/1/expired?expires_at=${expires_at}`);
    await disk.fill();
    passTime(10);
    const { headers } = await service.request("GET", "/features/customer/1");
    // Repeated until the file has no free page.
    let count = 0;
    const body = { changes: [{ type: "add", resource: "customer", id: "2", feature: "" }] };
    await eventually(async () => {
      for (const change of body.changes) change.feature = `${"x".repeat(200)}${count++}`;
      expect(await service.request("POST", "/changes", { body })).toMatchObject({
        status: 500,
        text: expect.stringMatching(/^the store failed: its disk (is full|reports an error, or is full)\n$/),
      });
    });
    expect((await service.request("GET", "/features/customer/1")).text).toBe('["kept"]\n');

    const flags = "/ofrep/v1/evaluate/flags";
    const customer = { resource: "customer", id: "1" };
    for (const [method, path, sent] of [
      ["GET", "/features/customer/1"],
      ["GET", kept],
      ["GET", "/features/customer?feature=kept"],
      ["GET", "/changes"],
      ["GET", "/changes?cursor=newest"],
      ["POST", "/query", { resources: [customer], features: ["kept"] }],
      ["POST", `${flags}/kept`, { context: customer }],
      ["POST", flags, { context: customer }],
      ["GET", "/metrics"],
    ] as const)
      expect([path, (await service.request(method, path, { body: sent })).status]).toEqual([path, 200]);
    for (const [method, path, sent] of [
      ["POST", "/features/customer/3/new"],
      ["DELETE", "/features/customer/2"],
      ["PUT", "/features/customer/1", ["other"]],
    ] as const) {
      const ifMatch = { "if-match": String(headers.etag) };
      const { status } = await service.request(method, path, { body: sent, headers: ifMatch });
      expect([200, 201, 204, 412, 500]).toContain(status);
    }

    await disk.clear();
    await eventually(async () =>
      expect((await service.request("POST", "/features/customer/3/new")).status).toBeLessThan(300),
    );
    const feed = await eventually(async () => {
      const { text } = await service.request("GET", "/changes?limit=1000");
      expect(text).toContain('"type":"expired"');
      return text;
    });
    expect(feed).toContain('"feature":"new"');
  });

  test("starts with existing files and can be read", async () => {
    await using disk = await openDisk();
    const env = { FEATURES_STORE_URL: `lmdb:${join(disk.folder, "store")}`, FEATURES_PORT: "0" };
    {
      await using store = await openFeatureStore(env.FEATURES_STORE_URL);
      await store.change("customer", "1", [{ type: "add", feature: "kept" }]);
    }
    await disk.fill();
    const started = run("src/main.ts", { args: ["features"], env });
    await started.waitForOutput("listening");
    const url = urlIn(started.output());
    let count = 0;
    await eventually(async () => {
      const path = `/features/customer/2/${"x".repeat(200)}${count++}`;
      const { statusCode, body } = await request(url + path, { method: "POST" });
      await body.dump();
      expect(statusCode).toBe(500);
    });
    started.child.kill("SIGTERM");
    // The library would print its errors by itself.
    expect(await started.exit).toMatchObject({ code: 0, errors: "" });
    await using store = await openFeatureStore(env.FEATURES_STORE_URL);
    expect(await featuresOf(store, "customer", "1")).toEqual(["kept"]);
  });

  test("does not start without files, and states the reason", async () => {
    await using disk = await openDisk();
    await disk.fill();
    const env = { FEATURES_STORE_URL: `lmdb:${join(disk.folder, "store")}`, FEATURES_PORT: "0" };
    const { code, errors } = await run("src/main.ts", { args: ["features"], env }).exit;
    expect([code, errors]).toEqual([
      1,
      expect.stringMatching(
        /"msg":"features: .* has 0 MiB of free space, .*; free some, then start again"\}\n$/,
      ),
    ]);
  });
});
