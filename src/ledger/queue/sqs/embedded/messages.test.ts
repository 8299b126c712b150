import { statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import fc from "fast-check";
import { expect, test } from "vitest";
import { newFolder } from "../../../../../testing/run.ts";
import { isBusy } from "./database.ts";
import { type Messages, openMessages, type StoredMessage } from "./messages.ts";
import type { Receipt } from "./receipt.ts";

/** A clock that moves only when a test moves it, in seconds. */
function openClock() {
  let now = 1_700_000_000_000;
  return {
    now: () => now,
    advance: (seconds: number) => {
      now += seconds * 1000;
    },
  };
}

interface ModelMessage {
  body: string;
  sentAt: number;
  visibleAt: number;
  received: number;
  firstReceivedAt: number;
  isPurged: boolean;
}

interface ModelDelivery {
  message: ModelMessage;
  received: number;
}

/** The rules of the queue on a list, in the order of sending. Times are those of the clock. */
function openModel(now: () => number) {
  let messages: ModelMessage[] = [];
  let retentionMs = Number.POSITIVE_INFINITY;
  const isDoomed = ({ sentAt, isPurged }: ModelMessage) => isPurged || sentAt <= now() - retentionMs;
  return {
    append(body: string, delayMs: number) {
      const message = { body, sentAt: now(), visibleAt: now() + delayMs, received: 0 };
      messages.push({ ...message, firstReceivedAt: 0, isPurged: false });
    },
    receive(max: number, hiddenMs: number): ModelDelivery[] {
      const visible = messages.filter((message) => message.visibleAt <= now() && !isDoomed(message));
      const delivered = visible.sort((a, b) => a.visibleAt - b.visibleAt).slice(0, max);
      return delivered.map((message) => {
        message.firstReceivedAt ||= now();
        message.received += 1;
        message.visibleAt = now() + hiddenMs;
        return { message, received: message.received };
      });
    },
    isLast: ({ message, received }: ModelDelivery) =>
      messages.includes(message) && message.received === received,
    remove(message: ModelMessage) {
      messages = messages.filter((other) => other !== message);
    },
    retain(seconds: number | undefined) {
      retentionMs = (seconds ?? Number.POSITIVE_INFINITY) * 1000;
    },
    purge() {
      for (const message of messages) message.isPurged = true;
    },
    clean() {
      messages = messages.filter((message) => !isDoomed(message));
    },
    counts() {
      const hidden = messages.filter(({ visibleAt }) => visibleAt > now());
      const inFlight = hidden.filter(({ received }) => received > 0).length;
      const delayed = hidden.length - inFlight;
      return { visible: messages.length - hidden.length, inFlight, delayed };
    },
  };
}

const seconds = (max: number) => fc.integer({ min: 0, max });
const step = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant("send" as const),
      delay: fc.oneof(fc.constant(0), seconds(20)),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant("receive" as const),
      max: fc.integer({ min: 1, max: 10 }),
      hidden: seconds(30),
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("remove" as const), which: fc.nat() }) },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant("hide" as const), which: fc.nat(), hidden: seconds(30) }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("advance" as const), by: seconds(40) }) },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant("retain" as const),
      seconds: fc.option(fc.integer({ min: 60, max: 90 }), { nil: undefined }),
    }),
  },
  { weight: 1, arbitrary: fc.constantFrom({ kind: "purge" as const }, { kind: "reopen" as const }) },
);
type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never;

test("messages are as a model says, whatever is sent, received, deleted, hidden, purged and expires", () => {
  const seen = new Set<string>();
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60, size: "max" }), (steps) => runSteps(steps, seen)),
    { numRuns: 60 },
  );
  expect([...seen].sort()).toEqual([
    "advance",
    "deleted by an old delivery",
    "delivered",
    "expired",
    "hidden",
    "hide",
    "purge",
    "purged",
    "receive",
    "remove",
    "removed",
    "reopen",
    "retain",
    "send",
  ]);
});

type StepOf<Kind> = Extract<Step, { kind: Kind }>;

/** Does the same to messages in a folder and to the model, and compares what they return. */
function openBoth(seen: Set<string>) {
  const folder = newFolder();
  const { now, advance } = openClock();
  const model = openModel(now);
  let messages = openMessages(folder, now);
  const change = <Result>(work: (messages: Messages) => Result) => messages.transaction(() => work(messages));
  const deliveries: { real: StoredMessage; expected: ModelDelivery }[] = [];
  const pick = (which: number) => deliveries[which % Math.max(deliveries.length, 1)];
  let sent = 0;

  return {
    send({ delay }: StepOf<"send">) {
      sent += 1;
      change(() => messages.append({ body: `body ${sent}`, delayMs: delay * 1000 }));
      model.append(`body ${sent}`, delay * 1000);
    },
    receive({ max, hidden }: StepOf<"receive">) {
      const received = change(() => messages.receive(max, hidden * 1000));
      const expected = model.receive(max, hidden * 1000);
      expect(received).toMatchObject(
        expected.map(({ message: { body, sentAt, firstReceivedAt }, received }) => ({
          ...{ body, sentAt, firstReceivedAt, received },
        })),
      );
      for (const [index, real] of received.entries())
        deliveries.push({ real, expected: expected[index] as ModelDelivery });
      if (received.length > 0) seen.add("delivered");
      if (this.clean()) seen.add("expired");
    },
    remove({ which }: StepOf<"remove">) {
      const delivery = pick(which);
      if (!delivery) return;
      change(() => messages.remove(delivery.real));
      const isLast = model.isLast(delivery.expected);
      if (isLast) model.remove(delivery.expected.message);
      seen.add(isLast ? "removed" : "deleted by an old delivery");
    },
    hide({ which, hidden }: StepOf<"hide">) {
      const delivery = pick(which);
      if (!delivery) return;
      const { expected, real } = delivery;
      const isHidden = model.isLast(expected) && expected.message.visibleAt > now();
      expect(change(() => messages.hide(real, hidden * 1000))).toBe(isHidden);
      if (isHidden) expected.message.visibleAt = now() + hidden * 1000;
      if (isHidden) seen.add("hidden");
    },
    advance: ({ by }: StepOf<"advance">) => advance(by),
    retain({ seconds }: StepOf<"retain">) {
      change(() => messages.set("MessageRetentionPeriod", seconds?.toString()));
      model.retain(seconds);
    },
    purge() {
      change(() => messages.purge());
      model.purge();
      if (this.clean()) seen.add("purged");
    },
    reopen() {
      this.close();
      messages = openMessages(folder, now);
    },
    compare: () => expect(messages.counts()).toEqual(model.counts()),
    /** True if this has removed messages. They count until then. */
    clean(): boolean {
      const before = model.counts();
      change(() => messages.clean());
      model.clean();
      return sum(before) > sum(model.counts());
    },
    close: () => messages[Symbol.dispose](),
  };
}

