import type { Outcome } from "./attack.ts";

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
