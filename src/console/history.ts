import { createContext } from "preact";
import { useLayoutEffect, useState } from "preact/hooks";
import { type Place, readFragment } from "./fragment.ts";

/** What an entry of the browser's history showed, so that going back to it restores the view at once. */
export interface Visit {
  /** Loaded values by their key. */
  values: Map<string, unknown>;
  scroll: number;
}

/** The visit of the place that is shown. */
export const VisitContext = createContext<Visit | undefined>(undefined);

/** Older visits are loaded again. */
const visitsMax = 30;
const visits = new Map<string, Visit>();

/** The visit of the current history entry. An entry that a link has made has none yet. */
function currentVisit(): Visit {
  const state = history.state as { visit?: string; previous?: string } | null;
  const id = state?.visit ?? Math.random().toString(36);
  if (state?.visit === undefined) history.replaceState({ ...state, visit: id }, "");
  const visit = visits.get(id) ?? { values: new Map(), scroll: 0 };
  visits.delete(id);
  visits.set(id, visit);
  const [oldest = id] = visits.keys();
  if (visits.size > visitsMax) visits.delete(oldest);
  return visit;
}

/** Forgets every loaded value, since another reader may not see it. */
export function forgetValues(): void {
  for (const { values } of visits.values()) values.clear();
}

/** Goes to a place. `previous` is the fragment of the page before it, if it is a page of a list. */
export function goTo(fragment: string, previous?: string): void {
  history.pushState(previous === undefined ? null : { previous }, "", fragment);
  dispatchEvent(new HashChangeEvent("hashchange"));
}

/** Changes the place without a new entry in the history. */
export function replacePlace(fragment: string): void {
  history.replaceState(history.state, "", fragment);
  dispatchEvent(new HashChangeEvent("hashchange"));
}

/** The fragment of the page before this page of a list, if the reader came from there. */
export const previousPage = (): string | undefined =>
  (history.state as { previous?: string } | null)?.previous;

/** The place in the address bar, and its visit. The scroll position of a visit is kept and restored. */
export function usePlace(): { place: Place; visit: Visit } {
  const read = () => ({ place: readFragment(location.hash), visit: currentVisit() });
  const [current, setCurrent] = useState(read);
  // An effect that waits for the first paint would miss a change before it.
  useLayoutEffect(() => {
    history.scrollRestoration = "manual";
    const change = () => setCurrent(read());
    addEventListener("hashchange", change);
    return () => removeEventListener("hashchange", change);
  }, []);
  const { visit } = current;
  useLayoutEffect(() => {
    scrollTo(0, visit.scroll);
    const keep = () => {
      visit.scroll = scrollY;
    };
    addEventListener("scroll", keep, { passive: true });
    return () => removeEventListener("scroll", keep);
  }, [visit]);
  return current;
}
