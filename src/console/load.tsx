import type { ComponentChildren } from "preact";
import { useContext, useLayoutEffect, useState } from "preact/hooks";
import { type Visit, VisitContext } from "./history.ts";
import { Failure, Loading } from "./notice.tsx";

type Load<Value> = (signal: AbortSignal) => Promise<Value>;

/** While the value of a key is loaded, `value` is that of the key before, if there was one. */
interface State<Value> {
  key: string;
  isLoading: boolean;
  value?: Value | undefined;
  error?: unknown;
}

/**
 * Loads a value for a key, and again when the key changes; a load that is no longer needed is aborted. With a visit the
 * value is kept for the way back. `reload` loads it again.
 */
export function useLoaded<Value>(key: string, load: Load<Value>, visit?: Visit) {
  const kept = visit?.values.get(key) as Value | undefined;
  const [attempt, setAttempt] = useState(0);
  const [state, setState] = useState<State<Value>>({ key, isLoading: kept === undefined, value: kept });
  const loading: State<Value> = { key, isLoading: true, value: state.value };
  // Before the browser paints, so that the request does not wait for it.
  useLayoutEffect(() => {
    if (kept !== undefined) {
      setState({ key, isLoading: false, value: kept });
      return;
    }
    const controller = new AbortController();
    const settle = (settled: Pick<State<Value>, "value" | "error">) => {
      if (!controller.signal.aborted) setState({ key, isLoading: false, ...settled });
    };
    setState(loading);
    load(controller.signal).then(
      (value) => {
        visit?.values.set(key, value);
        settle({ value });
      },
      (error) => settle({ error }),
    );
    return () => controller.abort();
  }, [key, visit, attempt]);
  const reload = () => {
    visit?.values.delete(key);
    setAttempt((before) => before + 1);
  };
  // Until the effect has run, the state is still that of the key before.
  return { ...(state.key === key ? state : loading), reload };
}

/** The same, and the value is kept for the way back. */
export const useKept = <Value,>(key: string, load: Load<Value>) =>
  useLoaded(key, load, useContext(VisitContext));

interface Props<Value> {
  of: ReturnType<typeof useLoaded<Value>>;
  /** What is loaded, such as `payments`. */
  name: string;
  children: (value: Value) => ComponentChildren;
}

/** Shows a value, or that it is being loaded, is not there, is not allowed or could not be loaded. */
export function Show<Value>({ of: { isLoading, value, error, reload }, name, children }: Props<Value>) {
  if (error !== undefined) return <Failure error={error} name={name} reload={reload} />;
  if (value === undefined) return <Loading name={name} />;
  return <div aria-busy={isLoading}>{children(value)}</div>;
}
