import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";

interface Props {
  summary: ComponentChildren;
  isOpen?: boolean;
  children: () => ComponentChildren;
}

/** Something that can be opened. It is rendered when it is opened first, so that it costs nothing before. */
export function Details({ summary, isOpen = false, children }: Props) {
  const [wasOpen, setWasOpen] = useState(isOpen);
  return (
    <details open={isOpen} onToggle={({ currentTarget }) => currentTarget.open && setWasOpen(true)}>
      <summary>{summary}</summary>
      {wasOpen && children()}
    </details>
  );
}
