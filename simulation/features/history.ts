/** An operation on a resource. Times are in milliseconds of one clock. */
export interface Operation {
  command: Command;
  startedAt: number;
  /** Undefined if there was no response, or one that does not tell whether the command was executed. */
  response?: { at: number; result: Result };
  /** The index of the process that got the request. */
  process: number;
}

export type Command =
  | { type: "add" | "remove" | "has"; feature: string }
  | { type: "list" }
  | { type: "clear" };

/** `add`: the feature is new. `has`: the feature is in the list. `list`: the list. Others: null. */
export type Result = boolean | string[] | null;

/** The reference model of a resource: its list after the command, and the result of the command. */
function execute(list: string[], command: Command): [listAfter: string[], result: Result] {
  switch (command.type) {
    case "add":
      return list.includes(command.feature) ? [list, false] : [[...list, command.feature], true];
    case "remove":
      return [list.filter((feature) => feature !== command.feature), null];
    case "clear":
      return [[], null];
    case "has":
      return [list, list.includes(command.feature)];
    case "list":
      return [list, list];
  }
}

/**
 * Tells whether the history is linearizable (Wing and Gong, 1993): a sequential order explains the results, and each
 * operation takes effect between its start and its response. An operation without a response takes effect at any time
 * after its start, or never.
 */
export function isLinearizable(history: Operation[]): boolean {
  const visited = new Set<string>();
  function canComplete(remaining: Operation[], list: string[]): boolean {
    const firstResponseAt = Math.min(
      ...remaining.map(({ response }) => response?.at ?? Number.POSITIVE_INFINITY),
    );
    if (firstResponseAt === Number.POSITIVE_INFINITY) return true;
    const state = JSON.stringify([remaining.map((operation) => history.indexOf(operation)), list]);
    if (visited.has(state)) return false;
    visited.add(state);
    return remaining.some((operation) => {
      if (operation.startedAt > firstResponseAt) return false;
      const [listAfter, result] = execute(list, operation.command);
      const matches =
        !operation.response || JSON.stringify(operation.response.result) === JSON.stringify(result);
      return (
        matches &&
        canComplete(
          remaining.filter((other) => other !== operation),
          listAfter,
        )
      );
    });
  }
  // A read without a response constrains nothing.
  return canComplete(
    history.filter(({ command, response }) => response !== undefined || !isRead(command)),
    [],
  );
}

export const isRead = ({ type }: Command) => type === "has" || type === "list";
