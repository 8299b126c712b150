import { EventEmitter } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import {
  Admin,
  type BaseOptions,
  type Broker,
  Consumer,
  type GroupAssignment,
  type GroupPartitionsAssigner,
} from "@platformatic/kafka";
import type { Warn } from "../../../engines/adapter.ts";
import type { FetchedPartition } from "./fetch.ts";
import { acknowledgedUpTo, newPartition, type Partition } from "./partition.ts";
import { endReading, openReading } from "./reading.ts";
import { commitOffsets, fetchFrom } from "./requests.ts";
import { allTopics, isOf, keyOf, listOffsets, type PartitionOffsets, type Topics } from "./topics.ts";

/** A process that is silent for this time loses its partitions to others. */
const sessionMs = 10_000;
/** How long the members of a group wait for one that does not join again. */
const rebalanceMaxMs = 15_000;
const attemptDelayMs = 500;
const lastCommitMaxMs = 1000;

/** The membership in a group, and the messages of its partitions. */
export interface Receiving {
  partitions: Map<string, Partition>;
  /** Emits when messages have arrived. */
  events: EventEmitter<{ change: [] }>;
  /** The error because of which messages may not arrive now, and since when, by `performance.now()`. */
  failure(): Failure | undefined;
  /** Why a partition stands still until an operator acts, if one does. */
  problem(): string | undefined;
  /** Commits what is acknowledged, and fetches as there is room. */
  advance(): void;
  close(): Promise<void>;
}

/** A new leader takes over from a killed one within this time. */
const failingMaxMs = 12_000;

interface Failure {
  error: unknown;
  since: number;
}

/**
 * Joins the group. Errors are tried again; `failure` has them. Calls `onLost` after 12 seconds of failures: a broker may be
 * silent, for which the client waits for ever, or a topic was deleted. It also calls it when a topic was created again. The
 * receiver should then be closed, and another one started. A batch that cannot be read stops its partition only, and is no
 * failure: `warn` gets the reason.
 */