function runSteps(steps: Step[], seen: Set<string>): void {
  const both = openBoth(seen);
  for (const one of steps) {
    seen.add(one.kind);
    (both[one.kind] as (step: Step) => void).call(both, one);
    both.compare();
  }
  both.close();
}

const sum = ({ visible, inFlight, delayed }: ReturnType<Messages["counts"]>) => visible + inFlight + delayed;

const file = (folder: string) => join(folder, "messages.sqlite");

/** Appends so many messages of a size, a thousand in each transaction. */
function fill(messages: Messages, count: number, bytes: number): void {
  const body = "x".repeat(bytes);
  for (let left = count; left > 0; left -= 1000)
    messages.transaction(() => {
      for (let index = 0; index < Math.min(left, 1000); index += 1) messages.append({ body });
    });
}

function drain(messages: Messages): number {
  let count = 0;
  for (let received: Receipt[] = [{} as Receipt]; received.length > 0; count += received.length)
    received = messages.transaction(() => {
      const deliveries = messages.receive(10, 30_000);
      for (const delivery of deliveries) messages.remove(delivery);
      return deliveries;
    });
  return count;
}

test("the file becomes small again when its messages are deleted, without a restart", () => {
  const folder = newFolder();
  using messages = openMessages(folder);
  fill(messages, 30_000, 1000);
  fill(messages, 20, 2 ** 20);
  const full = statSync(file(folder)).size;
  expect(full).toBeGreaterThan(50 * 2 ** 20);
  expect(drain(messages)).toBe(30_020);
  while (messages.shrink());
  expect(statSync(file(folder)).size).toBeLessThan(10 * 2 ** 20);
});

test("deliveries of one call have 4 MiB at most, or are a single one", () => {
  using messages = openMessages(newFolder());
  fill(messages, 10, 2 ** 20);
  const receive = () => messages.transaction(() => messages.receive(10, 30_000)).length;
  expect([receive(), receive(), receive(), receive()]).toEqual([4, 4, 2, 0]);
});

test("many expired messages are removed in steps, and none of them is delivered meanwhile", () => {
  const { now, advance } = openClock();
  using messages = openMessages(newFolder(), now);
  messages.transaction(() => messages.set("MessageRetentionPeriod", "60"));
  fill(messages, 2500, 10);
  advance(60);
  messages.transaction(() => messages.append({ body: "later" }));
  let steps = 1;
  const receive = () => messages.transaction(() => messages.receive(10, 30_000));
  expect(receive()).toEqual([]);
  for (; messages.transaction(() => messages.clean()); steps += 1);
  expect(steps).toBeGreaterThanOrEqual(5);
  expect(receive().map(({ body }) => body)).toEqual(["later"]);
  expect(messages.counts()).toEqual({ visible: 0, inFlight: 1, delayed: 0 });
});

test("two connections see each other's messages; one that writes makes the other busy", () => {
  const folder = newFolder();
  using first = openMessages(folder);
  using second = openMessages(folder);
  first.transaction(() => first.append({ body: "1" }));
  expect(second.transaction(() => second.receive(10, 30_000)).map(({ body }) => body)).toEqual(["1"]);
  let error: unknown;
  first.transaction(() => {
    first.append({ body: "2" });
    try {
      second.transaction(() => second.append({ body: "3" }));
    } catch (thrown) {
      error = thrown;
    }
  });
  expect(isBusy(error)).toBe(true);
  expect(second.counts()).toMatchObject({ visible: 1, inFlight: 1 });
});

test("work that throws changes nothing", () => {
  using messages = openMessages(newFolder());
  const fail = () => {
    messages.append({ body: "1" });
    throw new Error("no");
  };
  expect(() => messages.transaction(fail)).toThrow("no");
  expect([messages.counts().visible, messages.mayReceive()]).toEqual([0, false]);
});

test("a file of a newer release and one that is damaged are errors that say so", () => {
  const newer = newFolder();
  openMessages(newer)[Symbol.dispose]();
  const database = new DatabaseSync(file(newer));
  database.exec("pragma user_version = 2");
  database.close();
  expect(() => openMessages(newer)).toThrow(/was made by a newer release/);
  const damaged = newFolder();
  writeFileSync(file(damaged), "text ".repeat(1000));
  expect(() => openMessages(damaged)).toThrow(/messages.sqlite is damaged or no queue; restore a copy/);
});
