import type { ComponentChildren } from "preact";
import { useEffect, useLayoutEffect, useState } from "preact/hooks";
import { ConnectionError, ResponseError } from "../client/client.ts";
import type { Visit } from "./history.ts";
import { useSession } from "./session.ts";

export type Loaded<Value> =
  /** `value` is that of the key before, while the one of this key is loaded. */
  | { status: "loading"; value?: Value | undefined }
  | { status: "loaded"; value: Value }
  | { status: "failed"; error: unknown };

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
const loadingAfter = <Value,>(before: Loaded<Value>): Loaded<Value> => ({
  status: "loading",
  value: "value" in before ? before.value : undefined,
});

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

export const Loading = ({ name }: { name: string }) => (
  <p class="notice loading" role="status">
    Loading {name}…
  </p>
);

/** That there is nothing to show, and what could be done. */
export const Empty = ({ children }: { children: ComponentChildren }) => (
  <p class="notice empty">{children}</p>
);

interface FailureProps {
  error: unknown;
  name: string;
  reload?: (() => void) | undefined;
}

export function Failure({ error, name, reload }: FailureProps) {
  const session = useSession();
  const status = error instanceof ResponseError ? error.status : undefined;
  const detail = detailOf(error);
  useEffect(() => {
    if (status === 401) session.reject(detail);
  }, [status, detail]);
  const retry = reload && (
    <button type="button" onClick={reload}>
      Try again
    </button>
  );
  if (status === 403)
    return <Notice kind="forbidden" title={`Your token may not see ${name}`} detail={detail} />;
  if (status === 404 || status === 410)
    return <Notice kind="missing" title={`There is no such ${name}`} detail={detail} />;
  if (status === 400) return <Notice kind="failed" title="The request is not valid" detail={detail} />;
  const title =
    error instanceof ConnectionError ? "The service cannot be reached" : `${name} could not be loaded`;
  return (
    <Notice kind="failed" title={title} detail={detail}>
      {retry}
    </Notice>
  );
}

interface NoticeProps {
  kind: "forbidden" | "missing" | "failed";
  title: string;
  detail: string;
  children?: ComponentChildren;
}

const Notice = ({ kind, title, detail, children }: NoticeProps) => (
  <div class={`notice ${kind}`} role="alert">
    <strong>{title}.</strong> {detail && <span>{detail}</span>} {children}
  </div>
);

/** The message of an error, without the operation that the client names first. */
export function detailOf(error: unknown): string {
  if (error instanceof ResponseError) return error.problem?.detail ?? error.text.trim();
  return error instanceof Error ? error.message : String(error);
}
