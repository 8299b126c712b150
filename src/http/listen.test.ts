import { request } from "undici";
import { describe, expect, test } from "vitest";
import { freePort } from "../../testing/free-port.ts";
import { featuresApp } from "../features/app.ts";
import { openFeatureStore } from "../features/store/stores.ts";
import { openLog } from "../process/log.ts";
import { listen } from "./listen.ts";

const open = async () => featuresApp({ store: await openFeatureStore("memory:"), log: openLog("silent") });
const address = async (isShared: boolean) => ({
  ...{ host: "127.0.0.1", portSetting: "FEATURES_PORT", port: await freePort(), isShared },
});

describe.runIf(process.platform === "linux")("a shared port", () => {
  test("is that of several services, and of those that remain when one ends", async () => {
    const at = await address(true);
    await using one = await open();
    const url = await listen(one, at);
    await using other = await open();
    expect(await listen(other, at)).toBe(url);
    await one.close();
    for (let count = 0; count < 20; count += 1) {
      const { statusCode, body } = await request(`${url}/features/kind/1`, { reset: true });
      await body.dump();
      expect(statusCode).toBe(200);
    }
  });

  test("is not shared with a service that does not ask for it", async () => {
    for (const shared of [
      [true, false],
      [false, true],
    ] as const) {
      const at = await address(false);
      await using one = await open();
      await listen(one, { ...at, isShared: shared[0] });
      await using other = await open();
      await expect(listen(other, { ...at, isShared: shared[1] })).rejects.toThrow(
        `port ${at.port} of 127.0.0.1 is in use by another program; set FEATURES_PORT to another port`,
      );
    }
  });
});
