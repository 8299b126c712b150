import type { Attack, Outcome } from "./attack.ts";

/** A service on one engine, and its attacks. */
export interface Subject {
  name: string;
  /** The names of the attacks. */
  attacks: string[];
  /** Starts its servers. */
  open(): Promise<OpenSubject>;
}

export interface OpenSubject extends AsyncDisposable {
  /** Starts the service, runs the attack and stops the service. */
  run(name: string): Promise<Outcome>;
}

/**
 * Creates a subject. `openEngines` starts its servers and returns a function that resolves with empty engines for one run;
 * `run` runs an attack on them.
 */
export function createSubject<One extends Attack<never>, Engines>(
  name: string,
  attacks: One[],
  openEngines: (opened: AsyncDisposableStack) => Promise<() => Promise<Engines>>,
  run: (attack: One, engines: Engines) => Promise<Outcome>,
): Subject {
  return {
    name,
    attacks: attacks.map((attack) => attack.name),
    async open() {
      await using opening = new AsyncDisposableStack();
      const newEngines = await openEngines(opening);
      const opened = opening.move();
      return {
        async run(attackName) {
          const attack = attacks.find((one) => one.name === attackName);
          if (!attack) throw new Error(`there is no attack ${attackName}`);
          return run(attack, await newEngines());
        },
        [Symbol.asyncDispose]: () => opened.disposeAsync(),
      };
    },
  };
}
