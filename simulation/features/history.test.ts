import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  type Answer,
  type FeatureChange,
  isLinearizable,
  type Operation,
  smallestHistory,
} from "./history.ts";

/** An operation that begins and is answered at these instants; without an answer when there is no second one. */
const at = (
  begun: number,
  answeredAt: number | undefined,
  wish: FeatureChange,
  answer: Answer = null,
): Operation => ({
  wish,
  begun,
  by: 0,
  ...(answeredAt !== undefined && { answered: { at: answeredAt, answer } }),
});
const add: FeatureChange = { type: "add", feature: "a" };
const remove: FeatureChange = { type: "remove", feature: "a" };
const has: FeatureChange = { type: "has", feature: "a" };
const list: FeatureChange = { type: "list" };
const clear: FeatureChange = { type: "clear" };

describe("a history is linearizable", () => {
  test.each<[string, Operation[]]>([
    ["when one comes after the other", [at(0, 1, add, true), at(2, 3, has, true), at(4, 5, add, false)]],
    [
      "when those at the same time can have an order",
      [at(0, 9, add, true), at(1, 2, has, false), at(3, 4, has, true)],
    ],
    [
      "when what was not answered explains it, however late",
      [at(0, undefined, add), at(9, 10, has, false), at(11, 12, has, true)],
    ],
    [
      "when what was not answered never happened",
      [at(0, undefined, clear), at(1, 2, add, true), at(3, 4, list, ["a"])],
    ],
    ["with nothing in it", []],
  ])("%s", (_name, history) => {
    expect(isLinearizable(history)).toBe(true);
  });

  test("whatever one caller alone was answered", () => {
    const wishes = fc.array(
      fc.constantFrom<FeatureChange>(add, remove, has, list, clear, { type: "add", feature: "b" }),
    );
    fc.assert(
      fc.property(wishes, (all) => {
        const features = new Set<string>();
        const history = all.map((wish, index) =>
          at(2 * index, 2 * index + 1, wish, answerOf(features, wish)),
        );
        expect(isLinearizable(history)).toBe(true);
      }),
    );
  });
});

/** As a set answers, which keeps the order of adding. */
function answerOf(features: Set<string>, wish: FeatureChange): Answer {
  if (wish.type === "list") return [...features];
  if (wish.type === "has") return features.has(wish.feature);
  if (wish.type === "add") {
    const isNew = !features.has(wish.feature);
    features.add(wish.feature);
    return isNew;
  }
  if (wish.type === "remove") features.delete(wish.feature);
  else features.clear();
  return null;
}

describe("a history is not linearizable", () => {
  test.each<[string, Operation[]]>([
    ["when what was answered is not seen", [at(0, 1, add, true), at(2, 3, has, false)]],
    [
      "when it is seen, and then not any more",
      [at(0, 9, add, true), at(1, 2, has, true), at(3, 4, has, false)],
    ],
    ["when two are the first to add", [at(0, 5, add, true), at(1, 5, add, true)]],
    ["when the order of a list changes", [at(0, 1, add, true), at(2, 3, list, ["a"]), at(2, 3, list, [])]],
    ["when what was removed is seen", [at(0, 1, add, true), at(2, 3, remove), at(4, 5, list, ["a"])]],
  ])("%s", (_name, history) => {
    expect(isLinearizable(history)).toBe(false);
  });

  test("and is told without the answers that it does not take", () => {
    const [added, missed] = [at(0, 1, add, true), at(4, 5, has, false)];
    expect(smallestHistory([added, at(2, 3, has, true), missed])).toEqual([added, missed]);
  });
});
