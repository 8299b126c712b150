import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { DeferredDelivery, FeedEvent } from "../tables/feed/deferred-delivery.ts";
import type { FeedPosition } from "../tables/feed/feed.ts";
import { type Batch, nextBatch, openDispatch, settleBatch } from "./dispatch.ts";
import type { Entry } from "./order.ts";
import { nextTurnAt, problemAt } from "./pace.ts";
import type { Failure } from "./target.ts";
import {
  addDeferred,
  addPage,
  deferredResources,
  hasOutcome,
  roomIn,
  takeOutcome,
  type WindowPage,
} from "./window.ts";

const second = 1000;
const limits = {
  requestsAtATime: 3,
  eventsAtATime: 1,
  delaysMs: [5 * second, 300 * second],
  awayDelayMs: second,
  countMax: 12,
  bytesMax: 1000,
};

const rejected: Failure = { cause: "event", reason: "rejected" };
const unknown: Failure = { cause: "unknown", reason: "unknown" };
const limited = (retryAfterMs?: number): Failure => ({
  cause: "target",
  reason: "limited",
  ...(retryAfterMs !== undefined && { retryAfterMs }),
});

const positionOf = (id: number): FeedPosition => ({
  sql_transaction: 1n,
  event_id: BigInt(id),
  timestamp: "2024-01-01T00:00:00.000000Z",
});
const eventOf = (resource: string, id: number): FeedEvent => ({
  sql_transaction: 1n,
  event_id: BigInt(id),
  resource_type: "payment",
  resource_external_id: resource,
});
const deliveryOf = (resource: string, id: number) => ({
  id: String(id),
  key: resource,
  routingKey: "payment.PAYMENT_CREATED",
  timestamp: "2024-01-01T00:00:00.000000Z",
  body: "{}",
  contentType: "application/json",
});
const idOf = (one: Pick<FeedPosition, "event_id">) => Number(one.event_id);
const resourceOf = ({ entries: [entry] }: Batch) => entry?.event.resource_external_id ?? "";

/** A dispatch whose feed has one event for each of these resources, from number 1 on. */
function dispatchOf(resources: string, options = {}) {
  const dispatch = openDispatch({ ...limits, ...options });
  addPage(dispatch.window, {
    events: [...resources].map((resource, index) => ({
      event: eventOf(resource, index + 1),
      position: positionOf(index + 1),
      delivery: deliveryOf(resource, index + 1),
    })),
    end: positionOf(resources.length),
    completeAt: 0,
  });
  const next = (now: number) => nextBatch(dispatch, now);
  return {
    window: dispatch.window,
    next,
    nextAt: (now: number) => nextTurnAt(dispatch.pace, now),
    problem: (now: number) => problemAt(dispatch.pace, now),
    settle: (batch: Batch, failures: (Failure | undefined)[], now: number) =>
      settleBatch(dispatch, batch, failures, now),
    /** All requests that begin now. */
    all(now: number): Batch[] {
      const batches: Batch[] = [];
      for (let batch = next(now); batch; batch = next(now)) batches.push(batch);
      return batches;
    },
    end: (batch: Batch | undefined, failure: Failure | undefined, now: number) =>
      settleBatch(dispatch, batch as Batch, [failure], now),
    /** The deferred events that were sent, with their attempts. */
    counted: () =>
      takeOutcome(dispatch.window).deferred.flatMap((one) =>
        one.delayMs === null ? [] : { id: idOf(one), attempts: one.attempts, delayMs: one.delayMs },
      ),
  };
}

