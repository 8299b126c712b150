import { expect, test } from "vitest";
import { freePort } from "./free-port.ts";

test.runIf(process.platform === "linux")(
  "no two callers get the same port, even before they listen",
  async () => {
    const ports = new Set<number>();
    for (let count = 1; count <= 500; count++) expect(ports.add(await freePort()).size).toBe(count);
  },
);
