import { uniformInt } from "pure-rand/distribution/uniformInt";
import { xoroshiro128plus } from "pure-rand/generator/xoroshiro128plus";

/** Chance that a seed decides: the same seed makes the same choices in the same order. */
export interface Random {
  /** Both bounds are included. */
  whole(min: number, max: number): number;
  chance(share: number): boolean;
  one<Item>(items: readonly Item[]): Item;
  /** Some of the items, each at most once, in their order. */
  some<Item>(items: readonly Item[], share: number): Item[];
  /** Chance of its own for what runs beside, so that neither disturbs the other's choices. */
  fork(): Random;
}

export function seeded(seed: number): Random {
  const generator = xoroshiro128plus(seed);
  const whole = (min: number, max: number) => uniformInt(generator, min, max);
  const chance = (share: number) => whole(1, 1_000_000) <= share * 1_000_000;
  return {
    whole,
    chance,
    one: (items) => items[whole(0, items.length - 1)] as (typeof items)[number],
    some: (items, share) => items.filter(() => chance(share)),
    fork: () => seeded(whole(0, 0x7fffffff)),
  };
}