describe("a target that limits what it takes", () => {
  test("gets nothing until it says, then one more at a time after each success, and no attempt counts", () => {
    const dispatch = dispatchOf("abcdefgh", { requestsAtATime: 4 });
    for (const batch of dispatch.all(0)) dispatch.end(batch, limited(30 * second), 0);
    expect(dispatch.all(29_999)).toEqual([]);
    expect(dispatch.nextAt(29_999)).toBe(30_000);
    expect(dispatch.problem(29_999)).toMatchObject({ phase: "limited", resumeAt: 30_000 });
    let batches = dispatch.all(30_000);
    const sizes: number[] = [];
    while (batches.length > 0) {
      sizes.push(batches.length);
      for (const batch of batches) dispatch.end(batch, undefined, 30_000);
      batches = dispatch.all(30_000);
    }
    expect(sizes).toEqual([2, 4, 2]);
    expect(dispatch.problem(30_000)).toBeUndefined();
    expect(takeOutcome(dispatch.window)).toMatchObject({
      position: positionOf(8),
      deferred: [],
      deadLetters: [],
    });
  });

  /** When the same event is sent, if it gets these failures. */
  function timesOf(failures: Failure[]): number[] {
    const dispatch = dispatchOf("a");
    let now = 0;
    return failures.map((failure) => {
      if (now < dispatch.nextAt(now) && Number.isFinite(dispatch.nextAt(now))) now = dispatch.nextAt(now);
      dispatch.end(dispatch.all(now)[0], failure, now);
      return now / second;
    });
  }

  test("waits for a second, doubled up to five, if it does not say how long", () => {
    expect(timesOf(Array(6).fill(limited()))).toEqual([0, 1, 3, 7, 12, 17]);
  });

  test("gets the event at once if it says so, and after a second if it says so again", () => {
    expect(timesOf(Array(4).fill(limited(0)))).toEqual([0, 0, 1, 2]);
  });

  test("gets fewer requests at a time once for all that were in flight together", () => {
    const dispatch = dispatchOf("abcdefgh", { requestsAtATime: 8 });
    for (const batch of dispatch.all(0)) dispatch.end(batch, limited(second), 0);
    expect(dispatch.all(second)).toHaveLength(4);
  });
});

describe("a target that does not say whose failure it is", () => {
  test("is away if it takes nothing: one request at a time, another resource each time, and no attempt counts", () => {
    const dispatch = dispatchOf("abcdef");
    for (const batch of dispatch.all(0)) dispatch.end(batch, unknown, 0);
    expect(dispatch.problem(0)).toEqual({ phase: "away", reason: "unknown" });
    const probes: [resource: string, at: number][] = [];
    let now = 0;
    for (let count = 0; count < 7; count += 1) {
      const batches = dispatch.all(now);
      expect(batches).toHaveLength(1);
      probes.push([resourceOf(batches[0] as Batch), now]);
      dispatch.end(batches[0], unknown, now);
      now = dispatch.nextAt(now);
    }
    // Those that have not failed yet first, the first of them at once.
    expect(probes).toEqual([
      ["d", 0],
      ["e", 2 * second],
      ["f", 6 * second],
      ["a", 11 * second],
      ["b", 16 * second],
      ["c", 21 * second],
      ["d", 26 * second],
    ]);
    const [probe] = dispatch.all(now);
    dispatch.end(probe, undefined, now);
    expect(dispatch.problem(now)).toBeUndefined();
    for (let batch = dispatch.next(now); batch; batch = dispatch.next(now))
      dispatch.end(batch, undefined, now);
    expect(takeOutcome(dispatch.window)).toMatchObject({ position: positionOf(6), deferred: [] });
  });

  test("has rejected an event if it takes another one that was sent later", () => {
    const dispatch = dispatchOf("abcd");
    const [a, b, c] = dispatch.all(0);
    dispatch.end(a, unknown, 0);
    dispatch.end(b, undefined, 0);
    expect(dispatch.counted()).toEqual([]);
    const [d] = dispatch.all(0);
    dispatch.end(c, undefined, 0);
    expect(dispatch.counted()).toEqual([]);
    expect(dispatch.problem(0)).toMatchObject({ phase: "in doubt" });
    dispatch.end(d, undefined, 0);
    expect(dispatch.counted()).toEqual([{ id: 1, attempts: 1, delayMs: 5 * second }]);
  });

  test("gets a single event again and again, uncounted, and every other at once", () => {
    const dispatch = dispatchOf("a");
    let now = 0;
    for (const delay of [1, 2, 4, 5, 5]) {
      const [batch] = dispatch.all(now);
      dispatch.end(batch, unknown, now);
      expect(dispatch.nextAt(now) - now).toBe(delay * second);
      now = dispatch.nextAt(now);
    }
    expect(dispatch.counted()).toEqual([]);
    addPage(dispatch.window, {
      events: [{ event: eventOf("b", 2), position: positionOf(2), delivery: deliveryOf("b", 2) }],
      end: positionOf(2),
      completeAt: 0,
    });
    const [other] = dispatch.all(now - 1);
    expect(resourceOf(other as Batch)).toBe("b");
    // The target may have been away meanwhile: only if the event fails once more, it has failed itself.
    dispatch.end(other, undefined, now - 1);
    expect(dispatch.counted()).toEqual([]);
    dispatch.end(dispatch.all(now - 1)[0], unknown, now - 1);
    expect(dispatch.counted()).toEqual([{ id: 1, attempts: 1, delayMs: 5 * second }]);
  });

  test("has rejected the events that fail before and after it has taken another one", () => {
    const dispatch = dispatchOf("abcd", { requestsAtATime: 2 });
    for (const batch of dispatch.all(0)) dispatch.end(batch, unknown, 0);
    dispatch.end(dispatch.all(0)[0], undefined, 0);
    expect(dispatch.counted()).toEqual([]);
    for (let batch = dispatch.next(0); batch; batch = dispatch.next(0))
      dispatch.end(batch, "ab".includes(resourceOf(batch)) ? unknown : undefined, 0);
    expect(dispatch.counted().map(({ id, attempts }) => [id, attempts])).toEqual([
      [1, 1],
      [2, 1],
    ]);
  });
});