export function startReceiving(
  options: BaseOptions,
  topics: Topics,
  onLost: (receiving: Receiving) => void,
  warn: Warn,
): Receiving {
  const names = allTopics(topics);
  const partitions: Receiving["partitions"] = new Map();
  const events: Receiving["events"] = new EventEmitter();
  events.setMaxListeners(0);
  /** By the name of the work, or by the id of a broker. */
  const failures = new Map<string | number, Failure>();
  const closing = new AbortController();
  const pause = () => sleep(attemptDelayMs, undefined, { signal: closing.signal }).catch(() => {});

  /** Repeats the work until it succeeds or receiving ends. */
  async function persist(name: string, work: () => Promise<unknown>): Promise<void> {
    while (!closing.signal.aborted) {
      try {
        await work();
        failures.delete(name);
        return;
      } catch (error) {
        fail(name, error);
        await pause();
      }
    }
  }
  const fail = (name: string | number, error: unknown) =>
    failures.set(name, { error, since: failures.get(name)?.since ?? performance.now() });

  // It does not retry by itself: a member that joins again for each commit of an earlier generation begins another
  // rebalance each time, and the group never gets to an end.
  const member = new Consumer({
    ...options,
    groupId: topics.group,
    retries: 0,
    partitionAssigner: assignPartitions,
    // A silent broker would hold up heartbeats if the client took the metadata from it. Errors of brokers renew them.
    metadataMaxAge: 3_600_000,
    sessionTimeout: sessionMs,
    rebalanceTimeout: rebalanceMaxMs,
    heartbeatInterval: sessionMs / 10,
    heartbeatStallTimeout: sessionMs,
    // A broker responds to a member that joins when all have joined.
    requestTimeout: rebalanceMaxMs + 5000,
  });
  // Of its own, since a broker handles the requests of a connection one after another: heartbeats would wait behind fetches.
  const fetcher = new Consumer({ ...options, groupId: topics.group, retries: 0 });
  const admin = new Admin(options);
  for (const consumer of [member, fetcher]) consumer.topics.trackAll(...names);

  let isJoining = false;
  async function join(): Promise<void> {
    if (isJoining) return;
    isJoining = true;
    await persist("group", () => member.joinGroup({}));
    isJoining = false;
  }
  member.on("consumer:group:join", () => void assign());
  // The member has joined again after a heartbeat, and that failed. It sends no more heartbeats.
  member.on("error", () => void join());
  member.on("consumer:heartbeat:stalled", () => fail("heartbeat", new Error("no response to a heartbeat")));
  member.on("consumer:heartbeat:end", () => failures.delete("heartbeat"));

  /**
   * Takes over the assigned partitions. One that stays keeps its messages, even if another member had it in between: the
   * messages before each offset that this process commits were acknowledged here, or were before it.
   */
  async function assign(): Promise<void> {
    const assigned = new Map(
      (member.assignments ?? []).flatMap(({ topic, partitions }) =>
        partitions.map((index) => [keyOf(topic, index), { topic, index }] as const),
      ),
    );
    for (const [key, partition] of partitions) {
      if (assigned.has(key)) continue;
      partitions.delete(key);
      endReading(partition);
    }
    const generation = member.generationId;
    const isCurrent = () => member.generationId === generation;
    await persist("offsets", async () => {
      if (!isCurrent() || [...assigned.keys()].every((key) => partitions.has(key))) return;
      const offsets = await listOffsets(admin, topics);
      if (!isCurrent()) return;
      for (const each of offsets) {
        const key = keyOf(each.topic, each.index);
        if (assigned.has(key) && !partitions.has(key)) partitions.set(key, begin(each));
      }
    });
    advance();
  }

  /** One commit at a time: it has all that was acknowledged before. */
  const commit = single(() =>
    persist("commit", async () => {
      const changed = [...partitions.values()].flatMap((partition) => {
        const offset = acknowledgedUpTo(partition);
        return offset > partition.committed ? [{ partition, offset }] : [];
      });
      if (changed.length === 0) return;
      await commitOffsets(member, changed);
      for (const { partition, offset } of changed) partition.committed = offset;
    }),
  );

  /** The brokers that have a request of this process. */
  const busy = new Set<number>();
  let partitionCount: number | undefined;

  const reading = openReading(partitions, onTurn, warn);
  function onTurn({ unread }: Partition): void {
    events.emit("change");
    // The position moves also behind records that are not delivered: those of aborted transactions, and control records.
    commit();
    if (!unread) fetchMore();
  }

  async function fetchMore(): Promise<void> {
    if (closing.signal.aborted || reading.wanted().length === 0) return;
    try {
      const { topics: found, brokers } = await fetcher.metadata({ topics: names, retries: 2 });
      failures.delete("metadata");
      // Its offsets are those of other messages now, also in the partitions of other members.
      if ([...partitions.values()].some(({ topic, topicId }) => found.get(topic)?.id !== topicId)) {
        onLost(receiving);
        return;
      }
      const count = [...found.values()].reduce((sum, { partitionsCount }) => sum + partitionsCount, 0);
      // The new partitions are assigned when the leader of the group joins again.
      if (partitionCount !== undefined && count > partitionCount) {
        member.clearMetadata();
        join();
      }
      partitionCount = count;
      const leaderOf = ({ topic, index }: Partition) => found.get(topic)?.partitions[index]?.leader ?? -1;
      const leaders = new Set([...partitions.values()].map(leaderOf));
      for (const key of failures.keys())
        if (typeof key === "number" && !leaders.has(key)) failures.delete(key);
      for (const [node, led] of Map.groupBy(reading.wanted(), leaderOf)) {
        if (busy.has(node) || closing.signal.aborted) continue;
        busy.add(node);
        fetchInto(node, brokers.get(node), led).then(() => {
          busy.delete(node);
          fetchMore();
        });
      }
    } catch (error) {
      fail("metadata", error);
      await pause();
      fetchMore();
    }
  }

  async function fetchInto(node: number, broker: Broker | undefined, led: Partition[]): Promise<void> {
    try {
      if (!broker) throw new Error("a partition has no leader");
      const fetched = await fetchFrom(fetcher, broker, led);
      failures.delete(node);
      await Promise.all(fetched.map((each) => addFetched(led, each)));
    } catch (error) {
      fail(node, error);
      fetcher.clearMetadata();
      if (isOf(error, "OFFSET_OUT_OF_RANGE")) await beginAgain(led).catch(() => {});
      await pause();
    }
  }

  async function addFetched(led: Partition[], fetched: FetchedPartition): Promise<void> {
    const { topicId, index, batches } = fetched;
    const partition = led.find((each) => each.topicId === topicId && each.index === index);
    // Another process may have it by now.
    if (!partition || partitions.get(keyOf(partition.topic, index)) !== partition || batches.length === 0)
      return;
    partition.arrivedAt = performance.now();
    await reading.add(partition, fetched);
  }

  /** Continues with the first message that the topic has: those before it are gone, or the brokers have lost those at its end. */
  async function beginAgain(led: Partition[]): Promise<void> {
    for (const offsets of await listOffsets(admin, topics)) {
      const { topicId, index, first, end } = offsets;
      const partition = led.find((each) => each.topicId === topicId && each.index === index);
      const key = keyOf(offsets.topic, index);
      if (!partition || partitions.get(key) !== partition) continue;
      if (partition.position < first) {
        partition.position = first;
        partition.stopped = undefined;
      }
      if (partition.position > end) partitions.set(key, begin(offsets));
    }
  }

  function advance(): void {
    commit();
    reading.readOn();
    fetchMore();
  }

  const begin = (offsets: PartitionOffsets) => newPartition(offsets, offsets.topic !== topics.main);

  const failure = () => [...failures.values()].sort((one, other) => one.since - other.since)[0];
  const watch = setInterval(() => {
    if (performance.now() - (failure()?.since ?? Number.POSITIVE_INFINITY) > failingMaxMs) onLost(receiving);
  }, attemptDelayMs).unref();
  const receiving: Receiving = {
    partitions,
    events,
    failure,
    problem: () => partitions.values().find(({ stopped }) => stopped)?.stopped?.reason,
    advance,
    async close() {
      clearInterval(watch);
      events.emit("change");
      await Promise.race([commit(), sleep(lastCommitMaxMs, undefined, { ref: false })]);
      closing.abort();
      for (const partition of partitions.values()) endReading(partition);
      partitions.clear();
      // A client whose request is rejected does not close its connections.
      const consumers = [member, fetcher].map((consumer) =>
        consumer.close(true).catch(() => consumer.connections.close()),
      );
      await Promise.allSettled([...consumers, admin.close()]);
    },
  };
  join();
  return receiving;
}

