import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import type { Visit } from "./history.ts";

/** The name of the service: the title of the page before a view has changed it. */
export const service = document.title;

/** The heading of a view, which is in the title of the window too. */
export function Heading({ children, title }: { children: ComponentChildren; title?: string }) {
  const text = title ?? String(children);
  useEffect(() => {
    document.title = `${text} – ${service}`;
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

/** The key `/` leads to the search, unless the reader writes something. */
export function useSearchKey(): void {
  useEffect(() => {
    const find = (event: KeyboardEvent) => {
      if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey) return;
      if (document.activeElement?.matches("input, textarea, select, dialog *")) return;
      const search = document.querySelector<HTMLElement>("input[type=search]");
      if (search) event.preventDefault();
      search?.focus();
    };
    addEventListener("keydown", find);
    return () => removeEventListener("keydown", find);
  }, []);
}

export const NothingHere = () => (
  <>
    <Heading>Nothing here</Heading>
    <p>
      This address leads to no page. <a href="#/">Go to the start page.</a>
    </p>
  </>
);
