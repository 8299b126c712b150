/** What a caller did to a resource and heard of it. Instants are in milliseconds of one clock. */
export interface Operation {
  wish: FeatureChange;
  begun: number;
  /** Undefined when there was no answer, or one that leaves open whether the wish was fulfilled. */
  answered?: { at: number; answer: Answer };
  /** Which process was asked. */
  by: number;
}

export type FeatureChange =
  | { type: "add" | "remove" | "has"; feature: string }
  | { type: "list" }
  | { type: "clear" };

/** Whether a feature was new, or was there, or the list; null of what answers nothing. */
export type Answer = boolean | string[] | null;

/** What the resource has after the wish, and what is answered. */
function fulfil(list: string[], wish: FeatureChange): [after: string[], answer: Answer] {
  switch (wish.type) {
    case "add":
      return list.includes(wish.feature) ? [list, false] : [[...list, wish.feature], true];
    case "remove":
      return [list.filter((feature) => feature !== wish.feature), null];
    case "clear":
      return [[], null];
    case "has":
      return [list, list.includes(wish.feature)];
    case "list":
      return [list, list];
  }
}

/**
 * Whether there is an order of the operations in which one after another would have been answered as they were, each at
 * an instant between its begin and its answer (Wing and Gong, 1993): whether they are linearizable. One without an
 * answer may have been fulfilled at any time after its begin, or never.
 */
export function isLinearizable(history: Operation[]): boolean {
  const tried = new Set<string>();
  function goOn(left: Operation[], list: string[]): boolean {
    const firstEnd = Math.min(...left.map(({ answered }) => answered?.at ?? Number.POSITIVE_INFINITY));
    if (firstEnd === Number.POSITIVE_INFINITY) return true;
    const position = JSON.stringify([left.map((operation) => history.indexOf(operation)), list]);
    if (tried.has(position)) return false;
    tried.add(position);
    return left.some((operation) => {
      if (operation.begun > firstEnd) return false;
      const [after, answer] = fulfil(list, operation.wish);
      const fits =
        !operation.answered || JSON.stringify(operation.answered.answer) === JSON.stringify(answer);
      return (
        fits &&
        goOn(
          left.filter((one) => one !== operation),
          after,
        )
      );
    });
  }
  // What was never answered and changes nothing tells nothing.
  return goOn(
    history.filter(({ wish, answered }) => answered !== undefined || !isRead(wish)),
    [],
  );
}

const isRead = ({ type }: FeatureChange) => type === "has" || type === "list";

/** The same history without the answers that it takes not to see that it is not linearizable. */
export function smallestHistory(history: Operation[]): Operation[] {
  let smallest = history;
  for (const operation of history) {
    const without = smallest.filter((one) => one !== operation);
    if (isRead(operation.wish) && !isLinearizable(without)) smallest = without;
  }
  return smallest;
}