test("an event that is rejected is deferred at once, with those behind it, and the target is not away", () => {
  const dispatch = dispatchOf("abaaa");
  const [a, b] = dispatch.all(0);
  dispatch.end(a, rejected, 0);
  dispatch.end(b, rejected, 0);
  expect(dispatch.problem(0)).toBeUndefined();
  const { position, deferred } = takeOutcome(dispatch.window);
  expect(position).toEqual(positionOf(5));
  expect(deferred.map((one) => [idOf(one), one.attempts, one.delayMs])).toEqual([
    [1, 1, 5 * second],
    [3, 0, null],
    [4, 0, null],
    [5, 0, null],
    [2, 1, 5 * second],
  ]);
});

test("an attempt without a response holds only its resource, until the window is full", () => {
  const dispatch = dispatchOf("abababcc", { requestsAtATime: 2 });
  const [hanging, other] = dispatch.all(0);
  const sent: string[] = [];
  for (let batch = other; batch; batch = dispatch.next(0)) {
    sent.push(resourceOf(batch));
    dispatch.end(batch, undefined, 0);
  }
  expect(sent).toEqual(["b", "c", "b", "c", "b"]);
  expect(hasOutcome(dispatch.window)).toBe(false);
  expect(roomIn(dispatch.window).count).toBe(limits.countMax - 8);
  dispatch.end(hanging, undefined, 0);
  expect(takeOutcome(dispatch.window).position).toEqual(positionOf(2));
});

test("the window has room for a number of events and of bytes, and the bytes of what has ended are free", () => {
  const dispatch = dispatchOf("ab", { bytesMax: 10 });
  const size = deliveryOf("a", 1).body.length;
  expect(roomIn(dispatch.window)).toEqual({ count: limits.countMax - 2, bytes: 10 - 2 * size });
  const [a, b] = dispatch.all(0);
  dispatch.end(b, undefined, 0);
  // The place of an event that has ended before an earlier one is not free: the position is behind it.
  expect(roomIn(dispatch.window)).toEqual({ count: limits.countMax - 2, bytes: 10 - size });
  dispatch.end(a, undefined, 0);
  expect(roomIn(dispatch.window)).toEqual({ count: limits.countMax, bytes: 10 });
});

test("everything that was in the feed at a time is sent when the last event that was read then has ended", () => {
  const dispatch = dispatchOf("a");
  const read = (events: WindowPage["events"], completeAt: number) =>
    addPage(dispatch.window, { events, end: positionOf(2), completeAt });
  read([{ event: eventOf("b", 2), position: positionOf(2), delivery: deliveryOf("b", 2) }], 5);
  const [a, b] = dispatch.all(0);
  expect(dispatch.window.reach.completeAt).toBeUndefined();
  dispatch.end(a, undefined, 6);
  expect(dispatch.window.reach.completeAt).toBe(0);
  read([], 7);
  expect(dispatch.window.reach.completeAt).toBe(0);
  dispatch.end(b, undefined, 8);
  expect(dispatch.window.reach.completeAt).toBe(7);
});

test("deferred events whose time has come and those of the feed take turns", () => {
  const dispatch = dispatchOf("aabbcc", { requestsAtATime: 1 });
  const again = (id: number) => ({ event: eventOf("d", id), delivery: deliveryOf("d", id), attempts: 0 });
  addDeferred(dispatch.window, [again(7), again(8)]);
  const sent: string[] = [];
  for (let batch = dispatch.next(0); batch; batch = dispatch.next(0)) {
    sent.push(resourceOf(batch));
    dispatch.end(batch, undefined, 0);
  }
  expect(sent.join("")).toBe("abcdabcd");
  expect(takeOutcome(dispatch.window).ended.map(idOf)).toEqual([7, 8]);
});