/**
 * Gives the partitions of each topic to its members in turn. The client's own assigner gives them to all members of the
 * group, also to those of another topic, which ignore them.
 */
const assignPartitions: GroupPartitionsAssigner = (_current, members, _topics, metadata) => {
  const assigned = [...members.keys()].map((memberId) => ({
    memberId,
    assignments: new Map<string, GroupAssignment>(),
  }));
  let turn = 0;
  for (const [topic, { partitionsCount }] of metadata.topics) {
    const receivers = assigned.filter(({ memberId }) => members.get(memberId)?.topics?.includes(topic));
    for (let index = 0; index < partitionsCount && receivers.length > 0; index += 1, turn += 1) {
      const assignments = receivers[turn % receivers.length]?.assignments;
      const partitions = assignments?.get(topic)?.partitions ?? [];
      assignments?.set(topic, { topic, partitions: [...partitions, index] });
    }
  }
  return assigned;
};

/** Runs the work once at a time. A call meanwhile runs it once more at its end. */
function single(work: () => Promise<void>): () => Promise<void> {
  let running: Promise<void> | undefined;
  let again = false;
  async function run(): Promise<void> {
    do {
      again = false;
      await work();
    } while (again);
    running = undefined;
  }
  return () => {
    again = true;
    running ??= run();
    return running;
  };
}
