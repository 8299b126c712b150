import { expect, test } from "vitest";
import type { Adapters } from "../src/engines/adapter.ts";

/** Describes tests over one adapter. `make` makes an empty instance, for example a URL of a new database. */
export type Fixture<Made> = (title: string, tests: (make: () => Promise<Made>) => void) => void;

/** The fixture of each scheme of a port, or the scheme with a fixture that opens the same adapter. */
export type Fixtures<Scheme extends string, Made> = Record<Scheme, Fixture<Made> | { sameAs: Scheme }>;

/** Describes tests of behaviour that every adapter of a port has. */
export function describeOnAdapters<Made>(
  title: string,
  fixtures: Fixtures<string, Made>,
  tests: (make: () => Promise<Made>) => void,
): void {
  for (const [scheme, fixture] of Object.entries(fixtures)) {
    if (typeof fixture === "function") fixture(`${title} (${scheme})`, tests);
  }
}

/** Tests that every adapter of a port has a fixture. */
export function testFixtures<Port>(adapters: Adapters<Port>, fixtures: Fixtures<string, unknown>): void {
  test.each(Object.entries(adapters))(
    "%s has a fixture, or opens the same adapter as a scheme that has one",
    async (scheme, adapter) => {
      const fixture = fixtures[scheme];
      if (!fixture) throw new Error(`${scheme} has no fixture, so no test of its port covers it`);
      if (typeof fixture === "function") return;
      expect(fixtures[fixture.sameAs]).toBeTypeOf("function");
      const [own, same] = await Promise.all([adapter.load(), adapters[fixture.sameAs]?.load()]);
      expect(own.open).toBe(same?.open);
    },
  );
}
