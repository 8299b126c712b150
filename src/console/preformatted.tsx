import { Details } from "./details.tsx";
import { formatJson } from "./format.ts";

/** A text with its line breaks, in a box that scrolls. */
export const Preformatted = ({ children }: { children: string }) => (
  // biome-ignore lint/a11y/noNoninteractiveTabindex: A box that scrolls must be reachable by keyboard.
  <pre tabIndex={0}>{children}</pre>
);

/** A response as JSON, one click away. */
export const RawJson = ({ value }: { value: unknown }) => (
  <Details summary="JSON">{() => <Preformatted>{formatJson(value)}</Preformatted>}</Details>
);
