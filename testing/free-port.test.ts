import { expect, test } from "vitest";
import { freePort } from "./free-port.ts";

test.runIf(process.platform === "linux")(
  "no port is returned twice, even before a server listens at it",
  async () => {
    const ports = new Set<number>();
    for (let count = 1; count <= 500; count++) expect(ports.add(await freePort()).size).toBe(count);
  },
);
