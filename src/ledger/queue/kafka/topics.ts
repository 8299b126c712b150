import { type Admin, FetchIsolationLevels, findErrorBy, TimeoutError } from "@platformatic/kafka";

/**
 * The least delay of the messages in each retry topic, in seconds. In a topic they are in the order in which they were
 * retried. So a message waits for its own delay, or for a longer one of its topic: at most 8 times as long.
 */
const retryLevels = [1, 8, 64, 512];

/** A topic from which one group receives, and the topics for its retries. */
export interface Topics {
  main: string;
  group: string;
}

const retryTopic = ({ main, group }: Topics, level: number) => `${main}.${group}.retry-${level}s`;

/** The topic for a retry after this delay in milliseconds. */
export const retryTopicFor = (topics: Topics, delayMs: number): string =>
  retryTopic(topics, retryLevels.findLast((level) => level * 1000 <= delayMs) ?? (retryLevels[0] as number));

/** All topics from which a member of the group receives. */
export const allTopics = (topics: Topics): string[] => [
  topics.main,
  ...retryLevels.map((level) => retryTopic(topics, level)),
];

/** A message of the contract has up to 1 MiB. A batch with it is larger, and the default of a broker is 1 MiB and 12 bytes. */
const mainMessageBytesMax = 2 * 2 ** 20;
/** A retry topic accepts what any main topic accepts: about the largest request that a broker reads by default. */
const retryMessageBytesMax = 100_000_000;

/** A broker may know topics only some time after their creation. Their metadata is requested this often, every 200 ms. */
const knownAfterRetries = 50;

/**
 * Creates the topics that do not exist, with the defaults of the brokers for replicas. The main topic also has their default
 * for partitions. Resolves when a broker knows all of them.
 */
export async function createMissing(admin: Admin, topics: Topics): Promise<void> {
  const existing = new Set(await admin.listTopics());
  const [main = [], retries = []] = [[topics.main], allTopics(topics).slice(1)].map((names) =>
    names.filter((name) => !existing.has(name)),
  );
  if (main.length + retries.length === 0) return;
  const limit = (bytes: number) => [{ name: "max.message.bytes", value: String(bytes) }];
  const create = async (options: Parameters<Admin["createTopics"]>[0]) => {
    if (options.topics.length === 0) return;
    await admin.createTopics(options).catch((error) => {
      // Another process has created them meanwhile. If it has created some of several, the others were created now.
      if (!isOf(error, "TOPIC_ALREADY_EXISTS")) throw error;
    });
  };
  await create({ topics: main, configs: limit(mainMessageBytesMax) });
  await create({ topics: retries, partitions: 1, configs: limit(retryMessageBytesMax) });
  await admin.metadata({ topics: allTopics(topics), forceUpdate: true, retries: knownAfterRetries });
}

/** True if a broker responded with this error, for example `UNKNOWN_MEMBER_ID`. */
export const isOf = (error: unknown, apiId: string): boolean =>
  findErrorBy(error as Error, "apiId", apiId) !== null;
/** True if a broker did not respond. */
export const isTimeout = (error: unknown): boolean =>
  findErrorBy(error as Error, "code", TimeoutError.code) !== null;

/** An error of the client as one sentence: its cause is the last of nested attempts. */
export function explained(error: unknown): Error {
  const messages: string[] = [];
  for (
    let each = error;
    each instanceof Error;
    each = (each as AggregateError).errors?.at(-1) ?? each.cause
  ) {
    messages.push(each.message.replace(/\.$/, ""));
  }
  return new Error(messages.slice(-2).join(": "));
}

export interface PartitionOffsets {
  topic: string;
  /** The id of the topic. One that is created again has another. */
  topicId: string;
  index: number;
  /** The committed offset of the group, -1 without one. */
  committed: bigint;
  /** The offset from which a receiver continues. Without a committed offset, the first one: no message may be lost. */
  next: bigint;
  /** The offset of the first message that the topic still has. */
  first: bigint;
  /** The end of what can be received: the last stable offset. An open transaction and what follows it lie behind it. */
  end: bigint;
}

/** The offsets of the group in all partitions of its topics. */
export async function listOffsets(admin: Admin, topics: Topics): Promise<PartitionOffsets[]> {
  const names = allTopics(topics);
  const { topics: found } = await admin.metadata({ topics: names, forceUpdate: true });
  const indexes = new Map(
    names.map((name) => [name, [...Array(found.get(name)?.partitionsCount ?? 0).keys()]]),
  );
  const at = async (timestamp: bigint) => {
    const requests = [...indexes].map(([name, partitions]) => ({
      name,
      partitions: partitions.map((partitionIndex) => ({ partitionIndex, timestamp })),
    }));
    const isolationLevel = FetchIsolationLevels.READ_COMMITTED;
    const listed = await admin.listOffsets({ topics: requests, isolationLevel });
    return byPartition(listed);
  };
  const requested = [...indexes].map(([name, partitionIndexes]) => ({ name, partitionIndexes }));
  // First, since a message that arrives and is acknowledged meanwhile would be committed behind the end.
  const [group] = await admin.listConsumerGroupOffsets({
    groups: [{ groupId: topics.group, topics: requested }],
  });
  const commits = byPartition(group?.topics ?? []);
  const [begins, ends] = await Promise.all([at(earliest), at(latest)]);
  return [...indexes].flatMap(([topic, partitions]) =>
    partitions.map((index) => {
      const key = keyOf(topic, index);
      const [topicId, first] = [found.get(topic)?.id ?? "", begins.get(key)?.offset ?? 0n];
      const end = latestOf(ends.get(key)?.offset ?? first, first);
      const committed = validCommit(commits.get(key), topicId, end);
      return { topic, topicId, index, committed, first, next: latestOf(committed, first), end };
    }),
  );
}

/**
 * The committed offset, -1 without one, and for one of a former topic of this name: Kafka keeps it if its coordinator was
 * not available when the topic was deleted, or if a member commits it afterwards. Tools, which set the offsets of a group,
 * commit without the id of the topic. An offset behind the end is of records that the brokers have lost.
 */
function validCommit(
  commit: { committedOffset: bigint; metadata?: string | null } | undefined,
  topicId: string,
  end: bigint,
): bigint {
  if (!commit || commit.committedOffset > end || (commit.metadata && commit.metadata !== topicId)) return -1n;
  return commit.committedOffset;
}

const latestOf = (one: bigint, other: bigint) => (one > other ? one : other);

const earliest = -2n;
const latest = -1n;

export const keyOf = (topic: string, index: number) => `${topic}-${index}`;

const byPartition = <Listed extends { partitionIndex: number }>(
  topics: { name: string; partitions: Listed[] }[],
): Map<string, Listed> =>
  new Map(
    topics.flatMap(({ name, partitions }) =>
      partitions.map((listed) => [keyOf(name, listed.partitionIndex), listed] as const),
    ),
  );
