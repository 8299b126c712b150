import type { Attack, Outcome } from "./attack.ts";

/** A service on one engine, and the names of its attacks. */
export interface Subject {
  name: string;
  attacks: string[];
  /** Starts its servers, which end with the stack. The function starts the service, runs an attack and stops the service. */
  open(opened: AsyncDisposableStack): Promise<(name: string) => Promise<Outcome>>;
}

/** `open` starts the servers. Its result runs an attack on empty engines. */
export const createSubject = <One extends Attack<never>>(
  name: string,
  attacks: One[],
  open: (opened: AsyncDisposableStack) => Promise<(attack: One) => Promise<Outcome>>,
): Subject => ({
  name,
  attacks: attacks.map((attack) => attack.name),
  async open(opened) {
    const run = await open(opened);
    return (name) => run(attacks.find((attack) => attack.name === name) as One);
  },
});
