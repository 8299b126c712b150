import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join, relative } from "node:path";
import { request } from "undici";
import { afterAll, beforeAll, expect, test } from "vitest";
import { eventually } from "../../testing/eventually.ts";
import { run } from "../../testing/run.ts";
import { makeEarlierFolder } from "../ledger/queue/sqs/embedded/earlier-queue.fixture.ts";
import { createdPayment, newInstallation } from "../main.fixture.ts";

let umask = 0;
beforeAll(() => {
  // That of most systems. Processes inherit it.
  umask = process.umask(0o022);
});
afterAll(() => {
  process.umask(umask);
});

const modeOf = (path: string) => (statSync(path).mode & 0o7777).toString(8);

/** A cache of the catalogue, without data, which the embedded engine makes again with the mode of the umask. */
const cache = "pg_internal.init";

/** Everything below a folder but caches. Sockets, files of SQLite and the like can disappear meanwhile. */
const below = (folder: string) =>
  readdirSync(folder, { recursive: true, withFileTypes: true }).flatMap((entry) => {
    const path = join(entry.parentPath, entry.name);
    return existsSync(path) && entry.name !== cache ? [{ path, isFolder: entry.isDirectory() }] : [];
  });

/** What others than this user can access below a folder, with its mode. */
const accessibleIn = (folder: string) =>
  below(folder)
    .map(({ path }) => `${relative(folder, path)} ${modeOf(path)}`)
    .filter((text) => !text.endsWith("00"));

/** Stores an event and a feature, and waits until the event is published to `published`. */
async function store({ command, payment, features }: Installation, published: string, id: string) {
  await command("send-events", ["-"], createdPayment(id));
  await eventually(async () => expect(await payment(id)).toBe(200));
  const url = `${features}/features/customer/42/${id}`;
  const { statusCode, body } = await request(url, { method: "POST" });
  await body.dump();
  expect(statusCode).toBe(201);
  await eventually(() => expect(readFileSync(join(published, "events.ndjson"), "utf8")).toContain(id));
}
type Installation = Awaited<ReturnType<typeof newInstallation>>;

/** Makes the key of the issuer for trials, and exports the features. */
async function runCommands({ folder, command }: Installation) {
  const issuer = run("scripts/token.ts", { args: ["--serve", "--port", "0"], folder });
  await issuer.waitForOutput("listens");
  issuer.child.kill("SIGTERM");
  await issuer.exit;
  await command("src/features/commands/store.ts", ["export", "data/export.ndjson"]);
}

test("no other user can read what the services and commands store, nor what an earlier release has stored", async () => {
  const installation = await newInstallation({ PUBLISH_URL: "file:./data/published" });
  const { folder, start, command } = installation;
  const data = join(folder, "data");
  const published = join(data, "published");
  await command("send-events", ["-"], createdPayment("waits"));
  expect(accessibleIn(folder)).toEqual([]);
  const stop = await start();
  await store(installation, published, "new");
  await runCommands(installation);
  expect(accessibleIn(folder)).toEqual([]);
  expect(readdirSync(data).sort()).toEqual([
    ..."export.ndjson features issuer ledger published queue".split(" "),
  ]);
  await stop();
  expect(accessibleIn(folder)).toEqual([]);

  const queue = join(data, "queue");
  const earlier = makeEarlierFolder({ other: "others" });
  writeFileSync(join(queue, "fauxqs.db"), readFileSync(join(earlier.folder, "fauxqs.db")));
  writeFileSync(join(queue, "other-queues-1.sqlite"), "");
  writeFileSync(join(published, "events.ndjson.1"), "moved away");
  for (const { path, isFolder } of below(data)) chmodSync(path, isFolder ? 0o755 : 0o644);
  expect(accessibleIn(data)).toHaveLength(below(data).length);
  const stopAgain = await start();
  await store(installation, published, "upgraded");
  await runCommands(installation);
  expect(accessibleIn(data)).toEqual([]);
  expect(readdirSync(queue).filter((name) => name.startsWith("other-queues"))).toHaveLength(2);
  await stopAgain();
  expect(accessibleIn(data)).toEqual([]);
});

test("a folder with other files, or for all users, keeps its mode, and only what is stored in it is private", async () => {
  const installation = await newInstallation({ PUBLISH_URL: "file:./data/published" });
  const { folder, start, command } = installation;
  const data = join(folder, "data");
  const kept = ["ledger 755", "ledger/notes.txt 644", "published 755", "published/notes.txt 644"];
  for (const name of ["ledger", "published"]) {
    mkdirSync(join(data, name), { recursive: true });
    writeFileSync(join(data, name, "notes.txt"), "");
  }
  for (const name of ["features", "queue"]) {
    mkdirSync(join(data, name));
    // As the folder for temporary files has it.
    chmodSync(join(data, name), 0o1777);
    kept.push(`${name} 1777`);
  }
  await command("send-events", ["-"], createdPayment("waits"));
  const stop = await start();
  await store(installation, join(data, "published"), "new");
  expect(accessibleIn(data).sort()).toEqual(kept.sort());
  await stop();
  expect(accessibleIn(data).sort()).toEqual(kept);

  // As an earlier release has made them.
  for (const { path, isFolder } of below(data)) if (!isFolder) chmodSync(path, 0o644);
  const stopAgain = await start();
  await store(installation, join(data, "published"), "upgraded");
  expect(accessibleIn(data).sort()).toEqual(kept);
  await stopAgain();
});
