import { existsSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, test } from "vitest";
import { newFolder } from "../../../../../testing/run.ts";
import { makeEarlierFolder } from "./earlier-queue.fixture.ts";
import { openMessages } from "./messages.ts";
import { takeOver } from "./takeover.ts";

const name = "payment-events";

test("the messages of the previous release keep their ids, times, attributes and deliveries, and its file is removed", () => {
  const { folder, messages: earlier } = makeEarlierFolder();
  let now = earlier.sentAt + 1000;
  using messages = openMessages(folder, () => now);
  expect(takeOver(folder, name, messages)).toEqual([]);
  expect(readdirSync(folder).filter((file) => file.startsWith("fauxqs"))).toEqual([]);
  expect(messages.counts()).toEqual({ visible: 1, inFlight: 1, delayed: 1 });
  const receive = () => messages.transaction(() => messages.receive(10, 0));
  expect(receive()).toMatchObject([
    {
      id: "d40a31d2-cb4d-4d3c-92c2-0d067eb3de12",
      body: "with attributes",
      sentAt: earlier.sentAt,
      received: 1,
      attributes: {
        a: { DataType: "String", StringValue: "x" },
        b: { DataType: "Binary", BinaryValue: "AQL/" },
      },
    },
  ]);
  now = earlier.sentAt + 900_000;
  expect(receive().map(({ body }) => body)).toEqual(["with attributes", "delayed"]);
  now = earlier.sentAt + 3_600_000;
  expect(receive()).toContainEqual(
    expect.objectContaining({
      body: "plain 💷",
      received: 2,
      sentAt: earlier.sentAt,
      firstReceivedAt: earlier.sentAt + 9,
    }),
  );
  expect(messages.settings()).toMatchObject({ VisibilityTimeout: "77" });
  // Nobody had set it, and the previous release did not obey it.
  expect(messages.setting("MessageRetentionPeriod")).toBeUndefined();
  expect(takeOver(folder, name, messages)).toEqual([]);
});

test("a retention that was set is kept, and a warning names attributes that cannot be", () => {
  const attributes = { MessageRetentionPeriod: "1209600", RedrivePolicy: "{}", FifoQueue: "false" };
  const { folder } = makeEarlierFolder({ attributes });
  using messages = openMessages(folder);
  expect(takeOver(folder, name, messages)).toEqual([
    `the queue in ${folder} no longer has the attributes RedrivePolicy`,
  ]);
  expect(messages.setting("MessageRetentionPeriod")).toBe("1209600");
});

test("messages of other queues stay in a file that a warning names", () => {
  const { folder } = makeEarlierFolder({ other: "dead" });
  using messages = openMessages(folder);
  const warnings = takeOver(folder, name, messages);
  const [kept = ""] = readdirSync(folder).filter((file) => file.startsWith("other-queues-"));
  expect(warnings).toEqual([
    `the folder ${folder} has messages of other queues than ${name}; they are kept in ${kept}`,
  ]);
  const database = new DatabaseSync(join(folder, kept), { readOnly: true });
  expect(database.prepare("select body from sqs_messages where queue_name = 'dead'").all()).toEqual([
    { body: "for dead" },
  ]);
  database.close();
  expect(takeOver(folder, name, messages)).toEqual([]);
});

test("a take-over that fails at any commit or file is completed by the next one, and doubles nothing", () => {
  // Several steps of 8 MiB.
  const large = { count: 30, bytes: 2 ** 20 };
  for (let failAt = 1, hasFailed = true; hasFailed; failAt += 1) {
    const { folder } = makeEarlierFolder({ large });
    {
      using messages = openMessages(folder);
      hasFailed = failsAt(failAt, (fail) => {
        const transaction: typeof messages.transaction = (work, waitMs) => {
          fail();
          const result = messages.transaction(work, waitMs);
          fail();
          return result;
        };
        takeOver(folder, name, { ...messages, transaction });
      });
    }
    using messages = openMessages(folder);
    takeOver(folder, name, messages);
    expect(existsSync(join(folder, "fauxqs.db"))).toBe(false);
    expect(messages.settings()).not.toHaveProperty("copied to");
    const { visible, inFlight, delayed } = messages.counts();
    expect(visible + inFlight + delayed).toBe(3 + large.count);
    if (!hasFailed) expect(failAt).toBeGreaterThan(8);
  }
});

/** True if the work calls `fail` so often, which then throws. */
function failsAt(count: number, work: (fail: () => void) => void): boolean {
  let calls = 0;
  const planned = new Error("planned");
  try {
    work(() => {
      calls += 1;
      if (calls === count) throw planned;
    });
    return false;
  } catch (error) {
    if (error === planned || (error as Error).cause === planned) return true;
    throw error;
  }
}

test("an empty file of the previous release is removed, and one that is damaged is an error that names it", () => {
  const damaged = newFolder();
  writeFileSync(join(damaged, "fauxqs.db"), "text ".repeat(1000));
  using none = openMessages(damaged);
  expect(() => takeOver(damaged, name, none)).toThrow(
    /previous release in .*fauxqs.db cannot be taken over: /,
  );
  const empty = newFolder();
  new DatabaseSync(join(empty, "fauxqs.db")).close();
  using messages = openMessages(empty);
  expect(takeOver(empty, name, messages)).toEqual([]);
  expect(existsSync(join(empty, "fauxqs.db"))).toBe(false);
});
