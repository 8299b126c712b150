import { uniformInt } from "pure-rand/distribution/uniformInt";
import { xoroshiro128plus } from "pure-rand/generator/xoroshiro128plus";

/** Random choices from a seed. The same seed gives the same choices in the same order. */
export interface Random {
  /** A whole number; both bounds are included. */
  integer(min: number, max: number): number;
  /** True with this probability. */
  chance(probability: number): boolean;
  pick<Item>(items: readonly Item[]): Item;
  /** Keeps each item with this probability, in order. */
  sample<Item>(items: readonly Item[], probability: number): Item[];
  shuffle<Item>(items: readonly Item[]): Item[];
  /** A new generator for a concurrent task, so that no task changes the choices of another. */
  fork(): Random;
}

export function seeded(seed: number): Random {
  const generator = xoroshiro128plus(seed);
  const integer = (min: number, max: number) => uniformInt(generator, min, max);
  const chance = (probability: number) => integer(1, 1_000_000) <= probability * 1_000_000;
  return {
    integer,
    chance,
    pick: (items) => items[integer(0, items.length - 1)] as (typeof items)[number],
    sample: (items, probability) => items.filter(() => chance(probability)),
    shuffle: (items) =>
      Array.from(items, (item) => ({ item, rank: integer(0, 0x7fffffff) }))
        .sort((one, other) => one.rank - other.rank)
        .map(({ item }) => item),
    fork: () => seeded(integer(0, 0x7fffffff)),
  };
}
