import { mkdtempDisposable } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Issuer, openIssuer } from "../../../testing/issuer.ts";
import { featureSamples } from "../../../testing/requests.ts";
import { featuresContract } from "../../contract/contracts.ts";
import { operationsOf } from "../../contract/operations.ts";
import { recordedOperations } from "../../contract/recorded.ts";
import type { Access, AccessLog } from "../../http/access/access-log.ts";
import { openRecorder } from "../../ledger/access/recorder.ts";
import { openLedgerDatabase } from "../../ledger/tables/ledger-database.fixture.ts";
import { openLog } from "../../process/log.ts";
import { startFeatures } from "./features.fixture.ts";

const recorded = recordedOperations(featuresContract, operationsOf(featuresContract)).map(
  ({ operationId }) => operationId,
);

const accesses: Access[] = [];
const accessLog: AccessLog = {
  record(access, done) {
    accesses.push(access);
    done();
  },
};
let issuer: Issuer;
let service: Awaited<ReturnType<typeof startFeatures>>;
const disposables = new AsyncDisposableStack();
beforeAll(async () => {
  issuer = disposables.use(await openIssuer());
  service = disposables.use(await startFeatures({ security: issuer.security, accessLog }));
});
afterAll(() => disposables.disposeAsync());

const samples = Object.entries(featureSamples).filter(([, { scopes }]) => scopes.length > 0);

test("each change leaves one record, whatever its outcome, and no read does", async () => {
  const send = async (id: string, path: string, scope: string) => {
    const { method, headers, body } = featureSamples[id as keyof typeof featureSamples];
    const authorization = `Bearer ${await issuer.sign({ scope, sub: "anna", client_id: "admin" })}`;
    return service.request(method, path, { headers: { ...headers, authorization }, body });
  };
  expect(recorded.sort()).toEqual([
    "addFeature",
    "changeFeatures",
    "removeFeature",
    "removeFeatures",
    "replaceFeatures",
  ]);
  for (const [id, sample] of samples.filter(([id]) => id !== "followFlags")) {
    const [scope = ""] = sample.scopes;
    const separator = sample.path.includes("?") ? "&" : "?";
    for (const [at, given, status] of [
      [sample.path, scope, [200, 201, 204]],
      [sample.path, "other", [403]],
      [`${sample.path}${separator}surplus=1`, scope, [400]],
    ] as const) {
      accesses.length = 0;
      const response = await send(id, at, given);
      expect([id, status]).toEqual([id, expect.arrayContaining([response.status])]);
      const expected = { service: "features", operation: id, subject: "anna", client: "admin" };
      expect(accesses).toMatchObject(recorded.includes(id) ? [{ ...expected, status: response.status }] : []);
    }
  }
});

test("a record names the resources of the change", async () => {
  const authorization = `Bearer ${await issuer.sign({ scope: "features:write" })}`;
  const resourcesOf = async (...request: Parameters<typeof service.request>) => {
    accesses.length = 0;
    const [method, path, options] = request;
    await service.request(method, path, { ...options, headers: { authorization, "access-reason": "trial" } });
    return accesses.map((access) => [access.resource_ids, access.resource_count, access.reason]);
  };
  expect(await resourcesOf("POST", "/features/customer/7/beta%20search")).toEqual([
    [["customer/7"], 1, "trial"],
  ]);
  // The database of the records would take neither.
  const odd = ["\u0000", "\ud800"].map((id) => ({ type: "add", resource: "customer", id, feature: "beta" }));
  for (const [ids] of await resourcesOf("POST", "/changes", { body: { changes: odd } }))
    expect(JSON.stringify(ids)).not.toMatch(/\\u0000|\\ud800/);
  const changes = ["8", "9", "8"].map((id) => ({ type: "add", resource: "customer", id, feature: "beta" }));
  expect(await resourcesOf("POST", "/changes", { body: { changes } })).toEqual([
    [["customer/8", "customer/9"], 2, "trial"],
  ]);
});

test("changes are withheld as long as the database of the records is not open, and reads are not", async () => {
  await using database = await openLedgerDatabase();
  await using folder = await mkdtempDisposable(join(tmpdir(), "journal-"));
  const later = openRecorder(folder.path, openLog("silent"));
  await using other = await startFeatures({ security: issuer.security, accessLog: later });
  const authorization = `Bearer ${await issuer.sign({ scope: "features:read features:write" })}`;
  const send = (method: "GET" | "POST") =>
    other.request(method, "/features/customer/7/beta", { headers: { authorization } });
  const withheld = await send("POST");
  expect([withheld.status, withheld.headers["retry-after"], withheld.text]).toEqual([
    503,
    "1",
    expect.stringMatching(/^the access could not be recorded.*\n$/),
  ]);
  expect((await send("GET")).status).toBe(200);
  {
    await using _opened = await later.open(database);
    expect((await send("POST")).status).toBe(200);
  }
  // The end saves what is left.
  expect(await database.query("select operation from access_record")).toEqual([{ operation: "addFeature" }]);
});
