import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import type { Visit } from "./history.ts";

/** The heading of a view, which is the title of the window too. */
export function Heading({ children, title }: { children: ComponentChildren; title?: string }) {
  const text = title ?? String(children);
  useEffect(() => {
    document.title = text;
  }, [text]);
  return <h1 tabIndex={-1}>{children}</h1>;
}

/** Moves the focus to the heading after a change of the place, unless a control that is still there has it. */
export function useFocusOnHeading(visit: Visit): void {
  const first = useRef(visit);
  useEffect(() => {
    if (visit === first.current || document.activeElement?.closest("main")) return;
    document.querySelector<HTMLElement>("main h1")?.focus({ preventScroll: true });
  }, [visit]);
}

export const NothingHere = () => (
  <>
    <Heading>Nothing here</Heading>
    <p>
      This address leads to no page. <a href="#/">Go to the start page.</a>
    </p>
  </>
);
