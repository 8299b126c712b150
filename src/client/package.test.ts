import { execFile } from "node:child_process";
import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "vitest";

const run = promisify(execFile);
const root = fileURLToPath(new URL("../../", import.meta.url));

const consumer = `
import { ledgerClient, featuresClient, ResponseError } from "payment-ledger-services/client";
import type { LedgerComponents } from "payment-ledger-services/client";

const ledger = ledgerClient({ baseUrl: "http://127.0.0.1:1" });
const features = featuresClient({ baseUrl: "http://127.0.0.1:1" });
const report = (): Promise<LedgerComponents["schemas"]["HealthReport"]> => ledger.checkHealth();
// @ts-expect-error A list of names is not a number.
const count: number = await features.listFeatures({ resource: "customer", id: "42" }).catch(() => []);
await report().catch((error: NodeJS.ErrnoException) => console.log(error.code, error instanceof ResponseError, count));
console.log(import.meta.resolve("payment-ledger-services/openapi/ledger.yaml").endsWith("/generated/ledger.yaml"));
`;

test("the packed package contains the contracts and a client that compiles and runs in another project", async () => {
  const folder = await mkdtemp(join(tmpdir(), "consumer-"));
  try {
    const { stdout } = await run("npm", ["pack", "--json", "--pack-destination", folder], { cwd: root });
    const [{ filename }] = JSON.parse(stdout.slice(stdout.indexOf("[")));
    const packages = join(folder, "node_modules");
    const unpacked = join(packages, "payment-ledger-services");
    await mkdir(unpacked, { recursive: true });
    await run("tar", ["-xzf", join(folder, filename), "--strip-components=1", "-C", unpacked]);
    for (const name of ["undici", "@types"]) {
      await symlink(join(root, "node_modules", name), join(packages, name));
    }
    await writeFile(join(folder, "package.json"), '{ "type": "module" }');
    await writeFile(join(folder, "consumer.ts"), consumer);
    const tsc = join(root, "node_modules/typescript/bin/tsc");
    const options = ["--strict", "--module", "nodenext", "--target", "es2024", "--types", "node"];
    await run(process.execPath, [tsc, ...options, "consumer.ts"], { cwd: folder });
    const result = await run(process.execPath, ["consumer.js"], { cwd: folder });
    expect(result.stdout).toBe("ECONNREFUSED false []\ntrue\n");
  } finally {
    await rm(folder, { recursive: true });
  }
});