test("a batch has the events of different resources", () => {
  const dispatch = dispatchOf("aabbc", { eventsAtATime: 10 });
  const [batch] = dispatch.all(0);
  expect(batch?.entries.map(({ delivery }) => delivery.id)).toEqual(["1", "3", "5"]);
});

test("an event that makes all others of its batch fail costs them no attempt", () => {
  const dispatch = dispatchOf("abcdefx", { eventsAtATime: 5 });
  const counted: number[] = [];
  let requests = 0;
  for (let batch = dispatch.next(0); batch && requests < 50; batch = dispatch.next(requests * second)) {
    requests += 1;
    const fails = batch.entries.some(({ delivery }) => delivery.id === "2");
    dispatch.settle(
      batch,
      batch.entries.map(() => (fails ? unknown : undefined)),
      requests * second,
    );
    counted.push(...dispatch.counted().map(({ id }) => id));
  }
  expect(counted).toEqual([2]);
});

/** A feed, the table of deferred deliveries and a target, as simple as they can be. */
class Model {
  readonly dispatch = openDispatch(limits);
  /** The resource of each event of the feed, from number 1 on. */
  readonly feed: string[] = [];
  readonly rows = new Map<number, DeferredDelivery & { dueAt: number }>();
  readonly confirmed = new Set<number>();
  /** The events that were sent. One that has failed in its last attempt is a dead letter. */
  readonly sent = new Map<number, Entry>();
  readonly inFlight: { batch: Batch; began: number }[] = [];
  /** Failures of an event since its last counted attempt, and successes, in the order of all of them. */
  readonly failures = new Map<number, { cause: Failure["cause"]; at: number }[]>();
  readonly successes: { resource: string; began: number }[] = [];
  position = 0;
  readTo = 0;
  order = 0;
  now = 0;
  pausedUntil = 0;

  private isDead = (id: number) => (this.sent.get(id)?.attempts ?? 0) > limits.delaysMs.length;
  isOpen = (id: number) => !this.confirmed.has(id) && !this.isDead(id);
  openCount = () => this.feed.filter((_, index) => this.isOpen(index + 1)).length;
  private rowsOf = (resource: string) =>
    [...this.rows.keys()].filter((id) => this.feed[id - 1] === resource).toSorted((a, b) => a - b);

  read(): void {
    const { count } = roomIn(this.dispatch.window);
    const ids = this.feed.map((_, index) => index + 1).slice(this.readTo, this.readTo + Math.min(count, 4));
    const end = ids.at(-1) ?? this.readTo;
    addPage(this.dispatch.window, {
      events: ids.map((id) => {
        const resource = this.feed[id - 1] as string;
        const isBlocked = this.rowsOf(resource).length > 0;
        return {
          event: eventOf(resource, id),
          position: positionOf(id),
          delivery: isBlocked ? undefined : deliveryOf(resource, id),
        };
      }),
      end: positionOf(end),
      completeAt: undefined,
    });
    this.readTo = end;
  }

  readDue(): void {
    const known = deferredResources(this.dispatch.window).map((one) => one.resource_external_id);
    for (const resource of new Set(this.feed)) {
      const [first, ...behind] = this.rowsOf(resource);
      const row = first === undefined ? undefined : this.rows.get(first);
      if (first === undefined || !row || row.dueAt > this.now || known.includes(resource)) continue;
      addDeferred(
        this.dispatch.window,
        [first, ...(row.attempts === 0 ? behind : [])].map((id) => ({
          event: eventOf(resource, id),
          delivery: deliveryOf(resource, id),
          attempts: this.rows.get(id)?.attempts ?? 0,
        })),
      );
    }
  }

  send(): void {
    const batch = nextBatch(this.dispatch, this.now);
    if (!batch) return;
    const [entry] = batch.entries as [Entry];
    const [id, resource] = [idOf(entry.event), entry.event.resource_external_id];
    expect(this.now).toBeGreaterThanOrEqual(this.pausedUntil);
    // In order per resource, one at a time; a probe can be beside those that were in flight.
    expect(id).toBe(this.feed.findIndex((one, index) => one === resource && this.isOpen(index + 1)) + 1);
    expect(this.inFlight.map((one) => resourceOf(one.batch))).not.toContain(resource);
    expect(this.inFlight.length).toBeLessThanOrEqual(limits.requestsAtATime);
    this.sent.set(id, entry);
    this.order += 1;
    this.inFlight.push({ batch, began: this.order });
  }

