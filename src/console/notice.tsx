import type { ComponentChildren } from "preact";
import { useEffect } from "preact/hooks";
import { ResponseError } from "../client/client.ts";
import { Button } from "./elements.tsx";
import { detailOf, needOf } from "./error-words.ts";
import { useSession } from "./session.ts";
import { Heading } from "./view.tsx";

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
const Notice = ({ kind, title, detail, children }: NoticeProps) => (
  <div class={`notice ${kind}`} role="alert">
    <strong>{title}.</strong> {detail && <bdi>{detail}</bdi>} {children}
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
  if (status === 403) {
    const own =
      session.accounts && `You may see only the accounts ${session.accounts.join(", ") || "none"}. `;
    return <Notice kind="forbidden" title={`You may not see ${name}`} detail={(own ?? "") + detail} />;
  }
  if (status === 404 || status === 410)
    return <Notice kind="missing" title={`No ${name} found`} detail={detail} />;
  if (status === 400) return <Notice kind="failed" title="The request is not valid" detail={detail} />;
  return (
    <Notice kind="failed" title={`Could not load ${name}`} detail={detail}>
      {reload && <Button onClick={reload}>Try again</Button>}
    </Notice>
  );
}

/** A view that needs one of these scopes. */
export const NotAllowed = ({ title, scopes }: { title: string; scopes: string[] }) => (
  <>
    <Heading>{title}</Heading>
    <Notice kind="forbidden" title="You may not see this page" detail={needOf(scopes)} />
  </>
);
