import { expect, test } from "vitest";
import type { Adapters } from "../src/process/adapter.ts";

/** Describes tests over one adapter, giving them what makes something empty of its kind, such as a URL of it. */
export type Fixture<Made> = (title: string, tests: (make: () => Promise<Made>) => void) => void;

/** For each scheme of a port its fixture, or the scheme that opens the same and has one. */
export type Fixtures<Scheme extends string, Made> = Record<Scheme, Fixture<Made> | { sameAs: Scheme }>;

/** Describes tests of what must be the same over each adapter of a port. */
export function describeOnAdapters<Made>(
  title: string,
  fixtures: Fixtures<string, Made>,
  tests: (make: () => Promise<Made>) => void,
): void {
  for (const [scheme, fixture] of Object.entries(fixtures)) {
    if (typeof fixture === "function") fixture(`${title} (${scheme})`, tests);
  }
}

/** Tests that no adapter of a port is left out. */
export function testFixtures<Port>(adapters: Adapters<Port>, fixtures: Fixtures<string, unknown>): void {
  test.each(Object.entries(adapters))(
    "%s has a fixture, or is the same as one that has",
    async (scheme, adapter) => {
      const fixture = fixtures[scheme];
      if (!fixture) throw new Error(`${scheme} has no fixture, so the tests of its port leave it out`);
      if (typeof fixture === "function") return;
      expect(fixtures[fixture.sameAs]).toBeTypeOf("function");
      const [own, same] = await Promise.all([adapter.load(), adapters[fixture.sameAs]?.load()]);
      expect(own.open).toBe(same?.open);
    },
  );
}