  respond(index: number, failure: Failure | undefined): void {
    const [request] = this.inFlight.splice(index % Math.max(this.inFlight.length, 1), 1);
    if (!request) return;
    const { batch, began } = request;
    const [{ event }] = batch.entries as [Entry];
    this.order += 1;
    if (failure) {
      const known = this.failures.get(idOf(event)) ?? [];
      this.failures.set(idOf(event), [...known, { cause: failure.cause, at: this.order }]);
      if (failure.cause === "target" && failure.retryAfterMs !== undefined)
        this.pausedUntil = Math.max(this.pausedUntil, this.now + failure.retryAfterMs);
    } else {
      this.confirmed.add(idOf(event));
      this.successes.push({ resource: event.resource_external_id, began });
    }
    settleBatch(this.dispatch, batch, [failure], this.now);
  }

  record(): void {
    const { position, deferred, ended, deadLetters } = takeOutcome(this.dispatch.window);
    if (position) {
      expect(idOf(position)).toBeGreaterThanOrEqual(this.position);
      this.position = idOf(position);
    }
    for (const one of deferred) {
      const id = idOf(one);
      if (one.delayMs !== null) this.expectCounted(id, one.attempts);
      const dueAt = one.delayMs === null ? Number.POSITIVE_INFINITY : this.now + one.delayMs;
      this.rows.set(id, { ...one, dueAt });
    }
    for (const { entry } of deadLetters) {
      this.expectCounted(idOf(entry.event), entry.attempts);
      expect(entry.attempts).toBe(limits.delaysMs.length + 1);
    }
    for (const one of ended) this.rows.delete(idOf(one));
    for (const resource of new Set(this.feed)) {
      const row = this.rows.get(this.rowsOf(resource)[0] ?? 0);
      if (row?.dueAt === Number.POSITIVE_INFINITY) row.dueAt = this.now;
    }
    for (let id = 1; id <= this.position; id += 1) expect(!this.isOpen(id) || this.rows.has(id)).toBe(true);
  }

  /** An attempt counts if the event was rejected, or if the target has taken another one since a failure. */
  private expectCounted(id: number, attempts: number): void {
    expect(attempts).toBe((this.rows.get(id)?.attempts ?? 0) + 1);
    const failures = this.failures.get(id) ?? [];
    this.failures.delete(id);
    const resource = this.feed[id - 1];
    const isRejected = failures.some(({ cause }) => cause === "event");
    const isTaken = failures.some(
      ({ cause, at }) =>
        cause === "unknown" && this.successes.some((one) => one.began > at && one.resource !== resource),
    );
    expect(isRejected || isTaken).toBe(true);
  }
}

const responses = [undefined, undefined, rejected, unknown, unknown, limited(), limited(3 * second)];
const step = fc.oneof(
  {
    weight: 3,
    arbitrary: fc
      .constantFrom("a", "b", "c", "d")
      .map((resource) => (model: Model) => void model.feed.push(resource)),
  },
  { weight: 2, arbitrary: fc.constant((model: Model) => model.read()) },
  { weight: 5, arbitrary: fc.constant((model: Model) => model.send()) },
  {
    weight: 5,
    arbitrary: fc.tuple(fc.nat(5), fc.constantFrom(...responses)).map(
      ([index, failure]) =>
        (model: Model) =>
          model.respond(index, failure),
    ),
  },
  { weight: 2, arbitrary: fc.constant((model: Model) => model.record()) },
  {
    weight: 2,
    arbitrary: fc.constantFrom(1, 900, 2000, 6000, 400_000).map((ms) => (model: Model) => {
      model.now += ms;
    }),
  },
  { weight: 2, arbitrary: fc.constant((model: Model) => model.readDue()) },
);

test("whatever the target does, no event is lost or overtaken, and attempts count only if they failed for the event", () => {
  const property = fc.property(fc.array(step, { maxLength: 300, size: "max" }), (steps) => {
    const model = new Model();
    for (const one of steps) one(model);
    // From now on the target takes everything.
    for (let round = 0; round < 2000 && model.openCount() > 0; round += 1) {
      model.record();
      model.read();
      model.readDue();
      model.send();
      model.respond(0, undefined);
      if (round % 10 === 9) model.now += 60 * second;
    }
    model.record();
    expect(model.openCount()).toBe(0);
    expect(model.position).toBe(model.feed.length);
    expect(model.rows.size).toBe(0);
  });
  fc.assert(property, { numRuns: 300 });
});
