import { EventEmitter } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import {
  Admin,
  type BaseOptions,
  Consumer,
  type GroupAssignment,
  type GroupPartitionsAssigner,
} from "@platformatic/kafka";
import type { Warn } from "../../../engines/adapter.ts";
import type { Partition } from "./partition.ts";
import { allTopics, type Topics } from "./topics.ts";

/** A process that is silent for this time loses its partitions to others. */
const sessionMs = 10_000;
/** How long the members of a group wait for one that does not join again. */
const rebalanceMaxMs = 15_000;
export const attemptDelayMs = 500;

/** This process as a member of a group, with the messages of its partitions. */
export type Member = ReturnType<typeof newMember>;

interface Actions {
  /** Joins the group, or joins it again. */
  join(): void;
  /** Commits what is acknowledged, and reads and fetches as there is room. */
  advance(): void;
  /** Commits what is acknowledged, and leaves the group. */
  leave(): Promise<void>;
  /** Called if this member should leave, and another one should join. */
  onLost(): void;
  /** Gets the reason why a batch cannot be read. */
  warn: Warn;
}

/** A member that has not joined yet. */
export function newMember(options: BaseOptions, topics: Topics, actions: Actions) {
  // It does not retry by itself: a member that joins again for each commit of an earlier generation begins another
  // rebalance each time, and the group never gets to an end.
  const common = { ...options, groupId: topics.group, retries: 0 };
  const consumer = new Consumer({
    ...common,
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
  // A client of its own, since a broker handles the requests of a connection one after another: heartbeats would wait
  // behind fetches.
  const fetcher = new Consumer(common);
  for (const each of [consumer, fetcher]) each.topics.trackAll(...allTopics(topics));
  return {
    ...{ ...actions, topics, admin: new Admin(options) },
    /** Joins the group, sends heartbeats and commits offsets. */
    consumer,
    /** Fetches. */
    fetcher,
    partitions: new Map<string, Partition>(),
    /** Emits when messages have arrived, and at the end. */
    events: new EventEmitter<{ change: [] }>().setMaxListeners(0),
    /**
     * The errors because of which messages may not arrive now, and since when, by `performance.now()`. Their keys are names of
     * work and ids of brokers.
     */
    failures: new Map<string | number, { error: unknown; since: number }>(),
    /** True when the member begins to leave. */
    isLeaving: false,
    /** Aborts when the member has made its last commit. */
    left: new AbortController(),
    /** The ids of the brokers that have a fetch of this member. */
    busy: new Set<number>(),
    /** The number of the partitions of all topics, when it is known. */
    partitionCount: undefined as number | undefined,
    /** Resolves after all turns that partitions have been given. */
    turns: Promise.resolve(),
  };
}

/** Repeats the work until it succeeds or the member leaves. `failures` has its error meanwhile. */
export async function persist(member: Member, name: string, work: () => Promise<unknown>): Promise<void> {
  while (!member.left.signal.aborted) {
    try {
      await work();
      member.failures.delete(name);
      return;
    } catch (error) {
      recordFailure(member, name, error);
      await pause(member);
    }
  }
}

/** Resolves when another attempt can be made, or when the member leaves. */
export const pause = ({ left }: Member) =>
  sleep(attemptDelayMs, undefined, { signal: left.signal }).catch(() => {});

export function recordFailure({ failures }: Member, name: string | number, error: unknown): void {
  failures.set(name, { error, since: failures.get(name)?.since ?? performance.now() });
}

/** The failure that has lasted longest. */
export const longestFailure = ({ failures }: Member) =>
  [...failures.values()].sort((one, other) => one.since - other.since)[0];

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
