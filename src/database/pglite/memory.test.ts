import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { startProcess } from "../../../testing/child-process.ts";
import { eventually } from "../../../testing/eventually.ts";
import { freePort } from "../../../testing/free-port.ts";
import { startEnvironment, startOptions } from "../../../testing/npm-start.ts";
import { root } from "../../../testing/project.ts";
import { newFolder } from "../../../testing/run.ts";
import { DatabaseUnavailable } from "../database.ts";
import { openDatabase } from "../databases.ts";
import { newEmbedded } from "../new-database.fixture.ts";

/** Measured: 229 to 242, when V8 has ended the optimizations that the start caused. */
const residentMaxMebibytes = 250;
/** Measured: 316 to 330. While the tables are created, V8 optimizes the functions of the engine that do it. */
const peakMaxMebibytes = 340;

function memoryOf(pid: number | undefined, name: "VmRSS" | "VmHWM"): number {
  const [, kibibytes] =
    new RegExp(`${name}:\\s+(\\d+) kB`).exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
  return Number(kibibytes) / 1024;
}

test("the ledger with its embedded engines is resident in 250 MiB when it has started, also in a new folder", async () => {
  const cwd = newFolder();
  for (const start of ["first", "second"]) {
    const env = {
      PATH: process.env.PATH,
      ...startEnvironment,
      LEDGER_PORT: String(await freePort()),
      QUEUE_URL: `sqs+embedded:./data/queue?port=${await freePort()}`,
    };
    const command = [process.execPath, ...startOptions, join(root, "src/main.ts"), "ledger"];
    await using ledger = startProcess(command, { cwd, env });
    await eventually(async () => expect(ledger.output()).toContain("Server listening"));
    await eventually(() =>
      expect(memoryOf(ledger.child.pid, "VmRSS"), start).toBeLessThan(residentMaxMebibytes),
    );
    expect(memoryOf(ledger.child.pid, "VmHWM"), start).toBeLessThan(peakMaxMebibytes);
  }
});

test("an engine that ends, here for a result of a gigabyte, is an outage and is replaced", async () => {
  await using made = await newEmbedded();
  await using database = await openDatabase(made.url);
  await database.run("create table thing as select 1 as id");
  const large = database.query("select repeat('x', 10000) from generate_series(1, 100000)");
  const behind = database.query("select id from thing");
  await expect(large).rejects.toThrow(DatabaseUnavailable);
  expect(await behind).toEqual([{ id: 1 }]);
});
