import { setTimeout as sleep } from "node:timers/promises";
import type { BaseOptions } from "@platformatic/kafka";
import type { Warn } from "../../../engines/adapter.ts";
import { shared, sharedNext } from "../../../waiting/shared.ts";
import { fetchRound } from "./fetching.ts";
import { attemptDelayMs, longestFailure, type Member, newMember, persist, recordFailure } from "./member.ts";
import { newPartition } from "./partition.ts";
import { endReading, readOn } from "./reading.ts";
import { commitAcknowledged } from "./settlement.ts";
import { keyOf, listOffsets, type Topics } from "./topics.ts";

/** A new leader takes over from a killed one within this time. */
const failingMaxMs = 12_000;
const lastCommitMaxMs = 1000;

/**
 * Joins the group. Errors are tried again; `failures` of the member has them. Calls `onLost` after 12 seconds of failures: a
 * broker may be silent, for which the client waits for ever, or a topic was deleted. It also calls it when a topic was
 * created again. The member should then leave, and another one should join. A batch that cannot be read stops its partition
 * only, and is no failure: `warn` gets the reason.
 */
export function joinGroup(options: BaseOptions, topics: Topics, onLost: (lost: Member) => void, warn: Warn) {
  /** One commit at a time: it has all that was acknowledged before. */
  const commit = sharedNext(() => persist(member, "commit", () => commitAcknowledged(member)));
  const fetchMore = sharedNext(() => persist(member, "metadata", () => fetchRound(member)));
  const member: Member = newMember(options, topics, {
    join: shared(() => persist(member, "group", () => member.consumer.joinGroup({}))),
    advance() {
      void commit();
      readOn(member);
      void fetchMore();
    },
    async leave() {
      clearInterval(watch);
      member.isLeaving = true;
      member.events.emit("change");
      await Promise.race([commit(), sleep(lastCommitMaxMs, undefined, { ref: false })]);
      await close(member);
    },
    onLost: () => onLost(member),
    warn,
  });
  const { consumer } = member;
  consumer.on("consumer:group:join", () => void assign(member));
  // The consumer has joined again after a heartbeat, and that failed. It sends no more heartbeats.
  consumer.on("error", () => member.join());
  consumer.on("consumer:heartbeat:stalled", () =>
    recordFailure(member, "heartbeat", new Error("no response to a heartbeat")),
  );
  consumer.on("consumer:heartbeat:end", () => member.failures.delete("heartbeat"));
  const watch = setInterval(() => {
    const { since } = longestFailure(member) ?? { since: Number.POSITIVE_INFINITY };
    if (performance.now() - since > failingMaxMs) member.onLost();
  }, attemptDelayMs).unref();
  member.join();
  return member;
}

/**
 * Takes over the assigned partitions. One that stays keeps its messages, even if another member had it in between: the
 * messages before each offset that this process commits were acknowledged here, or were before it.
 */
async function assign(member: Member): Promise<void> {
  const { consumer, partitions, admin, topics } = member;
  const assigned = new Set(
    (consumer.assignments ?? []).flatMap((each) => each.partitions.map((index) => keyOf(each.topic, index))),
  );
  for (const [key, partition] of partitions) {
    if (assigned.has(key)) continue;
    partitions.delete(key);
    endReading(partition);
  }
  const generation = consumer.generationId;
  const isCurrent = () => consumer.generationId === generation;
  await persist(member, "offsets", async () => {
    if (!isCurrent() || assigned.isSubsetOf(partitions)) return;
    const offsets = await listOffsets(admin, topics);
    if (!isCurrent()) return;
    for (const each of offsets) {
      const key = keyOf(each.topic, each.index);
      if (assigned.has(key) && !partitions.has(key)) partitions.set(key, newPartition(each, topics));
    }
  });
  member.advance();
}

async function close({ left, partitions, consumer, fetcher, admin }: Member): Promise<void> {
  left.abort();
  for (const partition of partitions.values()) endReading(partition);
  partitions.clear();
  // A client whose request is rejected does not close its connections.
  const consumers = [consumer, fetcher].map((each) => each.close(true).catch(() => each.connections.close()));
  await Promise.allSettled([...consumers, admin.close()]);
}
