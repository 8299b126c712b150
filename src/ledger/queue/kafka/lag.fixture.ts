import type { Admin } from "@platformatic/kafka";

/** The committed offsets of a group. */
export async function commitsOf(admin: Admin, group: string) {
  const groups = await admin.listConsumerGroupOffsets({ groups: [group] });
  return groups.flatMap(({ topics }) =>
    topics.flatMap(({ name, partitions }) => partitions.map((each) => ({ topic: name, ...each }))),
  );
}

/** The number of offsets that are not committed, as `kafka-consumer-groups.sh` computes it, in all topics with this prefix. */
export async function lagOf(admin: Admin, prefix: string, group: string): Promise<number> {
  const names = (await admin.listTopics()).filter((name) => name.startsWith(prefix));
  const { topics } = await admin.metadata({ topics: names, forceUpdate: true });
  const latest = [...topics].map(([name, { partitions }]) => ({
    name,
    partitions: partitions.map((_, partitionIndex) => ({ partitionIndex, timestamp: -1n })),
  }));
  const commits = await commitsOf(admin, group);
  const lags = (await admin.listOffsets({ topics: latest })).flatMap(({ name, partitions }) =>
    partitions.map(({ partitionIndex, offset }) => {
      const commit = commits.find((each) => each.topic === name && each.partitionIndex === partitionIndex);
      return Number(offset - (commit?.committedOffset ?? 0n));
    }),
  );
  return lags.reduce((sum, each) => sum + each, 0);
}
