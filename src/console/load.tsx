import type { ComponentChildren } from "preact";
import { useContext, useLayoutEffect, useState } from "preact/hooks";
import { type Visit, VisitContext } from "./history.ts";
import { Failure, Loading } from "./notice.tsx";

export type Loaded<Value> =
  /** `value` is that of the key before, while the one of this key is loaded. */
  | { status: "loading"; value?: Value | undefined }
  | { status: "loaded"; value: Value }
  | { status: "failed"; error: unknown; value?: undefined };

type Load<Value> = (signal: AbortSignal) => Promise<Value>;

interface State<Value> {
  key: string;
  attempt: number;
  loaded: Loaded<Value>;
}

/**
 * Loads a value for a key, and again when the key changes; a load that is no longer needed is aborted. With a visit the
 * value is kept for the way back. `reload` loads it again.
 */
export function useLoaded<Value>(
  key: string,
  load: Load<Value>,
  visit?: Visit,
): Loaded<Value> & { reload: () => void } {
  const kept = visit?.values.get(key) as Value | undefined;
  const [state, setState] = useState<State<Value>>({
    key,
    attempt: 0,
    loaded: kept === undefined ? { status: "loading" } : { status: "loaded", value: kept },
  });
  const { attempt } = state;
  // Before the browser paints, so that the request does not wait for it.
  useLayoutEffect(() => {
    if (kept !== undefined) {
      setState({ key, attempt, loaded: { status: "loaded", value: kept } });
      return;
    }
    const controller = new AbortController();
    const settle = (loaded: Loaded<Value>) => {
      if (!controller.signal.aborted) setState((before) => ({ ...before, key, loaded }));
    };
    settle(loadingAfter(state.loaded));
    load(controller.signal).then(
      (value) => {
        visit?.values.set(key, value);
        settle({ status: "loaded", value });
      },
      (error) => settle({ status: "failed", error }),
    );
    return () => controller.abort();
  }, [key, visit, attempt]);
  const reload = () => {
    visit?.values.delete(key);
    setState((before) => ({ ...before, attempt: before.attempt + 1 }));
  };
  // Until the effect has run, the state is still that of the key before.
  return { ...(state.key === key ? state.loaded : loadingAfter(state.loaded)), reload };
}

/** The value before stays until the next one is loaded. */
const loadingAfter = <Value,>({ value }: Loaded<Value>): Loaded<Value> => ({ status: "loading", value });

/** The same, and the value is kept for the way back. */
export const useKept = <Value,>(key: string, load: Load<Value>) =>
  useLoaded(key, load, useContext(VisitContext));

interface Props<Value> {
  of: Loaded<Value> & { reload?: () => void };
  /** What is loaded, such as `payments`. */
  name: string;
  children: (value: Value) => ComponentChildren;
}

/** Shows a value, or that it is being loaded, is not there, is not allowed or could not be loaded. */
export function Show<Value>({ of: loaded, name, children }: Props<Value>) {
  if (loaded.status === "failed") return <Failure error={loaded.error} name={name} reload={loaded.reload} />;
  if (loaded.status === "loading" && loaded.value === undefined) return <Loading name={name} />;
  return <div aria-busy={loaded.status === "loading"}>{children(loaded.value as Value)}</div>;
}
