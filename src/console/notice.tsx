import type { ComponentChildren } from "preact";
import { useEffect } from "preact/hooks";
import { ConnectionError, ResponseError } from "../client/client.ts";
import { Button } from "./elements.tsx";
import { useSession } from "./session.ts";

export const Loading = ({ name }: { name: string }) => (
  <p class="notice loading" role="status">
    Loading {name}…
  </p>
);

/** An action of the reader that has failed, and why. */
export const Problem = ({ children }: { children: ComponentChildren }) => (
  <p class="notice failed" role="alert">
    {children}
  </p>
);

interface NoticeProps {
  kind: "forbidden" | "missing" | "failed";
  title: string;
  detail?: string;
  children?: ComponentChildren;
}

/** Why something is not shown. */
export const Notice = ({ kind, title, detail, children }: NoticeProps) => (
  <div class={`notice ${kind}`} role="alert">
    <strong>{title}.</strong> {detail && <span>{detail}</span>} {children}
  </div>
);

/**
 * That something, such as `payments`, is not there, is not allowed or could not be loaded. A token that is not accepted is
 * discarded.
 */
export function Failure({ error, name, reload }: { error: unknown; name: string; reload?: () => void }) {
  const session = useSession();
  const status = error instanceof ResponseError ? error.status : undefined;
  const detail = detailOf(error);
  useEffect(() => {
    if (status === 401) session.reject(detail);
  }, [status, detail]);
  if (status === 403)
    return <Notice kind="forbidden" title={`Your token may not see ${name}`} detail={detail} />;
  if (status === 404 || status === 410)
    return <Notice kind="missing" title={`There is no such ${name}`} detail={detail} />;
  if (status === 400) return <Notice kind="failed" title="The request is not valid" detail={detail} />;
  const title =
    error instanceof ConnectionError ? "The service cannot be reached" : `${name} could not be loaded`;
  return (
    <Notice kind="failed" title={title} detail={detail}>
      {reload && <Button onClick={reload}>Try again</Button>}
    </Notice>
  );
}

/** The message of an error, without the operation that the client names first. */
export function detailOf(error: unknown): string {
  if (error instanceof ResponseError) return error.problem?.detail ?? error.text.trim();
  return error instanceof Error ? error.message : String(error);
}
