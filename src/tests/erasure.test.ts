import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { outputOf } from "../../testing/child-process.ts";
import { describeIfAvailable } from "../../testing/describe-if-available.ts";
import { eventually } from "../../testing/eventually.ts";
import { story } from "../../testing/messages.ts";
import {
  isPostgresInstalled,
  postgresProgram,
  runOn,
  startPostgres,
} from "../../testing/servers/postgres.ts";
import { newInstallation } from "../main.fixture.ts";

const count = 1000;
const ids = Array.from({ length: count }, (_, index) => `erased-${index}`);
const valueForm = /personal-\d{4}/gi;
const valueAt = (index: number) => `personal-${String(index).padStart(4, "0")}`;

/** Events of payments, as lines for `send-events`. Each has one personal value in several members. */
const linesOf = (indexes: number[], time: string, type = "PAYMENT_CREATED") =>
  indexes
    .flatMap((index) => {
      const value = valueAt(index);
      const own = { reference: value, email: `${value}@example.org`, cardholder_name: value.toUpperCase() };
      const details = { amount: 100, ...own, undeclared: value, external_metadata: { note: value } };
      return story("payment", ids[index] as string, [time, type, details, { extra: value }]);
    })
    .map((message) => `${JSON.stringify(message)}\n`)
    .join("");
const all = ids.map((_, index) => index);

/** The files in a folder, but the write-ahead logs of PostgreSQL. */
function filesIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !`${entry.parentPath}/`.includes("/pg_wal/"))
    .map((entry) => join(entry.parentPath, entry.name));
}

const valuesIn = (bytes: Buffer): Set<string> =>
  new Set((bytes.toString("latin1").match(valueForm) ?? []).map((text) => text.toLowerCase()));

/** The personal values in the bytes of the files of folders, each with the file. */
const valuesInFiles = (folders: string[]) =>
  new Map(
    folders
      .flatMap(filesIn)
      .flatMap((file) => [...valuesIn(readFileSync(file))].map((value) => [value, file])),
  );

type Installation = Awaited<ReturnType<typeof newInstallation>>;

const invalid = `${JSON.stringify({ resource_external_id: "erased-7", reference: valueAt(7) })}\n`;

/** Sends the events of payments, of which one becomes a dead letter. */
async function fill({ command, ledger }: Installation): Promise<void> {
  await command(
    "send-events",
    ["-"],
    linesOf(all, "09:00") + linesOf(all, "09:10", "PAYMENT_DETAILS_ENTERED") + invalid,
  );
  await untilReceived(ledger);
}

/** Redacts the payments while other events arrive, also late ones of the payments. */
async function eraseUnderLoad({ command, ledger }: Installation): Promise<void> {
  let isDone = false;
  async function load() {
    for (let round = 0; !isDone; round += 1) {
      const others = story("payment", `other-${round}`, [
        "09:00",
        "PAYMENT_CREATED",
        { amount: 1, reference: "kept" },
      ]);
      const late = linesOf([round % count], "10:00", `LATE_${round}`);
      await command("send-events", ["-"], `${JSON.stringify(others[0])}\n${late}${invalid}`);
    }
  }
  const loaded = load();
  try {
    const output = await command("redact", [...ids, "--rewrite"]);
    expect(output).toContain(`redacted ${count.toLocaleString("en")} resources\n`);
  } finally {
    isDone = true;
    await loaded;
  }
  await untilReceived(ledger);
  // Messages that waited when the file of the queue was rewritten were deleted afterwards.
  await command("redact", ["--rewrite"]);
}

async function untilReceived(ledger: string): Promise<void> {
  await eventually(async () =>
    expect(await (await fetch(`${ledger}/v1/intake`)).json()).toMatchObject({ messages_waiting: 0 }),
  );
}

const hasAll = (values: Map<string, string>) => expect(values.size).toBe(count);
const hasNone = (values: Map<string, string>) => expect([...new Set(values.values())]).toEqual([]);

test("the folders of embedded engines have no byte of erased values", async () => {
  const installation = await newInstallation();
  const stop = await installation.start();
  const data = join(installation.folder, "data");
  await fill(installation);
  await stop();
  hasAll(valuesInFiles([data]));
  const stopAgain = await installation.start();
  await eraseUnderLoad(installation);
  await stopAgain();
  hasNone(valuesInFiles([data]));
});

describeIfAvailable("PostgreSQL", isPostgresInstalled())("erasure from PostgreSQL", () => {
  test("the files of tables and indexes, and a dump, have no byte of erased values", async () => {
    await using server = await startPostgres();
    const installation = await newInstallation({ DATABASE_URL: server.url });
    const stop = await installation.start();
    const { rows } = await runOn(server, "select current_setting('data_directory') as folder");
    const folders = [rows[0].folder, join(installation.folder, "data")];
    await fill(installation);
    await runOn(server, "checkpoint");
    hasAll(valuesInFiles(folders));
    await eraseUnderLoad(installation);
    await runOn(server, "checkpoint");
    hasNone(valuesInFiles(folders));
    const dump = await outputOf([postgresProgram("pg_dump") ?? "", server.url]);
    expect(dump).toContain("<REDACTED>");
    expect(dump).not.toMatch(valueForm);
    await stop();
  });
});
