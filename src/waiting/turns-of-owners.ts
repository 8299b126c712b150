export type TurnsOfOwners<Item> = ReturnType<typeof openTurnsOfOwners<Item>>;

/** Items that wait. Their owners take turns, whatever the number of their items. */
export function openTurnsOfOwners<Item>() {
  /** The items of the owners that have some, in the order of the turns of the owners. */
  const waiting = new Map<string, Record<"urgent" | "others", Set<Item>>>();
  return {
    /** Adds an item behind those of its owner, or behind the urgent ones of its owner. */
    add(owner: string, item: Item, isUrgent = false): void {
      const own = waiting.get(owner) ?? { urgent: new Set(), others: new Set() };
      waiting.set(owner, own);
      own[isUrgent ? "urgent" : "others"].add(item);
    },
    /** Removes the first item of the owner whose turn it is. */
    take(): Item | undefined {
      const [next] = waiting;
      if (!next) return undefined;
      const [owner, { urgent, others }] = next;
      const [item] = urgent.size > 0 ? urgent : others;
      urgent.delete(item as Item);
      others.delete(item as Item);
      waiting.delete(owner);
      if (urgent.size + others.size > 0) waiting.set(owner, { urgent, others });
      return item;
    },
    hasItems: () => waiting.size > 0,
    clear: () => waiting.clear(),
  };
}
