/** The names of the columns that make groups, and of those that are summed. */
export interface TallyForm {
  groups: string[];
  sums: string[];
}

/** A group: its columns, the number of its rows, and its sums as text, since they can be larger than 2^53. */
export type TallyGroup = Record<string, string | number>;

/** Counts rows and adds them up in groups. Begins with groups that another one has returned. */
export function openTally({ groups: names, sums: sumNames }: TallyForm, given: TallyGroup[]) {
  const groups = new Map<string, { count: number; sums: bigint[] }>();
  for (const one of given) {
    const key = JSON.stringify(names.map((name) => one[name]));
    groups.set(key, { count: Number(one.count), sums: sumNames.map((name) => BigInt(one[name] ?? 0)) });
  }
  return {
    add({ group, sums }: { group: string[]; sums: bigint[] }): void {
      const key = JSON.stringify(group);
      const own = groups.get(key) ?? { count: 0, sums: sums.map(() => 0n) };
      if (own.count === 0) groups.set(key, own);
      own.count += 1;
      for (const [index, sum] of sums.entries()) own.sums[index] = (own.sums[index] ?? 0n) + sum;
    },
    /** All groups, in the order of their columns. */
    groups: (): TallyGroup[] =>
      [...groups]
        .sort(([one], [other]) => (one < other ? -1 : 1))
        .map(([key, { count, sums }]) => ({
          ...Object.fromEntries((JSON.parse(key) as string[]).map((value, index) => [names[index], value])),
          count,
          ...Object.fromEntries(sums.map((sum, index) => [sumNames[index], String(sum)])),
        })),
  };
}
