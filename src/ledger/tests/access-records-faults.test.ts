import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { request } from "undici";
import { expect, test } from "vitest";
import { describeIfAvailable } from "../../../testing/describe-if-available.ts";
import { describeOnSmallDisk } from "../../../testing/describe-small-disk.ts";
import { eventually } from "../../../testing/eventually.ts";
import { openIssuer } from "../../../testing/issuer.ts";
import { message } from "../../../testing/messages.ts";
import { root } from "../../../testing/project.ts";
import { newFolder } from "../../../testing/run.ts";
import type { Database } from "../../database/database.ts";
import { openDatabase } from "../../database/databases.ts";
import { describeOnEngines, newPostgres, postgresServer } from "../../database/new-database.fixture.ts";
import { launchLedger } from "./ledger-process.fixture.ts";

/** Settings of a ledger with tokens, and the header of a caller. */
async function withTokens(issuer: Awaited<ReturnType<typeof openIssuer>>, settings: Record<string, string>) {
  const { AUTH_JWKS_URL, AUTH_ISSUER, AUTH_AUDIENCE } = issuer.settings;
  const scope = "ledger:read:all ledger:write ledger:audit";
  return {
    settings: { AUTH_JWKS_URL: AUTH_JWKS_URL.href, AUTH_ISSUER, AUTH_AUDIENCE, ...settings },
    authorization: `Bearer ${await issuer.sign({ scope, sub: "anna" })}`,
  };
}

/** Adds the transaction `full` of account 57 by a request. */
async function addTransaction({ url }: { url: string }, authorization: string): Promise<void> {
  const event = message({ resource_external_id: "full", event_details: { gateway_account_id: "57" } });
  const { statusCode } = await request(`${url}/v1/event`, {
    method: "POST",
    headers: { authorization, "content-type": "application/json" },
    body: JSON.stringify(event),
  });
  expect(statusCode).toBe(202);
}

/** The ids of the requests that have a record. */
async function requestIds(database: Database): Promise<string[]> {
  const rows = await database.query<{ id: string }>("select request_id as id from access_record order by id");
  return rows.map(({ id }) => id);
}

/** The statements of the document that give a user its rights, for a user of this name. */
const rightsIn = (document: string, user: string): string[] =>
  (/```sql\n(create role [^`]*);\n```/.exec(document)?.[1] ?? "").replaceAll("ledger_api", user).split(";");

const lookup = "/v1/transaction/full?account_id=57";

describeOnEngines("a ledger that is killed", (make) => {
  test("has lost no record of a response that was received", async () => {
    await using issuer = await openIssuer();
    await using made = await make();
    const { settings, authorization } = await withTokens(issuer, {
      ...{ DATABASE_URL: made.url, EVENT_WRITES: "true", AUDIT_JOURNAL: newFolder() },
    });
    const ledger = await launchLedger(settings);
    await ledger.ready();
    await addTransaction(ledger, authorization);
    const received: string[] = [];
    let isKilled = false;
    const readers = Array.from({ length: 20 }, async (_, reader) => {
      for (let count = 0; !isKilled; count += 1) {
        const id = `read-${reader}-${count}`;
        const headers = { authorization, "x-request-id": id };
        // After the first byte, whether the rest arrives or not.
        const response = await request(ledger.url + lookup, { headers }).catch(() => undefined);
        if (!response) continue;
        expect(response.statusCode).toBe(200);
        received.push(id);
        await response.body.dump().catch(() => {});
      }
    });
    await eventually(() => expect(received.length).toBeGreaterThan(300));
    ledger.child.kill("SIGKILL");
    await ledger.exit;
    isKilled = true;
    await Promise.all(readers);
    const next = await launchLedger(settings);
    await next.ready();
    await next.stop();
    await using database = await openDatabase(made.url);
    const records = await requestIds(database);
    expect(received.filter((id) => !records.includes(id))).toEqual([]);
    expect(new Set(records).size).toBe(records.length);
  });
});

describeOnSmallDisk("on a full disk of the journal, a ledger", 32, (openDisk) => {
  test("withholds what it cannot record, also after a kill, and continues when there is space", async () => {
    await using disk = await openDisk();
    await using issuer = await openIssuer();
    const database = `pglite:${newFolder()}`;
    const { settings, authorization } = await withTokens(issuer, {
      ...{ DATABASE_URL: database, EVENT_WRITES: "true", AUDIT_JOURNAL: join(disk.folder, "audit") },
    });
    const ledger = await launchLedger(settings);
    await ledger.ready();
    await addTransaction(ledger, authorization);
    const ids: Record<number, string[]> = { 200: [], 503: [] };
    let count = 0;
    const expectStatus = (of: { get: typeof ledger.get }, expected: number) =>
      eventually(async () => {
        const id = `read-${count++}`;
        const { status } = await of.get(lookup, { authorization, "x-request-id": id });
        ids[status]?.push(id);
        expect(status).toBe(expected);
      });
    await expectStatus(ledger, 200);
    await disk.fill();
    // The journal uses the free space of its files first.
    await expectStatus(ledger, 503);
    expect(await ledger.get("/healthcheck")).toMatchObject({ status: 200 });
    const report = "/v1/report/transactions-summary?account_id=57&from_date=2024-01-01T00:00:00Z";
    expect(await ledger.get(report, { authorization })).toMatchObject({ status: 200 });
    await disk.clear();
    await expectStatus(ledger, 200);
    await disk.fill();
    await expectStatus(ledger, 503);
    ledger.child.kill("SIGKILL");
    await ledger.exit;
    const next = await launchLedger(settings);
    await next.ready();
    await expectStatus(next, 503);
    await disk.clear();
    await expectStatus(next, 200);
    next.child.kill("SIGTERM");
    expect((await next.exit).code).toBe(0);
    await using opened = await openDatabase(database);
    const records = await requestIds(opened);
    expect(ids[200]?.filter((id) => !records.includes(id))).toEqual([]);
    expect(ids[503]?.filter((id) => records.includes(id))).toEqual([]);
  });
});

describeIfAvailable("TEST_POSTGRES_URL", postgresServer !== undefined)("on PostgreSQL, a ledger", () => {
  test("serves and records as a user that can only read and add records", async () => {
    await using issuer = await openIssuer();
    await using made = await newPostgres();
    const { settings, authorization } = await withTokens(issuer, { AUDIT_JOURNAL: newFolder() });
    const owner = await launchLedger({ ...settings, DATABASE_URL: made.url, EVENT_WRITES: "true" });
    await owner.ready();
    await addTransaction(owner, authorization);
    await owner.stop();
    await using database = await openDatabase(made.url);
    const url = new URL(made.url);
    url.username = `reader_${url.pathname.slice(1)}`;
    const document = await readFile(join(root, "deploy/README.md"), "utf8");
    for (const statement of rightsIn(document, url.username)) await database.run(statement);
    const ledger = await launchLedger({
      ...settings,
      DATABASE_URL: url.href,
      QUEUE_RECEIVER_BACKGROUND_PROCESSING: "false",
    });
    await ledger.ready();
    const headers = { authorization, "x-request-id": "of-reader" };
    expect(await ledger.get(lookup, headers)).toMatchObject({ status: 200 });
    await eventually(async () => expect(await requestIds(database)).toContain("of-reader"));
    expect(await ledger.get("/v1/audit", { authorization })).toMatchObject({ status: 200 });
    ledger.child.kill("SIGTERM");
    expect((await ledger.exit).code).toBe(0);
    for (const statement of ["drop owned by", "drop role"])
      await database.run(`${statement} ${url.username}`);
  });
});
