import { OpenFeatureEventEmitter, ProviderEvents } from "@openfeature/server-sdk";
import { timerMaxMs } from "../limit.ts";

/** Changes within this time have one event. */
const changesMs = 100;
/** An event with more features has no list of them. */
const listedMax = 1000;

/** The status of a provider, and its events. */
type Status = ReturnType<typeof newStatus>;
type Timer = ReturnType<typeof setTimeout> | undefined;

export const newStatus = (staleAfterMs: number, ageMs: () => number, cause: () => string) => ({
  phase: "closed" as "closed" | "opening" | "failed" | "ready" | "stale",
  events: new OpenFeatureEventEmitter(),
  /** Age of the copy in milliseconds after which the provider is stale. */
  staleAfterMs,
  ageMs,
  /** Why the copy grows old. */
  cause,
  ageTimer: undefined as Timer,
  /** Features that have changed and are in no event yet. */
  changed: new Set<string>(),
  changesTimer: undefined as Timer,
});

export function beReady(status: Status): void {
  status.phase = "ready";
  // In a later turn, when the SDK has set its own state to ready.
  status.ageTimer = setTimeout(watchAge, 0, status);
}

function watchAge(status: Status): void {
  const restMs = status.staleAfterMs - status.ageMs();
  if (restMs > 0) status.ageTimer = setTimeout(watchAge, Math.min(restMs, timerMaxMs), status);
  else beStale(status);
}

function beStale(status: Status): void {
  status.phase = "stale";
  const message = `the copy of the features is ${Math.round(status.ageMs())} ms old: ${status.cause()}`;
  status.events.emit(ProviderEvents.Stale, { message });
}

/** The copy is current. */
export function noteCurrent(status: Status): void {
  if (status.phase !== "stale" && status.phase !== "failed") return;
  beReady(status);
  status.events.emit(ProviderEvents.Ready);
}

/** The entries of a feature have changed. */
export function noteChange(status: Status, feature: string): void {
  // Before the provider is ready nobody has evaluated anything.
  if (status.phase !== "ready" && status.phase !== "stale") return;
  if (status.changed.size <= listedMax) status.changed.add(feature);
  status.changesTimer ??= setTimeout(emitChanges, changesMs, status);
}

function emitChanges(status: Status): void {
  status.changesTimer = undefined;
  const flagsChanged = status.changed.size <= listedMax && [...status.changed];
  status.changed.clear();
  status.events.emit(ProviderEvents.ConfigurationChanged, flagsChanged ? { flagsChanged } : {});
}

export function beClosed(status: Status): void {
  status.phase = "closed";
  clearTimeout(status.ageTimer);
  clearTimeout(status.changesTimer);
  status.changesTimer = undefined;
  status.changed.clear();
}
