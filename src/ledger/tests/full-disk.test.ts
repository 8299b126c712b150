import { execFile } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { describeIfAvailable } from "../../../testing/describe-if-available.ts";
import { describeOnSmallDisk } from "../../../testing/describe-small-disk.ts";
import { eventually } from "../../../testing/eventually.ts";
import { message } from "../../../testing/messages.ts";
import { newFolder, run } from "../../../testing/run.ts";
import { isPostgresInstalled, startPostgres } from "../../../testing/servers/postgres.ts";
import { openDatabase } from "../../database/databases.ts";
import { startLedger } from "./ledger.fixture.ts";

type Ledger = Awaited<ReturnType<typeof startLedger>>;

/** SQL for a table with free space for new versions of its rows, so that updates extend only the write-ahead log. */
const filler = (rows: number) => `
  create table filler (number int, words text);
  insert into filler select number, repeat(md5(number::text), 30) from generate_series(1, ${rows}) as number;
  delete from filler where number % 2 = 0;
  vacuum filler;
  checkpoint`;

const reads = [
  ["/v1/transaction/before?account_id=57"],
  ["/v1/transaction/before?account_id=57&as_of=2024-03-05T12:00:00Z"],
  ["/v1/transaction/before/event?gateway_account_id=57"],
  ["/v1/transaction/?account_id=57"],
  ["/v1/transaction/?account_id=57&metadata_value=a"],
  ["/v1/transaction/?override_account_id_restriction=true"],
  ["/v1/transaction/?account_id=57", "text/csv"],
  ["/v1/event/1"],
  ["/healthcheck"],
  ["/metrics"],
] as const;

/** Sends all requests of `reads` and returns their statuses. */
async function statuses(ledger: Ledger): Promise<number[]> {
  const found: number[] = [];
  for (const [path, accept = "application/json"] of reads) {
    found.push((await ledger.request(path, { headers: { accept } })).status);
  }
  return found;
}

/** Updates rows until the write-ahead log cannot be extended. */
async function fillLog({ database }: Ledger): Promise<void> {
  const update = "update filler set words = md5(words) || words where number % 20 = $1";
  for (let [round, isFull] = [0, false]; !isFull; round += 1)
    isFull = await database.query(update, [round % 20]).then(
      () => false,
      () => true,
    );
}

async function expectRecoveryFromFullDisk(
  ledger: Ledger,
  disk: { fill(): Promise<void>; clear(): Promise<void> },
) {
  await ledger.store([message({ resource_external_id: "before" })]);
  for (const statement of filler(20_000).split(";")) await ledger.database.run(statement);
  await disk.fill();
  const sort =
    "select count(*) from (select words, g from filler, generate_series(1, 9) as g order by words, g offset 9) as sorted";
  await expect(ledger.database.query(sort)).rejects.toThrow(/^the database is unavailable: .*No space left/);
  for (const status of await statuses(ledger)) expect([200, 503]).toContain(status);
  await fillLog(ledger);
  for (const status of await statuses(ledger)) expect([200, 503]).toContain(status);
  const delivered = async () => {
    const { text } = await ledger.request("/metrics");
    const counts = [...text.matchAll(/outcome="(?:stored|retried)"\} (\d+)/g)].map(([, count]) =>
      Number(count),
    );
    return counts.reduce((sum, count) => sum + count, 0);
  };
  const before = await delivered();
  await ledger.send(...["1", "2", "3"].map((id) => message({ resource_external_id: id })));
  await eventually(async () => expect(await delivered()).toBeGreaterThan(before));
  await disk.clear();
  for (const id of ["before", "1", "2", "3"]) {
    await ledger.until(`/v1/transaction/${id}?account_id=57`, { transaction_id: id });
  }
  expect(await statuses(ledger)).toEqual(reads.map(() => 200));
}

describeOnSmallDisk("on a full disk, the ledger in the embedded database", 300, (openDisk) => {
  test("answers or responds 503, loses nothing, and continues when there is space", async () => {
    await using disk = await openDisk();
    const url = `pglite:${join(disk.folder, "database")}`;
    await using ledger = await startLedger({ open: () => openDatabase(url) });
    await expectRecoveryFromFullDisk(ledger, disk);
    expect((await ledger.request("/healthcheck")).status).toBe(200);
  });

  test("states the reason when it cannot start after a kill, and starts when there is space", async () => {
    await using disk = await openDisk();
    const env = {
      DATABASE_URL: `pglite:${join(disk.folder, "database")}`,
      QUEUE_URL: "memory:",
      LEDGER_PORT: "0",
    };
    const start = () => run("src/main.ts", { args: ["ledger"], env });
    {
      await using database = await openDatabase(env.DATABASE_URL);
      for (const statement of filler(20_000).split(";")) await database.run(statement);
    }
    const failed = await disk.fill().then(() => start().exit);
    expect([failed.code, failed.errors]).toEqual([1, noSpace]);
    await disk.clear();
    const ledger = start();
    await ledger.waitForOutput("listening");
    await disk.fill();
    ledger.child.kill("SIGKILL");
    await ledger.exit;
    const { code, errors } = await start().exit;
    expect([code, errors]).toEqual([1, noSpace]);
    await disk.clear();
    const again = start();
    await again.waitForOutput("listening");
    again.child.kill("SIGTERM");
    expect((await again.exit).code).toBe(0);
  });
});
const noSpace = expect.stringMatching(
  /"msg":"ledger: the disk of the folder \S+ .*; free some( space)?, then start again"\}\n$/,
);

describeOnSmallDisk("on a full disk of the PostgreSQL server", 600, (openDisk) => {
  describeIfAvailable("PostgreSQL", isPostgresInstalled())("the ledger", () => {
    test("answers or responds 503, loses nothing, and continues when there is space", async () => {
      await using disk = await openDisk();
      await using server = await startPostgres(disk.folder);
      await using ledger = await startLedger({ open: () => openDatabase(server.url) });
      await expectRecoveryFromFullDisk(ledger, {
        fill: () => disk.fill(),
        async clear() {
          await disk.clear();
          // The server exits if it lacked the space for its recovery, perhaps only now.
          await eventually(async () => {
            if (!server.isRunning()) await server.start();
            await ledger.database.query("select 1");
          });
        },
      });
    });
  });
});

test("a limit on the file size is an outage of the embedded database", async () => {
  const module = fileURLToPath(new URL("../../database/databases.ts", import.meta.url));
  const program = `
    import { openDatabase } from ${JSON.stringify(module)};
    await using database = await openDatabase(process.argv[1]);
    await database.run(${JSON.stringify(filler(10_000).split(";").slice(0, 2).join(";"))});
    const sort = "select count(*) from (select words, g from filler, generate_series(1, 9) as g order by words, g offset 9) as x";
    const insert = "insert into filler select 1, repeat(words, 4) from filler, generate_series(1, 9)";
    const messages = [];
    for (const statement of [sort, insert]) await database.query(statement).catch(({ message }) => messages.push(message));
    await database.query("select 1");
    console.log(JSON.stringify(messages));`;
  const args = [process.execPath, "--input-type=module", "--eval", program, `pglite:${newFolder()}`];
  // 20 MB, in blocks of 512 bytes.
  const limited = ["-c", 'ulimit -f 40000; exec "$0" "$@"', ...args];
  const { stdout } = await promisify(execFile)("sh", limited);
  expect(JSON.parse(stdout)).toEqual([
    expect.stringMatching(/^the database is unavailable: could not write to file .*: File too large$/),
    expect.stringMatching(/^the database is unavailable: could not extend file .*: File too large$/),
  ]);
});
