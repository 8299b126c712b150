import { request } from "undici";
import { expect, test } from "vitest";
import { eventually } from "../../../testing/eventually.ts";
import { openIssuer } from "../../../testing/issuer.ts";
import { message } from "../../../testing/messages.ts";
import { newFolder } from "../../../testing/run.ts";
import { openDatabase } from "../../database/databases.ts";
import { describeOnEngines } from "../../database/new-database.fixture.ts";
import { launchLedger } from "./ledger-process.fixture.ts";

describeOnEngines("a ledger that is killed", (make) => {
  test("has lost no record of a response that was received", async () => {
    await using issuer = await openIssuer();
    await using made = await make();
    const { AUTH_JWKS_URL, AUTH_ISSUER, AUTH_AUDIENCE } = issuer.settings;
    const settings = {
      ...{ DATABASE_URL: made.url, EVENT_WRITES: "true" },
      ...{ AUTH_JWKS_URL: AUTH_JWKS_URL.href, AUTH_ISSUER, AUTH_AUDIENCE, AUDIT_JOURNAL: newFolder() },
    };
    const ledger = await launchLedger(settings);
    await ledger.ready();
    const authorization = `Bearer ${await issuer.sign({ scope: "ledger:read:all ledger:write", sub: "anna" })}`;
    const added = await request(`${ledger.url}/v1/event`, {
      method: "POST",
      headers: { authorization, "content-type": "application/json" },
      body: JSON.stringify(
        message({ resource_external_id: "full", event_details: { gateway_account_id: "57" } }),
      ),
    });
    expect(added.statusCode).toBe(202);
    const received: string[] = [];
    let isKilled = false;
    const readers = Array.from({ length: 20 }, async (_, reader) => {
      for (let count = 0; !isKilled; count += 1) {
        const id = `read-${reader}-${count}`;
        const headers = { authorization, "x-request-id": id };
        const path = `/v1/transaction/full?account_id=57`;
        // After the first byte, whether the rest arrives or not.
        const response = await request(ledger.url + path, { headers }).catch(() => undefined);
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
    const rows = await database.query<{ id: string }>("select request_id as id from access_record");
    const records = rows.map(({ id }) => id);
    expect(received.filter((id) => !records.includes(id))).toEqual([]);
    expect(new Set(records).size).toBe(records.length);
  });
});
