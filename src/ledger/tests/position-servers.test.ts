import { join } from "node:path";
import { expect, test } from "vitest";
import { outputOf } from "../../../testing/child-process.ts";
import { describeIfAvailable } from "../../../testing/describe-if-available.ts";
import { message } from "../../../testing/messages.ts";
import { newFolder, run } from "../../../testing/run.ts";
import {
  isPostgresInstalled,
  postgresProgram,
  runOn,
  startPostgres,
  startReplicaOf,
} from "../../../testing/servers/postgres.ts";
import { openDatabase, openReplica } from "../../database/databases.ts";
import { mergeSummaryChanges } from "../tables/summary/upkeep.ts";
import { payment, startLedger } from "./ledger.fixture.ts";

const paths = [
  "/v1/report/transactions?account_id=57&group_by=state,day",
  "/v1/transaction?account_id=57",
  "/v1/transaction/p1?account_id=57",
  "/v1/transaction/p1/event?gateway_account_id=57",
  "/v1/transaction?account_id=57&format=csv&position_line=true",
];
type Ledger = Awaited<ReturnType<typeof startLedger>>;

/** The responses to all paths as of a position, as bytes. */
const responsesAt = (ledger: Ledger, position: string) =>
  Promise.all(
    paths.map(async (path) => {
      const { status, text } = await ledger.request(`${path}&known_at=${position}`);
      expect([path, status]).toEqual([path, 200]);
      return text.replaceAll(ledger.base, "");
    }),
  );

const confirmed = (id: string) => payment(id, {}, ["11:00", "CAPTURE_CONFIRMED", { fee: 5 }])[1] as object;

describeIfAvailable("PostgreSQL", isPostgresInstalled())("a position", () => {
  test("is awaited by a replica that is behind, and gives the same responses there, after a rebuild and after a restore", async () => {
    await using primary = await startPostgres();
    await using standby = await startReplicaOf(primary);
    const dump = join(newFolder(), "ledger.dump");
    await using ofPrimary = await startLedger({ open: () => openDatabase(primary.url), eventWrites: true });
    await using replica = await openReplica(standby.url);
    await using ofReplica = await startLedger({ open: () => openDatabase(primary.url), replica });
    await ofPrimary.store(payment("p1"), payment("p2"));
    const signed = String((await ofPrimary.request(paths[0] as string)).headers["ledger-position"]);
    const expected = await responsesAt(ofPrimary, signed);
    await ofPrimary.send(confirmed("p1"), confirmed("p2"));
    await ofPrimary.until("/v1/report/transactions?account_id=57", { groups: [{ fee: 10 }] });
    await mergeSummaryChanges(ofPrimary.database, 1000);
    expect(await responsesAt(ofPrimary, signed)).toEqual(expected);
    expect(await responsesAt(ofReplica, signed)).toEqual(expected);

    await runOn(standby, "select pg_wal_replay_pause()");
    const written = await ofPrimary.request("/v1/event", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(
        message({ resource_external_id: "p3", event_details: { gateway_account_id: "57" } }),
      ),
    });
    const demanded = `/v1/transaction/p3?account_id=57&at_least=${written.headers["ledger-position"]}`;
    const behind = await ofReplica.request(demanded);
    expect([behind.status, behind.headers["retry-after"]]).toEqual([503, "1"]);
    await runOn(standby, "select pg_wal_replay_resume()");
    expect((await ofReplica.request(demanded)).status).toBe(200);

    const reproject = await run("src/ledger/commands/reproject.ts", {
      args: ["--all"],
      env: { DATABASE_URL: primary.url },
    }).exit;
    expect(reproject.code).toBe(0);
    expect(await responsesAt(ofPrimary, signed)).toEqual(expected);

    await outputOf([postgresProgram("pg_dump") ?? "", "--format=custom", `--file=${dump}`, primary.url]);
    await using restored = await startPostgres();
    const options = ["--exit-on-error", "--single-transaction", "--no-owner"];
    await outputOf([postgresProgram("pg_restore") ?? "", ...options, `--dbname=${restored.url}`, dump]);
    await using elsewhere = await startLedger({ open: () => openDatabase(restored.url) });
    expect(await responsesAt(elsewhere, signed)).toEqual(expected);
    await elsewhere.store(payment("p4"));
    await elsewhere.send(payment("p1", {}, ["12:00", "CAPTURE_CONFIRMED", { fee: 7 }])[1] as object);
    await elsewhere.until("/v1/report/transactions?account_id=57", { groups: [{ count: 4, fee: 12 }] });
    expect(await responsesAt(elsewhere, signed)).toEqual(expected);
  });
});
