import { expect, test } from "vitest";
import { lastingPort } from "./server.ts";

test.runIf(process.platform === "linux")(
  "no two servers get the same port, even before they listen",
  async () => {
    const ports = new Set<number>();
    for (let count = 1; count <= 500; count++) expect(ports.add(await lastingPort()).size).toBe(count);
  },
);
