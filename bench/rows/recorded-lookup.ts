import { openDatabase } from "../../src/database/databases.ts";
import { openIssuer } from "../../testing/issuer.ts";
import { asNpmStart } from "../../testing/services.ts";
import { lookupPath, sampleTransactions } from "../ledger-data.ts";
import { ledgerWithoutReceiver, startBaseline, startService } from "../programs.ts";
import type { Row } from "../row.ts";
import { compareThroughput, writeRequests } from "../wrk.ts";

export const recordedLookup: Row = {
  title: "transaction lookup with tokens, whose accesses are recorded",
  async open({ seconds, ledgers: sizes }, opened, ledgers) {
    const size = sizes.at(-1) as number;
    const databaseUrl = await ledgers.open(size);
    await using database = await openDatabase(databaseUrl);
    const requests = await writeRequests(
      opened,
      (await sampleTransactions(database, 10_000)).map(lookupPath),
    );
    const issuer = opened.use(await openIssuer());
    const { AUTH_JWKS_URL, AUTH_ISSUER, AUTH_AUDIENCE } = issuer.settings;
    const env = {
      ...ledgerWithoutReceiver(databaseUrl),
      ...{ AUTH_JWKS_URL: AUTH_JWKS_URL.href, AUTH_ISSUER, AUTH_AUDIENCE },
    };
    const service = opened.use(await startService("ledger", { env }));
    const unrecorded = opened.use(await startBaseline("unrecorded-lookup.ts", asNpmStart({ env })));
    const token = await issuer.sign({ sub: "anna", client_id: "bench", scope: "ledger:read:all" });
    const load = { requests, connections: 64, seconds, headers: [`Authorization: Bearer ${token}`] };
    const baseline = { name: "the ledger without records", url: unrecorded.url };
    return [compareThroughput(`of ${size} transactions`, service, baseline, load, 0.95)];
  },
};
